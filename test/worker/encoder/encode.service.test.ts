import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EncodeKind } from "../../../src/media/formats.ts";
import { createPlan } from "../../../src/media/index.ts";
import { type ClipName, clip } from "../../fixtures/clips.ts";
import { hugeMp4 } from "../../fixtures/huge.ts";
import { makeClip, runFfprobe } from "../../fixtures/make-clip.ts";
import { noiseBytes, virtualFile } from "../../fixtures/virtual-file.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { type EncoderRig, openReader, startEncoder } from "./rig.ts";

interface Report {
  format: { format_name: string; duration?: string };
  streams: {
    codec_name: string;
    codec_type: string;
    width?: number;
    height?: number;
    nb_read_frames?: string;
  }[];
}

let rig: EncoderRig;
beforeAll(async () => {
  rig = await startEncoder();
});
afterAll(() => rig.close());

const facts = async (path: string) => (await runFfprobe(path, ["-count_frames"])) as Report;

const VIDEOS: {
  name: ClipName;
  options: Record<string, unknown>;
  format: string;
  codecs: string[];
  like: number;
}[] = [
  { name: "mp4", options: {}, format: "mov,mp4,m4a,3gp,3g2,mj2", codecs: ["h264", "aac"], like: 1 },
  { name: "avi", options: {}, format: "mov,mp4,m4a,3gp,3g2,mj2", codecs: ["h264", "aac"], like: 0.93 },
  {
    name: "mpegts",
    options: { quality: "very_high" },
    format: "mov,mp4,m4a,3gp,3g2,mj2",
    codecs: ["h264", "aac"],
    like: 0.97,
  },
  {
    name: "mp4_h265",
    options: { format: "mov" },
    format: "mov,mp4,m4a,3gp,3g2,mj2",
    codecs: ["h264", "aac"],
    like: 0.93,
  },
  { name: "mp4_silent", options: { format: "webm" }, format: "matroska,webm", codecs: ["vp9"], like: 0.9 },
  {
    name: "mkv",
    options: { format: "webm", quality: "high" },
    format: "matroska,webm",
    codecs: ["vp9", "opus"],
    like: 0.93,
  },
  {
    name: "webm_vp8",
    options: { bitrate: 500_000 },
    format: "mov,mp4,m4a,3gp,3g2,mj2",
    codecs: ["h264", "aac"],
    like: 0.93,
  },
];

test.for(VIDEOS)("encodes $name to a video: $options", async ({ name, options, format, codecs, like }) => {
  const input = await clip(name, { seconds: 1 });
  const { plan, source, chunks } = await rig.encode(input, "video", options);
  expect(rig.light.refuse(plan, source)).toBeNull();
  const path = await rig.save(chunks[0] ?? []);
  const { format: got, streams } = await facts(path);
  expect(got.format_name).toBe(format);
  expect(streams.map((stream) => stream.codec_name)).toEqual(codecs);
  expect(streams[0]).toMatchObject({ width: 160, height: 90, nb_read_frames: "25" });
  expect(Math.abs(Number(got.duration) - 1)).toBeLessThan(0.06);
  expect((await measureLikeness(path, input)).worst).toBeGreaterThanOrEqual(like);
});

const SOUNDS = [
  { format: "mp3", format_name: "mp3", codec_name: "mp3" },
  { format: "aac", format_name: "aac", codec_name: "aac" },
  { format: "ogg", format_name: "ogg", codec_name: "vorbis" },
  { format: "opus", format_name: "ogg", codec_name: "opus" },
  { format: "wav", format_name: "wav", codec_name: "pcm_s24le" },
  { format: "flac", format_name: "flac", codec_name: "flac" },
] as const;

