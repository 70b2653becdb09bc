import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { VideoOptions } from "../../src/media/options.ts";
import type { RefusalReason } from "../../src/media/refusal.ts";
import { stitch } from "../../src/mux/stitch.ts";
import { openWebCodecs, readerOf, type WebCodecsResult } from "../browser/webcodecs-rig.ts";
import { encode } from "../ffmpeg/native-encode.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { recallOriginal } from "../integrity/judge.ts";
import { FAULTLESS, findFaults, readFrames } from "../integrity/read-frames.ts";
import { INTEGRITY_SOURCES } from "../integrity/sources.ts";
import { lateClip, markedClip, noiseClip, quadrantClip, wideQuadrantClip } from "../judge/clips.ts";
import { countPacketBytes, readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { runNative } from "../judge/native.ts";
import { readPicture } from "../judge/picture.ts";
import { type Placing, wrongPoints } from "../judge/quadrants.ts";
import { soundLag } from "../judge/sound.ts";

let rig: Awaited<ReturnType<typeof openWebCodecs>>;
beforeAll(async () => {
  rig = await openWebCodecs();
});
afterAll(() => rig?.close());
afterEach(() => expect(rig.lab.complaints).toEqual([]));

/** Encodes a file that the encoder must accept and returns its only output. */
async function only(
  path: string,
  options: VideoOptions,
): Promise<WebCodecsResult & { path: string; ms: number }> {
  const result = await rig.encode(path, options);
  expect([result.refusal, result.error]).toEqual([null, null]);
  expect(result.open_frames).toBe(0);
  const [file, ...more] = result.files;
  if (!file || more.length > 0) throw new Error("expected exactly one file");
  return { ...result, path: file.path };
}

// Where pictures are placed is planned as for every encoder; here each fit and each turn is drawn.
const PLACED: Required<Omit<Placing, "source">>[] = [
  { width: 120, height: 120, fit: "contain", position: "center", background: "#336699", turned: 0 },
  { width: 120, height: 120, fit: "contain", position: "bottom-right", background: "#336699", turned: 0 },
  { width: 120, height: 120, fit: "cover", position: "left", background: "#000000", turned: 0 },
  { width: 96, height: 160, fit: "fill", position: "center", background: "#000000", turned: 90 },
  { width: 200, height: 100, fit: "contain", position: "left", background: "#802040", turned: 270 },
  { width: 100, height: 60, fit: "cover", position: "top-left", background: "#000000", turned: 180 },
];

test.each(PLACED)(
  "places pictures: $fit $position to $width x $height, rotated by $turned degrees",
  async (placed) => {
    const { turned, width, height, fit, position, background } = placed;
    const source = turned % 180 === 0 ? { width: 160, height: 96 } : { width: 96, height: 160 };
    const base = { width, height, fit, position, quality: "very_high" } as const;
    const options = fit === "contain" ? { ...base, background } : base;
    const { path } = await only(await quadrantClip(turned), options);
    const picture = await readPicture(path);
    expect([picture.width, picture.height]).toEqual([width, height]);
    expect(wrongPoints(picture, { ...placed, source }, 24)).toEqual([]);
    const facts = await readFacts(path);
    expect(facts.picture).toMatchObject({ rotation: 0, pixel_aspect: "1:1", pixel_format: "yuv420p" });
    // The color tags are those of the source.
    expect(facts.picture).toMatchObject({ primaries: "bt709", transfer: "bt709" });
  },
);

test("makes non-square pixels square", async () => {
  const { path } = await only(await wideQuadrantClip(), { quality: "very_high" });
  const picture = await readPicture(path);
  expect([picture.width, picture.height]).toEqual([212, 96]);
  const placing = { source: { width: 212, height: 96 }, width: 212, height: 96, fit: "fill" } as const;
  expect(wrongPoints(picture, { ...placing, position: "center", background: "#000000" }, 24)).toEqual([]);
  expect((await readFacts(path)).picture?.pixel_aspect).toBe("1:1");
});

/** Checks that an output has the same number of frames as the native encoder's, at the same times, with similar pictures. */
async function expectNative(path: string, input: string, options: VideoOptions, like = LIKE) {
  const native = await encode(input, "video", options);
  const [got, expected] = [await readFacts(path), await readFacts(native.path)];
  const times = got.picture?.times ?? [];
  expect(times).toHaveLength(expected.picture?.times.length ?? 0);
  for (const [index, time] of times.entries()) {
    expect(Math.abs(time - (expected.picture?.times[index] ?? Number.NaN))).toBeLessThan(0.0011);
  }
  expect((await measureLikeness(path, native.path)).worst).toBeGreaterThan(like);
}

test.each<{ name: ClipName; options: VideoOptions }>([
  { name: "mp4_silent", options: { fps: 1, quality: "high" } },
  { name: "mp4_silent", options: { fps: 60, quality: "high" } },
  { name: "mp4_vfr", options: { width: 80, quality: "high" } },
  { name: "mp4_b_frames", options: { start: 0.51, end: 1.3, quality: "high" } },
  { name: "mp4_b_frames", options: { fps: 10, start: 0.51, end: 1.3, quality: "high" } },
  { name: "mp4_silent", options: { format: "webm", start: 0.3, quality: "high" } },
  { name: "mp4_fragmented", options: { format: "mov", end: 0.5, quality: "high" } },
  { name: "mkv", options: { width: 90, height: 90, fit: "cover", quality: "high" } },
  { name: "webm_vp8", options: { fps: 10, start: 0.51, quality: "high" } },
])("$name with $options produces the frames of the native encoder", async ({ name, options }) => {
  const input = await clip(name);
  const { path, shares } = await only(input, options);
  await expectNative(path, input, options);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.at(-1)).toBeGreaterThan(0.9);
});

