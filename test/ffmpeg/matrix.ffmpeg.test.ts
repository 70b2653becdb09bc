import { expect, test } from "vitest";
import { NATIVE_TOOLS, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { type AudioFormat, FORMATS, type ImageFormat, type VideoFormat } from "../../src/media/formats.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { noiseSound } from "../judge/clips.ts";
import { readBoxes, readContainer, readWebpAnimation } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { ALIKE_SOUND, LIKE } from "../judge/limits.ts";
import { readPicture } from "../judge/picture.ts";
import { compareSound, readSound } from "../judge/sound.ts";
import { encode } from "./native-encode.ts";

const TOOLS = { native: NATIVE_TOOLS, wasm: WASM_TOOLS } as const;
const VIDEO = [
  { tools: "native", format: "mp4", codec: "h264" },
  { tools: "native", format: "mp4", codec: "h265" },
  { tools: "native", format: "mp4", codec: "av1" },
  { tools: "native", format: "mov", codec: "h264" },
  { tools: "native", format: "mov", codec: "h265" },
  { tools: "native", format: "webm", codec: "vp9" },
  { tools: "native", format: "webm", codec: "av1" },
  { tools: "wasm", format: "mp4", codec: "h264" },
  { tools: "wasm", format: "mov", codec: "h264" },
  { tools: "wasm", format: "webm", codec: "vp9" },
] as const satisfies { tools: keyof typeof TOOLS; format: VideoFormat; codec: string }[];
const TAGS = { h264: "avc1", h265: "hvc1", av1: "av01", vp9: "" } as const;

test.concurrent.for(VIDEO)(
  "encodes video with the $tools tools to $format as $codec",
  async ({ tools, format, codec }, { expect }) => {
    const input = await clip("mp4_b_frames", { seconds: 1 });
    const options = { format, codec, quality: "high" } as const;
    const { path } = await encode(input, "video", options, { toolset: TOOLS[tools] });
    expect(await readContainer(path)).toBe(format);
    const { picture, sound } = await readFacts(path);
    const name = codec === "h265" ? "hevc" : codec;
    expect(picture).toMatchObject({ codec: name, width: 160, height: 90, pixel_format: "yuv420p" });
    if (format !== "webm") {
      expect(picture?.tag).toBe(TAGS[codec]);
      const boxes = await readBoxes(path);
      expect(boxes.indexOf("moov")).toBeLessThan(boxes.indexOf("mdat"));
    }
    expect(picture?.times).toHaveLength(25);
    expect(Math.abs((picture?.duration ?? 0) - 1)).toBeLessThan(0.002);
    expect(sound).toMatchObject({ codec: format === "webm" ? "opus" : "aac", channels: 2 });
    expect((await measureLikeness(path, input)).mean).toBeGreaterThan(LIKE);
  },
);

// The output must keep the source's frame count and times.
const SOURCES: Partial<Record<ClipName, readonly [width: number, height: number]>> = {
  mp4_fragmented: [160, 90],
  mp4_odd: [160, 90],
  mp4_wide_pixels: [212, 90],
  mp4_vfr: [160, 90],
  mp4_10_bit: [160, 90],
  mp4_interlaced: [160, 88],
  mpegts: [160, 90],
  mov_prores: [160, 90],
  webm_vp8: [160, 90],
  webm_alpha: [160, 90],
  avi: [160, 90],
  gif_animated: [160, 90],
};

test.concurrent.for(Object.entries(SOURCES))("encodes %s to video", async ([name, size], { expect }) => {
  const input = await clip(name as ClipName, { seconds: 1 });
  const { path } = await encode(input, "video", { quality: "low" }, { toolset: WASM_TOOLS });
  const { picture } = await readFacts(path);
  expect([picture?.width, picture?.height]).toEqual(size);
  expect(picture).toMatchObject({ pixel_format: "yuv420p", pixel_aspect: "1:1", interlaced: false });
  const gaps = (times: number[] = []) => times.map((time) => time - (times[0] ?? 0));
  const expected = gaps((await readFacts(input)).picture?.times);
  const actual = gaps(picture?.times);
  expect(actual).toHaveLength(expected.length);
  for (const [index, time] of actual.entries())
    expect(Math.abs(time - (expected[index] ?? 0))).toBeLessThan(0.002);
});

const AUDIO = Object.keys(FORMATS.audio) as AudioFormat[];

test.concurrent.for(AUDIO)("encodes audio to %s", async (format, { expect }) => {
  const input = await noiseSound("wav", 2);
  const options = { format, quality: "high", start: 0.5, end: 1.25 } as const;
  const { path } = await encode(input, "audio", options);
  expect(await readContainer(path)).toBe(format);
  const as = { channels: 2, sample_rate: 8000 };
  const after = ["-af", "atrim=0.5:1.25,asetpts=PTS-STARTPTS"];
  const [actual, expected] = await Promise.all([readSound(path, as), readSound(input, { ...as, after })]);
  expect(Math.abs(actual.duration - 0.75)).toBeLessThan(0.06);
  for (const echo of compareSound(actual, expected)) expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
});

test.concurrent.for(AUDIO)(
  "surround sound in %s keeps 6 channels where lossless, else becomes stereo",
  async (format, { expect }) => {
    const { path } = await encode(await clip("mp4_surround", { seconds: 1 }), "audio", { format });
    const { sound, picture, streams } = await readFacts(path);
    expect({ picture, streams }).toEqual({ picture: null, streams: 1 });
    expect(sound?.channels).toBe(format === "wav" || format === "flac" ? 6 : 2);
  },
);

test.concurrent("FLAC keeps 24 bits, and has 16 for a lossy source", async ({ expect }) => {
  const fine = await encode(await clip("wav_24_bit", { seconds: 1 }), "audio", { format: "flac" });
  const coarse = await encode(await clip("mp3", { seconds: 1 }), "audio", { format: "flac" });
  const depth = async (path: string) => {
    const { streams } = (await runFfprobe(path)) as { streams: { bits_per_raw_sample?: string }[] };
    return streams[0]?.bits_per_raw_sample;
  };
  expect([await depth(fine.path), await depth(coarse.path)]).toEqual(["24", "16"]);
});

const IMAGES = ["jpeg", "png", "webp", "gif", "avif"] as const satisfies ImageFormat[];
// A source is decoded before it is encoded: one goes to all formats, and each of the others to two.
const STILLS = {
  png_odd: IMAGES,
  webp: ["png", "avif"],
  mp4_10_bit: ["jpeg", "avif"],
  webm_odd: ["webp", "gif"],
} as const satisfies Partial<Record<ClipName, readonly ImageFormat[]>>;
const STILL_CASES = (Object.keys(STILLS) as (keyof typeof STILLS)[]).flatMap((name) =>
  STILLS[name].map((format) => [name, format] as const),
);

test.concurrent.for(STILL_CASES)("encodes %s to an image as %s", async ([name, format], { expect }) => {
  const input = await clip(name, { seconds: 1 });
  const { path, source } = await encode(input, "image", { format, quality: "high" });
  expect(await readContainer(path)).toBe(format);
  const { picture } = await readFacts(path);
  expect(picture).toMatchObject({ width: source.width, height: source.height, pixel_aspect: "1:1" });
  expect(picture?.times).toHaveLength(1);
  const first = { filter: "trim=end_frame=1" };
  expect((await measureLikeness(path, input, first)).mean).toBeGreaterThan(format === "gif" ? 0.95 : 0.97);
});

test.concurrent("keeps transparency where the format supports it, else flattens on black", async ({
  expect,
}) => {
  const input = await clip("png_alpha");
  // The clip's alpha grows from left to right: 255·x/160.
  const columns = [20, 40, 120, 140];
  for (const format of ["png", "webp"] as const) {
    const { path } = await encode(input, "image", { format, quality: "very_high", width: 320 });
    const picture = await readPicture(path);
    for (const x of columns) {
      expect(Math.abs(picture.at(2 * x, 90)[3] - (255 * x) / 160)).toBeLessThan(4);
    }
  }
  const flat = await readPicture((await encode(input, "image", { format: "jpeg" })).path);
  expect(columns.map((x) => flat.at(x, 45)[3])).toEqual([255, 255, 255, 255]);
  expect(Math.max(...flat.at(2, 45).slice(0, 3))).toBeLessThan(24);
  const video = await readPicture(
    (await encode(await clip("webm_alpha"), "video", { quality: "high" })).path,
  );
  expect(Math.max(...video.at(2, 45).slice(0, 3))).toBeLessThan(32);
});

test.concurrent("keeps an animation in GIF and WebP, and takes one frame elsewhere", async ({ expect }) => {
  const input = await clip("gif_animated", { seconds: 1, rate: 10 });
  const gif = await encode(input, "image", { format: "gif", width: 80 });
  expect((await readFacts(gif.path)).picture?.times).toHaveLength(10);
  const webp = await encode(input, "image", { format: "webp" });
  expect((await readWebpAnimation(webp.path))?.delays).toEqual(Array(10).fill(100));
  const png = await encode(input, "image", { format: "png" });
  expect((await measureLikeness(png.path, input, { filter: "trim=end_frame=1" })).mean).toBe(1);
  const moment = await encode(input, "image", { format: "gif", start: 0.55 });
  const filter = "select=eq(n\\,5)";
  expect((await measureLikeness(moment.path, input, { filter })).mean).toBeGreaterThan(0.98);
});

test.concurrent.for([
  { start: 0, frame: 0 },
  { start: 0.4, frame: 10 },
  { start: 0.41, frame: 10 },
  { start: 0.96, frame: 24 },
  { start: 0.995, frame: 24 },
] as const)("an image at $start s shows frame $frame", async ({ start, frame }, { expect }) => {
  const input = await clip("mp4", { seconds: 1 });
  const { path } = await encode(input, "image", { format: "png", start });
  const { mean } = await measureLikeness(path, input, { filter: `select=eq(n\\,${frame})` });
  expect(mean).toBeGreaterThan(0.99);
});

test("a copy changes only the container", async () => {
  const input = await clip("mkv", { seconds: 1 });
  const { path, plan } = await encode(input, "video", {});
  expect([plan.video?.mode, plan.audio?.mode]).toEqual(["copy", "copy"]);
  expect(await readContainer(path)).toBe("mp4");
  expect((await measureLikeness(path, input)).worst).toBe(1);
});