test.for(SOUNDS)("encodes sound to $format", async ({ format, format_name, codec_name }) => {
  const { plan, source, chunks } = await rig.encode(await clip("wav_24_bit"), "audio", { format });
  expect(rig.light.refuse(plan, source)).toBeNull();
  const { format: got, streams } = await facts(await rig.save(chunks[0] ?? []));
  expect(got.format_name).toBe(format_name);
  expect(streams).toMatchObject([{ codec_name, codec_type: "audio" }]);
  expect(Number(got.duration)).toBeCloseTo(2, 0);
});

const IMAGES: { name: ClipName; options: Record<string, unknown>; codec_name: string; frames: number }[] = [
  { name: "mp4", options: { format: "jpeg", start: 0.5, width: 80 }, codec_name: "mjpeg", frames: 1 },
  { name: "png_alpha", options: {}, codec_name: "png", frames: 1 },
  { name: "jpeg", options: { format: "webp" }, codec_name: "webp", frames: 1 },
  { name: "webp", options: { format: "gif" }, codec_name: "gif", frames: 1 },
  { name: "bmp", options: { format: "png" }, codec_name: "png", frames: 1 },
  { name: "gif_animated", options: { width: 80 }, codec_name: "gif", frames: 50 },
];

test.for(IMAGES)("encodes $name to an image: $options", async ({ name, options, codec_name, frames }) => {
  const { plan, source, chunks } = await rig.encode(await clip(name), "image", options);
  expect(rig.light.refuse(plan, source)).toBeNull();
  const { streams } = await facts(await rig.save(chunks[0] ?? []));
  const width = Number(options.width ?? 160);
  expect(streams).toMatchObject([
    { codec_name, width, height: (width * 90) / 160, nb_read_frames: String(frames) },
  ]);
});

test("encodes a small stream with a playlist per rendition and the master last", {
  tags: "smoke",
}, async () => {
  const input = await clip("mp4", { size: "640x360", seconds: 1 });
  const { plan, source, chunks } = await rig.encode(input, "adaptive_video", {});
  expect(rig.light.refuse(plan, source)).toBeNull();
  const files = chunks[0] ?? [];
  expect(files.at(-1)).toMatchObject({ name: "master.m3u8", mime: "application/vnd.apple.mpegurl" });
  expect(new Set(files.map((file) => file.name.split("/")[0]))).toEqual(
    new Set(["360p", "240p", "audio", "audio.m3u8", "master.m3u8"]),
  );
  for (const file of files) expect(file.bytes.length, file.name).toBeGreaterThan(0);
  const master = await rig.save(files);
  const { streams } = await facts(master.replace("master.m3u8", "360p/playlist.m3u8"));
  expect(streams).toMatchObject([{ codec_name: "h264", width: 640, height: 360, nb_read_frames: "25" }]);
});

test("video chunks and one audio chunk cover the whole source", async () => {
  const input = await clip("mp4_b_frames", { seconds: 3 });
  const { plan, chunks } = await rig.encode(input, "video", { width: 96, fps: 25 }, { chunk_seconds: 1 });
  expect(plan.chunks.map(({ track }) => track)).toEqual(["video", "video", "video", "audio"]);
  const frames: number[] = [];
  for (const files of chunks.slice(0, 3)) {
    const { streams } = await facts(await rig.save(files));
    expect(streams.map(({ codec_name }) => codec_name)).toEqual(["h264"]);
    frames.push(Number(streams[0]?.nb_read_frames));
  }
  expect(frames).toEqual([25, 25, 25]);
  const sound = await facts(await rig.save(chunks[3] ?? []));
  expect(sound.streams.map(({ codec_name }) => codec_name)).toEqual(["aac"]);
  expect(Number(sound.format.duration)).toBeCloseTo(3, 1);
});