test("hidden pictures of VP8 do not shift the times of others", async () => {
  const input = await INTEGRITY_SOURCES.vp8_hidden.make("webm");
  const { frames, start } = await recallOriginal(input);
  const { path } = await only(input, { codec: "av1", quality: "low" });
  expect(findFaults(await readFrames(path), { frames, start })).toEqual(FAULTLESS);
});

test.each<{ name: ClipName; options: VideoOptions }>([
  { name: "mp4_b_frames", options: { width: 80, quality: "high" } },
  { name: "mp4_vfr", options: { width: 80, fps: 29.97, quality: "high" } },
  { name: "mp4_silent", options: { format: "webm", width: 80, quality: "high" } },
  { name: "mp4_silent", options: { codec: "av1", start: 0.2, quality: "high" } },
])("chunks of $name with $options stitch without losing a frame", async ({ name, options }) => {
  const input = await clip(name, { seconds: 4 });
  const { files, plan, refusal, error, open_frames } = await rig.encode(input, options, {
    chunk_seconds: 0.9,
  });
  expect([refusal, error, open_frames]).toEqual([null, null, 0]);
  expect(files.length).toBeGreaterThan(2);
  const video = files.map(({ chunk, path }) => ({ input: readerOf(path), at: chunk.start - plan.start }));
  const stream = stitch({ format: options.format ?? "mp4", video, audio: null });
  const path = join(rig.folder, `stitched.${options.format ?? "mp4"}`);
  await writeFile(path, new Uint8Array(await new Response(stream).arrayBuffer()));
  await expectNative(path, input, options);
});

test("muxes video and audio", async () => {
  const { path } = await only(await noiseClip(2), { width: 80 });
  const { picture, sound, format } = await readFacts(path);
  expect(format).toContain("mp4");
  expect(picture?.times).toHaveLength(50);
  expect(sound).toMatchObject({ codec: "aac", channels: 2 });
});

