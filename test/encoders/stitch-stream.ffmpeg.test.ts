import { createCipheriv } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { stitchStream } from "../../src/encoders/run/encode-stream.ts";
import { encryptSegment, importContentKey } from "../../src/encoders/run/encrypt-segments.ts";
import type { AdaptiveVideoOptions } from "../../src/media/options.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { lateSoundClip, longSoundClip, noiseClip, noiseSound } from "../judge/clips.ts";
import { note } from "../judge/figures.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { ALIKE_SOUND } from "../judge/limits.ts";
import { runNative } from "../judge/native.ts";
import { measureBits, parseMaster, parseMedia } from "../judge/playlists.ts";
import { remember } from "../judge/remember.ts";
import { compareSound, readSound } from "../judge/sound.ts";
import { chunkedStream, type NativeStream, planStream, wholeStream } from "./native-stream.ts";

const seconds = z.coerce.number();
const Packets = z.object({
  packets: z.array(z.object({ pts_time: seconds, dts_time: seconds, flags: z.string() })),
});

/** Encodes a file in three chunks, once for all tests. */
async function inChunks(input: string, options: AdaptiveVideoOptions = {}) {
  const { plan, source } = await planStream(input, options);
  const chunked = await remember([input, options], () => chunkedStream(input, plan, source, [6, 12]));
  return { plan, source, chunked };
}

/** Encodes a file in one pass and in chunks. */
async function bothWays(input: string, options: AdaptiveVideoOptions) {
  const { plan, source, chunked } = await inChunks(input, options);
  return { plan, whole: await wholeStream(input, plan, source), chunked };
}

async function readPackets(path: string) {
  const report = await runFfprobe(path, ["-show_entries", "packet=pts_time,dts_time,flags"]);
  const { packets } = Packets.parse(report);
  const times = packets.map(({ pts_time }) => pts_time).toSorted((a, b) => a - b);
  const keys = packets.filter(({ flags }) => flags.includes("K")).map(({ pts_time }) => pts_time);
  return { times, keys, decoded: packets.map(({ dts_time }) => dts_time) };
}

const media = async ({ folder }: NativeStream, name: string) =>
  parseMedia(await readFile(join(folder, name, "playlist.m3u8"), "utf8"), `file://${folder}/${name}/`);
const pathOf = (url: string) => url.replace("file://", "");
const sizeOf = async (url: string) => (await readFile(pathOf(url))).length;

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

function expectSame(got: readonly number[], expected: readonly number[], within: number): void {
  expect(got).toHaveLength(expected.length);
  for (const [index, value] of got.entries()) {
    expect(Math.abs(value - (expected[index] ?? Number.NaN)), `at ${index}`).toBeLessThan(within);
  }
}

const testClip = (size: string, rate: string, length: number, filter = "") =>
  makeClip("mp4", [
    ...[
      "-f",
      "lavfi",
      "-i",
      `testsrc2=size=${size}:rate=${rate}:duration=${length}${filter}`,
      "-fps_mode",
      "vfr",
    ],
    ..."-c:v libx264 -preset ultrafast -crf 20 -pix_fmt yuv444p -g 70".split(" "),
  ]);
const longSoundUneven = async () => {
  const [pictures, sound] = [await testClip("160x90", "30", 14, UNEVEN), await noiseSound("m4a", 20)];
  return makeClip("mkv", ["-i", pictures, "-i", sound, "-map", "0:v", "-map", "1:a", "-c", "copy"]);
};
const UNEVEN = ",select='lt(t,4)+not(mod(n,3))*lt(t,8)+gt(mod(n*7,11),4)*gte(t,8)'";

const CASES: Record<string, [make: () => Promise<string>, options: AdaptiveVideoOptions, even: boolean]> = {
  "video with sound": [() => noiseClip(14), {}, true],
  portrait: [() => testClip("90x160", "25", 14), {}, true],
  "odd sizes": [() => testClip("161x91", "24", 14), {}, true],
  "60 fps": [() => testClip("160x90", "60", 14), {}, true],
  "29.97 fps": [() => testClip("160x90", "30000/1001", 20), {}, true],
  "trimmed 59.94 fps": [() => testClip("160x90", "60000/1001", 16), { start: 1.01, end: 15.5 }, false],
  "1 fps": [() => testClip("160x90", "1", 20), {}, true],
  "a variable frame rate": [() => testClip("160x90", "30", 14, UNEVEN), {}, false],
  "a trimmed variable frame rate": [() => testClip("160x90", "30", 16, UNEVEN), { start: 0.51 }, false],
  "a start between frames": [() => noiseClip(14), { start: 0.51, end: 13.6 }, true],
  "late sound": [() => lateSoundClip(14), {}, true],
  "sound that outlasts the pictures": [() => longSoundClip(42), {}, true],
  "uneven pictures that end before the sound": [longSoundUneven, {}, false],
};