test.for([
  { name: "close together", group: 10, start: 60 },
  { name: "far apart", group: 100, start: 58 },
  { name: "far apart, near the start", group: 100, start: 8 },
] as const)("a long file with keyframes $name is read only around the chunk", async ({ group, start }) => {
  const noise = "-f lavfi -i testsrc2=s=320x180:r=10:d=100 -vf noise=alls=20:allf=t -c:v mpeg4 -q:v 2";
  const input = await makeClip("mp4", [
    ...noise.split(" "),
    "-g",
    String(group),
    "-sc_threshold",
    "1000000000",
  ]);
  const { reader, chunks } = await rig.encode(input, "video", { start, end: start + 1, width: 96 });
  expect(reader.size).toBeGreaterThan(10_000_000);
  expect(reader.bytes).toBeLessThan(reader.size / 2);
  const path = await rig.save(chunks[0] ?? []);
  const expected = { input: ["-ss", String(start), "-t", "1"], filter: "scale=96:54" };
  const like = await measureLikeness(path, input, expected);
  expect(like).toMatchObject({ frames: 10 });
  expect(like.worst).toBeGreaterThan(0.8);
});

test("extracts the sound of a file too large for memory", async () => {
  const huge = await hugeMp4(300_000_000);
  const { plan, source, chunks, reader } = await rig.encode(huge, "audio", { format: "flac" });
  expect(rig.light.refuse(plan, source)).toBeNull();
  expect(reader.bytes).toBeLessThan(20_000_000);
  const { streams, format } = await facts(await rig.save(chunks[0] ?? []));
  expect(streams).toMatchObject([{ codec_name: "flac" }]);
  expect(Number(format.duration)).toBeCloseTo(10, 1);
});

test("rejects a file whose pictures are spread all over it instead of reading all of it", async () => {
  const noise = noiseBytes(65_536);
  const file = await readFile(await clip("mpegts"));
  // Null packets between the packets of the stream: 100 MB of them after each quarter.
  const empty = {
    pattern: Buffer.concat([Buffer.from([0x47, 0x1f, 0xff, 0x10]), noise.subarray(0, 184)]),
    length: 188 * 500_000,
  };
  const quarter = Math.floor(file.length / 188 / 4) * 188;
  const parts = [0, 1, 2, 3].flatMap((n) => [file.subarray(n * quarter, (n + 1) * quarter), empty]);
  const spread = virtualFile(parts);
  const source = { ...(await rig.probe(await clip("mpegts"))).source, filesize: spread.size };
  const plan = createPlan(source, "video", { width: 80 });
  expect(rig.light.refuse(plan, source)).toMatchObject({ code: "input_memory" });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("There is no chunk.");
  const job = { plan, chunk, source, input: openReader(spread), signal: AbortSignal.timeout(120_000) };
  await expect(rig.light.encode(job).then(() => "done")).rejects.toMatchObject({
    kind: "encoder_unavailable",
  });
});

test("a copy keeps the source's own pictures", async () => {
  const input = await clip("mp4_faststart");
  const { plan, chunks } = await rig.encode(input, "video", {});
  expect(plan.video).toMatchObject({ mode: "copy" });
  const like = await measureLikeness(await rig.save(chunks[0] ?? []), input);
  expect(like).toMatchObject({ worst: 1, frames: 50 });
});

test.for<{ kind: EncodeKind; options: object }>([
  { kind: "video", options: { start: 50, width: 96 } },
  { kind: "video", options: { start: 50, format: "webm" } },
  { kind: "audio", options: { start: 50, format: "mp3" } },
  { kind: "audio", options: { start: 50, format: "flac" } },
])(
  "a $kind of a time beyond the end of the file fails with a clear message: $options",
  async ({ kind, options }) => {
    const input = await clip("mp4", { seconds: 1 });
    const source = { ...(await rig.probe(input)).source, duration: 100 };
    const plan = createPlan(source, kind, options);
    const chunk = { index: 0, track: "all", start: 50, end: null } as const;
    const job = { plan, chunk, source, input: openReader(input), signal: AbortSignal.timeout(120_000) };
    await expect(rig.light.encode(job).then((files) => files.length)).rejects.toMatchObject({
      kind: "encode_failed",
      message: "The input has nothing in the requested time range.",
    });
  },
);