test.each(["mkv", "mp4", "ts"])(
  "copied sound of %s that starts late plays with the pictures",
  async (extension) => {
    const input = await lateClip(extension, await noiseClip(2));
    const { path, plan } = await only(input, { width: 80 });
    expect(plan.audio?.mode).toBe("copy");
    await expectNative(path, input, { width: 80 });
    const native = await encode(input, "video", { width: 80 });
    expect(Math.abs(await soundLag(path, native.path))).toBeLessThan(0.0011);
  },
);

test("writes a keyframe at least every five seconds", async () => {
  const { path } = await only(await clip("mp4_silent", { seconds: 11, rate: 5 }), { width: 80 });
  const { packets } = (await runFfprobe(path, ["-show_packets"])) as {
    packets: { flags: string; pts_time: string }[];
  };
  const keys = packets.filter(({ flags }) => flags.startsWith("K")).map(({ pts_time }) => Number(pts_time));
  expect(keys[0]).toBe(0);
  for (const [index, key] of [...keys, 11].entries()) expect(key - (keys[index - 1] ?? 0)).toBeLessThan(5.01);
});

const CODECS = [
  ["mp4", "h264"],
  ["webm", "vp9"],
  ["mp4", "av1"],
] as const;

// H.264 without a quantizer has an estimated bitrate, and its encoder has a lowest quantizer: only a busy picture shows steps.
const NEAR = { h264: 0.1, vp9: 0.03, av1: 0.03 } as const;

test.each(CODECS)(
  "higher quality in %s %s means more bytes and more likeness to the source",
  async (format, codec) => {
    const input = await markedClip("h264", 2, codec === "h264");
    const seen: { bytes: number; like: number }[] = [];
    for (const quality of ["very_low", "medium", "very_high"] as const) {
      const { path } = await only(input, { format, codec, quality });
      const facts = await readFacts(path);
      expect(facts.picture).toMatchObject({ codec, width: 160, height: 96 });
      seen.push({
        bytes: await countPacketBytes(path, "v:0"),
        like: (await measureLikeness(path, input)).mean,
      });
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a.bytes - b.bytes));
    expect(seen).toEqual(seen.toSorted((a, b) => a.like - b.like));
    const native = await encode(input, "video", { format, codec, quality: "medium" });
    const nativeLikeness = (await measureLikeness(native.path, input)).mean;
    expect(Math.abs((seen[1]?.like ?? 0) - nativeLikeness)).toBeLessThan(NEAR[codec]);
  },
);

test.each(CODECS)("meets a bitrate in %s %s within 15 percent", async (format, codec) => {
  const bitrate = 400_000;
  const { path } = await only(await markedClip("h264", 4, true), { format, codec, bitrate });
  const bits = ((await countPacketBytes(path, "v:0")) * 8) / 4;
  expect(Math.abs(bits / bitrate - 1)).toBeLessThan(0.15);
});

const START = Buffer.of(0, 0, 1);

test("H.264 from the browser's own encoder has temporal layers and every picture in order", async () => {
  const input = await markedClip("h264", 2);
  const { path } = await only(input, { bitrate: 400_000 });
  const { output } = await runNative(["-i", path, "-map", "0:v", "-c", "copy", "-f", "h264", "-"]);
  // Pictures of the upper layer, every second one, are not referenced (nal_ref_idc 0, H.264 7.4.1).
  const slices: number[] = [];
  for (let at = output.indexOf(START); at >= 0; at = output.indexOf(START, at + 3)) {
    const [kind = 0, first = 0] = output.subarray(at + 3, at + 5);
    // Counts only the first slice of a picture.
    if ([1, 5].includes(kind & 31) && first >= 128) slices.push(kind >> 5);
  }
  expect([slices.length, slices.filter((referred) => referred === 0).length]).toEqual([50, 25]);
  const { mean, frames } = await measureLikeness(path, input);
  expect(frames).toBe(50);
  expect(mean).toBeGreaterThan(0.9);
});