test.for(Object.keys(CASES))("chunks of %s make the same stream as one pass", async (name) => {
  const [make, options, even] = CASES[name] ?? [];
  if (!make || !options) throw new Error(`No case ${name}.`);
  const { plan, whole, chunked } = await bothWays(await make(), options);
  expect(chunked.playlists).toEqual(whole.playlists);
  const folders = plan.renditions.map((rendition) => rendition.name);
  // With a variable rate, the encoder of a chunk cannot know how long its last frame lasts.
  const off = even ? 0.0006 : 0.11;
  expect(folders).toHaveLength(2);
  const streams = await Promise.all(
    folders.map(async (folder) => {
      const [one, parts] = [await media(whole, folder), await media(chunked, folder)];
      const [expected, got] = [
        await readPackets(join(whole.folder, folder, "playlist.m3u8")),
        await readPackets(join(chunked.folder, folder, "playlist.m3u8")),
      ];
      // No frame is lost, doubled or moved by more than half a millisecond, the rounding at a seam.
      expectSame(got.times, expected.times, 0.0006);
      for (const [index, time] of got.decoded.entries()) {
        expect(time, `packet ${index}`).toBeGreaterThan(got.decoded[index - 1] ?? Number.NEGATIVE_INFINITY);
      }
      const lengths = parts.segments.map((segment) => segment.seconds);
      expect(Math.abs(sum(lengths) - sum(one.segments.map((segment) => segment.seconds)))).toBeLessThan(off);
      expect({ ended: parts.ended, kind: parts.kind }).toEqual({ ended: true, kind: "VOD" });
      expect(parts.target).toBe(Math.max(...lengths.map(Math.round)));
      if (even && options.start === undefined) {
        // All chunks share one init segment.
        const text = await readFile(join(chunked.folder, folder, "playlist.m3u8"), "utf8");
        expect(text.match(/#EXT-X-MAP.*/g)).toEqual(['#EXT-X-MAP:URI="init_0.mp4"']);
      }
      if (even) {
        expectSame(
          lengths,
          one.segments.map((segment) => segment.seconds),
          0.0006,
        );
        expectSame(got.keys, expected.keys, 0.0006);
      }
      // Every segment begins with a keyframe, and keyframes are two seconds apart.
      let at = got.times[0] ?? Number.NaN;
      for (const length of lengths) {
        expect(
          got.keys.some((key) => Math.abs(key - at) < off),
          `${at}`,
        ).toBe(true);
        at += length;
      }
      expect(got.keys.length).toBeLessThanOrEqual(Math.ceil((plan.duration ?? 0) / 2) + 2);
      return { keys: got.keys, lengths };
    }),
  );
  expect(streams[1]).toEqual(streams[0]);
  // ffmpeg decodes everything without a warning.
  expect((await runNative(["-v", "warning", "-i", chunked.master, "-f", "null", "-"])).log).toBe("");
});

test("the master playlist states measured rates, and chunks look as good as one pass", async ({ task }) => {
  const input = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=320x180:rate=25:duration=20".split(" "),
    ..."-f lavfi -i anoisesrc=seed=3:color=pink:amplitude=0.5:sample_rate=48000:duration=20".split(" "),
    ..."-c:v libx264 -preset veryfast -crf 14 -pix_fmt yuv420p -c:a aac -b:a 192k".split(" "),
  ]);
  const { plan, whole, chunked } = await bothWays(input, {});
  const { variants, audio } = parseMaster(await readFile(chunked.master, "utf8"), `file://${chunked.master}`);
  expect(Object.keys(audio)).toEqual(["audio"]);
  const sound = await media(chunked, "audio");
  expect(variants.map(({ resolution }) => resolution)).toEqual(["320x180", "160x90"]);
  for (const variant of variants) {
    expect(variant.codecs).toMatch(/^avc1\.6400[0-9a-f]{2},mp4a\.40\.2$/);
    expect(variant).toMatchObject({ frame_rate: 25, audio: "audio" });
    const pictures = parseMedia(await readFile(pathOf(variant.url), "utf8"), variant.url);
    expect(pictures.segments).toHaveLength(4);
    const { peak, average } = await measureBits([pictures, sound], sizeOf);
    expect([variant.bandwidth, variant.average_bandwidth]).toEqual([Math.ceil(peak), Math.ceil(average)]);
  }
  for (const { name, geometry } of plan.renditions) {
    const like = ({ folder }: NativeStream) =>
      measureLikeness(join(folder, name, "playlist.m3u8"), input, {
        filter: `scale=${geometry.width}:${geometry.height}`,
      });
    const [one, parts] = [await like(whole), await like(chunked)];
    note(task, { rendition: name, ssim: parts.mean, single_pass: one.mean });
    expect(parts.frames).toBe(500);
    expect(parts.mean).toBeGreaterThan(one.mean - 0.005);
    expect(parts.worst).toBeGreaterThan(one.worst - 0.005);
  }
});