test("flattens transparent pictures on the background", async () => {
  const { files } = await rig.encode(await clip("webm_alpha"), {
    background: "#ff0000",
    quality: "very_high",
  });
  const [red, green, blue] = (await readPicture(files[0]?.path ?? "")).at(2, 45);
  expect([red > 220, green < 40, blue < 40]).toEqual([true, true, true]);
});

test.each<{ name: ClipName; options: VideoOptions; reason: RefusalReason }>([
  { name: "mp4", options: { codec: "h265" }, reason: { code: "output_codec", codec: "h265" } },
  { name: "mp4_hdr", options: { codec: "h264" }, reason: { code: "tone_mapping" } },
  { name: "mp4_hdr", options: { codec: "av1" }, reason: { code: "bit_depth", max_depth: 8 } },
  { name: "mp4_interlaced", options: { width: 80 }, reason: { code: "deinterlacing" } },
  {
    name: "mp4",
    options: { subtitles: [{ url: "https://example.com/a.srt", burn: true }] },
    reason: { code: "burn" },
  },
  { name: "mp4_h265", options: { width: 80 }, reason: { code: "input_codec", codec: "h265" } },
  { name: "avi", options: { width: 80 }, reason: { code: "input_format", format: "avi" } },
  { name: "mp4", options: {}, reason: { code: "other_work" } },
])("refuses $name with $options", async ({ name, options, reason }) => {
  expect((await rig.encode(await clip(name), options)).refusal).toEqual(reason);
});

test("refuses sound that no encoder can encode", async () => {
  const { refusal } = await rig.encode(await clip("mp4"), { format: "webm" }, { no_sound: true });
  expect(refusal).toEqual({ code: "no_sound_encoder" });
});

test("an abort ends the work at once and closes every frame", async () => {
  const input = await clip("mp4_silent", { size: "1280x720", seconds: 4 });
  const { error, abort_ms, open_frames, shares } = await rig.encode(
    input,
    { width: 854, height: 854, background: "#000000" },
    { abort_at: 0.1 },
  );
  expect(error).toMatchObject({ message: "the test has enough" });
  expect(abort_ms).toBeLessThan(200);
  expect(open_frames).toBe(0);
  expect(shares.at(-1)).toBeLessThan(0.5);
});

test("a file changed after selection fails with a clear error", async () => {
  const { error } = await rig.encode(await clip("mp4_silent"), { width: 80 }, { changed: true });
  expect(error).toMatchObject({ kind: "input_unreachable" });
  expect(error?.message).toContain("was changed, moved or deleted");
});

test("a damaged source fails soon with encode_failed, and leaves no file or frame", async () => {
  const path = join(rig.folder, "damaged.mp4");
  const bytes = readFileSync(await clip("mp4_silent", { seconds: 4 }));
  // Overwrites most packets with noise; the index remains.
  for (let at = 40_000; at < bytes.length * 0.7; at++) bytes[at] = (at * 7919) % 251;
  await writeFile(path, bytes);
  const { error, refusal, files, open_frames, shares, ms } = await rig.encode(path, { width: 80 });
  expect(error).toMatchObject({
    kind: "encode_failed",
    message: "The source's pictures could not be decoded to the end.",
  });
  expect([refusal, files, open_frames]).toEqual([null, [], 0]);
  // The pictures before the damage were encoded.
  expect(shares.at(-1)).toBeGreaterThan(0);
  expect(shares.at(-1)).toBeLessThan(1);
  expect(ms).toBeLessThan(20_000);
});

test("reports a source that is cut off", async () => {
  const path = join(rig.folder, "cut.mp4");
  const bytes = readFileSync(await clip("mp4_faststart", { seconds: 4 }));
  await writeFile(path, bytes.subarray(0, bytes.length / 2));
  const { error } = await rig.encode(path, { width: 80, format: "webm" });
  const message = "The input ends earlier than its headers say: they are wrong, or it is cut off.";
  expect(error).toMatchObject({ kind: "input_unsupported", message });
});