test.for(["at once", "late"])("sound that begins %s stays in sync", async (begin) => {
  const input = await (begin === "late" ? lateSoundClip(14) : noiseClip(14));
  const { plan, chunked } = await inChunks(input);
  const { master, folder } = chunked;
  const as = { channels: 2, sample_rate: 8000 };
  // Both are decoded from the first picture on, with silence until the sound begins.
  const { times } = await readPackets(join(folder, plan.renditions[0]?.name ?? "", "playlist.m3u8"));
  const steady = (start: number) => ({
    before: ["-copyts"],
    after: ["-af", `asetpts=PTS-${start}/TB,aresample=async=1:first_pts=0`],
  });
  const got = await readSound(master, { ...as, ...steady(times[0] ?? Number.NaN) });
  const expected = await readSound(input, { ...as, ...steady(0) });
  for (const echo of compareSound(got, expected)) {
    expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    expect(Math.abs(echo.lag)).toBeLessThan(0.001);
  }
  expect(Math.abs(got.duration - expected.duration)).toBeLessThan(0.05);
});

test("makes a stream of sound alone from one part", async () => {
  const input = await noiseSound("wav", 8);
  const { plan, source } = await planStream(input);
  const { master, playlists } = await wholeStream(input, plan, source);
  expect(playlists).toEqual(["audio/playlist.m3u8", "master.m3u8"]);
  const { variants, audio } = parseMaster(await readFile(master, "utf8"), `file://${master}`);
  expect(audio).toEqual({});
  expect(variants).toMatchObject([{ codecs: "mp4a.40.2", resolution: undefined, audio: undefined }]);
  expect((await runNative(["-v", "warning", "-i", master, "-f", "null", "-"])).log).toBe("");
});

test("rejects parts that do not make a complete stream", async () => {
  const input = await noiseClip(14);
  const { plan, source, chunked } = await inChunks(input);
  const { parts, folder } = chunked;
  const [best] = plan.renditions;
  const stitched = (changed: typeof parts) =>
    stitchStream({
      ...{ plan, source, parts: changed },
      read: async (name) => new Uint8Array(await readFile(join(folder, name))),
    });
  const without = (index: number, name: string) =>
    parts.map((part) =>
      part.chunk.index === index
        ? { ...part, written: part.written.filter((file) => file.name !== name) }
        : part,
    );
  const fault = (text: string) => ({ kind: "encode_failed", message: expect.stringContaining(text) });
  const segment = `${best?.name}/seg_00001.m4s`;
  await expect(stitched(without(1, segment))).rejects.toMatchObject(fault(`${segment} is missing`));
  const init = `${best?.name}/init_1.mp4`;
  await expect(stitched(without(1, init))).rejects.toMatchObject(fault(`${init} is missing`));
  const silent = parts.map((part) => (part.chunk.index === 1 ? { ...part, playlists: [] } : part));
  await expect(stitched(silent)).rejects.toMatchObject(fault("is in no playlist"));
  const mute = parts.filter(({ chunk }) => chunk.track === "audio");
  await expect(stitched(mute)).rejects.toMatchObject(fault(`there is nothing of ${best?.name}`));
  const [first] = parts;
  await expect(stitched([...parts, ...(first ? [first] : [])])).rejects.toMatchObject(
    fault("is listed twice"),
  );
});

test("a sound track with nothing in the time range is left out", async () => {
  const input = await makeClip("mkv", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=25:duration=3 -itsoffset 2 -f lavfi -i sine=duration=1".split(
      " ",
    ),
    ..."-f lavfi -i sine=frequency=700:duration=3 -map 0:v -map 1:a -map 2:a -c:v libx264".split(" "),
    ..."-pix_fmt yuv420p -c:a aac -metadata:s:a:0 language=eng -metadata:s:a:1 language=deu".split(" "),
  ]);
  const { plan, source } = await planStream(input, { end: 1.5 });
  const { master, folder } = await chunkedStream(input, plan, source, []);
  const { audio } = parseMaster(await readFile(master, "utf8"), `file://${folder}/`);
  expect(Object.values(audio)).toEqual([`file://${folder}/audio_1/playlist.m3u8`]);
});

test("a segment is encrypted as it streams, to the same bytes as at once", async () => {
  const secret = Uint8Array.from({ length: 16 }, (_, at) => at * 7);
  const plain = Uint8Array.from({ length: 1003 }, (_, at) => (at * at) % 251);
  const cipher = createCipheriv("aes-128-cbc", secret, Buffer.alloc(16, 0xa5));
  const whole = Buffer.concat([cipher.update(plain), cipher.final()]);
  const { readable, writable } = encryptSegment(await importContentKey(secret), "a5".repeat(16));
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const first = reader.read();
  await writer.write(plain.subarray(0, 40));
  const sealed = [(await first).value ?? new Uint8Array()];
  expect(sealed[0]).toEqual(new Uint8Array(whole.subarray(0, 32)));
  const drain = async () => {
    for (let next = await reader.read(); next.value; next = await reader.read()) sealed.push(next.value);
  };
  const drained = drain();
  for (const [start, end] of [
    [40, 41],
    [41, 48],
    [48, 500],
    [500, 1003],
  ] as const)
    await writer.write(plain.subarray(start, end));
  await writer.close();
  await drained;
  expect(Buffer.concat(sealed)).toEqual(whole);
});
