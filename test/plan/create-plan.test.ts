import { describe, expect, test } from "vitest";
import { needsProbe } from "../../src/media/create-plan.ts";
import { listDropped } from "../../src/media/dropped.ts";
import { canJoinByCopy } from "../../src/media/features/concat-plan.ts";
import { featureCost } from "../../src/media/features.ts";
import { NATIVE_TOOLS, refuseTools } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { nativeWork } from "../../src/media/native-costs.ts";
import type { AdaptiveVideoOptions, VideoOptions } from "../../src/media/options.ts";
import { plannedOf } from "../../src/media/plan.ts";
import type { Source } from "../../src/media/source.ts";
import { audioSource, faultOf, imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

test("copies a plain MP4", () => {
  expect(createPlan(videoSource(), "video", {})).toEqual({
    kind: "video",
    format: "mp4",
    still: false,
    start: 0,
    end: null,
    duration: 10,
    frames: 250,
    video: { mode: "copy", codec: "h264", width: 1920, height: 1080 },
    audio: { mode: "copy", codec: "aac" },
    image: null,
    renditions: [],
    chunks: [{ index: 0, track: "all", start: 0, end: null }],
  });
});

const COPIES: { name: string; changes: Partial<Source>; options: VideoOptions }[] = [
  { name: "into mov", changes: {}, options: { format: "mov" } },
  { name: "from matroska", changes: { format: "matroska" }, options: {} },
  { name: "the requested codec", changes: {}, options: { codec: "h264" } },
  { name: "a span of the whole source", changes: {}, options: { start: 0, end: 10 } },
  { name: "a position without a fit", changes: {}, options: { position: "top" } },
  { name: "full range", changes: { pixel_format: "yuvj420p" }, options: {} },
  {
    name: "10-bit h265",
    changes: { codecs: { video: "h265", audio: null }, pixel_format: "yuv420p10le", color: { hdr: true } },
    options: { codec: "h265" },
  },
  {
    name: "vp9",
    changes: { format: "webm", codecs: { video: "vp9", audio: "opus" } },
    options: { format: "webm" },
  },
];

test.for(COPIES)("copies: $name", ({ changes, options }) => {
  expect(createPlan(videoSource(changes), "video", options).video?.mode).toBe("copy");
});

const ENCODES: { name: string; changes: Partial<Source>; options: VideoOptions }[] = [
  { name: "a quality", changes: {}, options: { quality: "medium" } },
  { name: "a bitrate", changes: {}, options: { bitrate: 1_000_000 } },
  { name: "a width", changes: {}, options: { width: 1918 } },
  { name: "a height", changes: {}, options: { height: "50%" } },
  { name: "a larger picture", changes: {}, options: { width: 3840 } },
  { name: "a frame rate", changes: { constant_fps: true }, options: { fps: 24 } },
  { name: "a frame rate that the source has on average", changes: {}, options: { fps: 25 } },
  { name: "a start", changes: {}, options: { start: 1 } },
  { name: "an end", changes: {}, options: { end: 9 } },
  { name: "another codec", changes: {}, options: { codec: "h265" } },
  { name: "another format", changes: {}, options: { format: "webm" } },
  {
    name: "a codec that is not the default",
    changes: { codecs: { video: "h265", audio: "aac" } },
    options: {},
  },
  { name: "10-bit pixels", changes: { pixel_format: "yuv420p10le" }, options: {} },
  { name: "4:2:2", changes: { pixel_format: "yuv422p" }, options: {} },
  { name: "unknown pixels", changes: { pixel_format: undefined as unknown as string }, options: {} },
  { name: "HDR", changes: { color: { hdr: true } }, options: {} },
  { name: "interlaced video", changes: { interlaced: true }, options: {} },
  { name: "non-square pixels", changes: { sample_aspect_ratio: "4:3" }, options: {} },
  { name: "a rotation", changes: { rotation: 90 }, options: {} },
  { name: "packets without timestamps", changes: { format: "avi" }, options: {} },
  { name: "a raw stream", changes: { format: "h264" }, options: {} },
];

test.for(ENCODES)("encodes for $name", ({ changes, options }) => {
  expect(createPlan(videoSource(changes), "video", options).video?.mode).toBe("encode");
});

test("copies audio and video independently", () => {
  const modes = (changes: Partial<Source>, options: VideoOptions) => {
    const { video, audio } = createPlan(videoSource(changes), "video", options);
    return [video?.mode, audio?.mode];
  };
  expect(modes({}, { width: 640 })).toEqual(["encode", "copy"]);
  expect(modes({}, { bitrate: 1_000_000 })).toEqual(["encode", "copy"]);
  expect(modes({}, { quality: "high" })).toEqual(["encode", "encode"]);
  expect(modes({}, { start: 1 })).toEqual(["encode", "encode"]);
  expect(modes({ codecs: { video: "h264", audio: "mp3" } }, {})).toEqual(["copy", "encode"]);
  expect(modes({ audio: { channels: 6, sample_rate: 48_000 } }, {})).toEqual(["copy", "encode"]);
  expect(modes({ codecs: { video: "h264", audio: null } }, {})).toEqual(["copy", undefined]);
});

test("plans deinterlacing, rotation and a matte where the source needs them", () => {
  const source = videoSource({
    interlaced: true,
    rotation: 90,
    has_alpha: true,
    pixel_format: "yuva420p",
    width: 1080,
    height: 1920,
  });
  const { video, frames, duration } = createPlan(source, "video", { fps: 29.97, start: 2, end: 5 });
  expect({ frames, duration }).toEqual({ frames: 90, duration: 3 });
  expect(video).toEqual({
    mode: "encode",
    codec: "h264",
    geometry: {
      rotate: 90,
      turn: 0,
      mirror: false,
      crop: null,
      scale: null,
      pad: null,
      width: 1080,
      height: 1920,
    },
    rate: { crf: 23 },
    fps: 30_000 / 1001,
    deinterlace: true,
    tone_map: false,
    depth: 8,
    matte: "0x000000",
  });
});

test.for([
  { codec: "h264", tone_map: true, depth: 8 },
  { codec: "h265", tone_map: false, depth: 10 },
  { codec: "av1", tone_map: false, depth: 10 },
] as const)("encodes HDR to $codec: tone-mapped $tone_map, $depth bits", ({ codec, tone_map, depth }) => {
  const source = videoSource({ color: { hdr: true }, pixel_format: "yuv420p10le" });
  expect(createPlan(source, "video", { codec, quality: "high" }).video).toMatchObject({ tone_map, depth });
});

test.for([
  { options: {}, format: "mp3", audio: { mode: "encode", codec: "mp3", bitrate: 128_000 } },
  { options: { format: "aac" }, format: "aac", audio: { mode: "copy", codec: "aac" } },
  {
    options: { format: "wav", start: 1, end: 3 },
    format: "wav",
    audio: { mode: "encode", codec: "pcm_s16le" },
  },
  {
    options: { format: "flac", quality: "high" },
    format: "flac",
    audio: { mode: "encode", codec: "flac", compression: 8 },
  },
] as const)("the audio of a video with $options becomes $format", ({ options, format, audio }) => {
  const plan = createPlan(videoSource(), "audio", options);
  expect(plan).toMatchObject({ kind: "audio", format, video: null, image: null, frames: null, audio });
});

test("plans adaptive video with its renditions and one chunk", () => {
  const plan = createPlan(videoSource({ color: { hdr: true } }), "adaptive_video", {
    quality: "high",
    end: 4,
  });
  expect(plan).toMatchObject({
    kind: "adaptive_video",
    format: "hls",
    duration: 4,
    frames: 100,
    image: null,
  });
  expect(plan.renditions.map(({ name }) => name)).toEqual(["1080p", "720p", "480p", "360p", "240p"]);
  expect(plan.video).toMatchObject({ codec: "h264", tone_map: true, rate: { crf: 20, maxrate: 5_500_000 } });
  expect(plan.audio).toMatchObject({ mode: "encode", codec: "aac", bitrate: 192_000 });
  expect(plan.chunks).toEqual([{ index: 0, track: "all", start: 0, end: 4 }]);
});

test("the last picture of adaptive video freezes until its last sound ends, in the last chunk", () => {
  const stream = (kind: "video" | "audio", end: number, index: number) => ({
    ...{ index, kind, codec: kind === "video" ? "h264" : "aac", end },
  });
  const ends = (...seconds: number[]) =>
    videoSource({
      duration: 100,
      streams: seconds.map((end, index) => stream(index === 0 ? "video" : "audio", end, index)),
    });
  const plan = (source: Source, options: AdaptiveVideoOptions = {}) =>
    createPlan(source, "adaptive_video", options, { chunk_seconds: 12 });
  const longest = plan(ends(30, 20, 100));
  expect(longest.held).toEqual({ from: 30, until: 100 });
  const cuts = longest.chunks.filter(({ track }) => track === "video").map(({ start, end }) => [start, end]);
  expect(cuts).toEqual([
    [0, 12],
    [12, null],
  ]);
  expect(plan(ends(30, 100), { start: 10, end: 40 }).held).toEqual({ from: 30, until: 40 });
  expect(plan(ends(30, 100), { start: 50 }).held).toEqual({ from: 50, until: 100 });
  // Only selected tracks count.
  for (const none of [
    plan(ends(30, 20, 100), { track: 0 }),
    plan(ends(30, 100), { end: 30 }),
    plan(ends(99.9, 100)),
    plan(ends(30)),
  ])
    expect(none.held).toBeUndefined();
});

test("plans adaptive video without video or without audio", () => {
  const sound = createPlan(audioSource(), "adaptive_video", { width: 640 });
  expect(sound).toMatchObject({ video: null, renditions: [], frames: null, audio: { codec: "aac" } });
  const silent = createPlan(videoSource({ codecs: { video: "h264", audio: null } }), "adaptive_video", {});
  expect(silent.audio).toBeNull();
  expect(silent.renditions).toHaveLength(5);
});

test("cuts long video encodes into chunks, and nothing else", () => {
  const long = videoSource({ duration: 200 });
  const tracks = (source: Source, kind: EncodeKind, options: object, hints = {}) =>
    createPlan(source, kind, options, hints).chunks.map(({ track }) => track);
  expect(tracks(long, "video", { width: 640 })).toEqual(["video", "video", "video", "audio"]);
  expect(tracks(long, "video", {})).toEqual(["all"]);
  expect(tracks(long, "audio", {})).toEqual(["all"]);
  expect(tracks(long, "adaptive_video", {})).toEqual(["all"]);
  expect(tracks(long, "image", { start: 150 })).toEqual(["all"]);
  expect(tracks(videoSource(), "video", { width: 640 }, { chunk_seconds: 4 })).toEqual([
    "video",
    "video",
    "video",
    "audio",
  ]);
});

const SILENT = videoSource({ codecs: { video: "h264", audio: null } });
const NO_SIZE: Source = {
  object: "source",
  url: "u",
  kind: "video",
  format: "mp4",
  codecs: { video: "h264", audio: null },
};
const FAULTS: {
  name: string;
  source: Source;
  kind: EncodeKind;
  options: object;
  error: string;
  param?: string;
}[] = [
  { name: "video from a sound", source: audioSource(), kind: "video", options: {}, error: "input_no_video" },
  {
    name: "an image from a sound",
    source: audioSource(),
    kind: "image",
    options: {},
    error: "input_no_video",
  },
  {
    name: "video from a still image",
    source: imageSource(),
    kind: "video",
    options: {},
    error: "input_no_video",
  },
  {
    name: "adaptive video from a still image",
    source: imageSource(),
    kind: "adaptive_video",
    options: {},
    error: "input_no_video",
  },
  { name: "audio from a silent video", source: SILENT, kind: "audio", options: {}, error: "input_no_audio" },
  { name: "audio from an image", source: imageSource(), kind: "audio", options: {}, error: "input_no_audio" },
  { name: "video of unknown size", source: NO_SIZE, kind: "video", options: {}, error: "input_unsupported" },
  {
    name: "a start beyond the end",
    source: videoSource(),
    kind: "video",
    options: { start: 10 },
    error: "invalid_options",
    param: "options.start",
  },
  {
    name: "an image beyond the end",
    source: videoSource(),
    kind: "image",
    options: { start: 11 },
    error: "invalid_options",
    param: "options.start",
  },
  {
    name: "a start in a still image",
    source: imageSource(),
    kind: "image",
    options: { start: 1 },
    error: "invalid_options",
    param: "options.start",
  },
  {
    name: "audio beyond the end",
    source: audioSource(),
    kind: "audio",
    options: { start: 10.1 },
    error: "invalid_options",
    param: "options.start",
  },
  {
    name: "a size above the limit",
    source: videoSource(),
    kind: "video",
    options: { width: "1000%" },
    error: "invalid_options",
    param: "options.width",
  },
  {
    name: "a WebP too wide",
    source: imageSource(),
    kind: "image",
    options: { format: "webp", width: 16_384, height: 1 },
    error: "invalid_options",
    param: "options.width",
  },
];

test.for(FAULTS)("rejects $name", ({ source, kind, options, error, param }) => {
  expect(faultOf(() => createPlan(source, kind, options))).toMatchObject({ kind: error, param });
});

test("a source without codecs or size needs a probe", () => {
  const { codecs, ...bare } = videoSource();
  expect([
    needsProbe(videoSource()),
    needsProbe(audioSource()),
    needsProbe(bare),
    needsProbe(NO_SIZE),
  ]).toEqual([false, false, true, true]);
  expect(codecs).toBeDefined();
  expect(createPlan(bare, "video", {})).toMatchObject({ video: { mode: "encode" }, audio: null });
});

test("a plan survives a round trip through JSON", () => {
  const plan = createPlan(videoSource({ duration: 200 }), "video", {
    fps: 29.97,
    width: 640,
    height: 640,
    background: "#123",
  });
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
});

const CHAPTERS = [{ start: 2, end: 5, title: "Noon" }];

test("chapters are planned only if the output contains any", () => {
  const source = videoSource({ chapters: CHAPTERS });
  expect(createPlan(source, "video", {}).chapters).toBe(true);
  expect(createPlan(source, "video", { start: 4 }).chapters).toBe(true);
  for (const options of [{ start: 5 }, { end: 2 }, { metadata: "strip" }] as const)
    expect(createPlan(source, "video", options)).not.toHaveProperty("chapters");
  expect(createPlan(source, "audio", { format: "mp3", end: 2 })).not.toHaveProperty("chapters");
});

test("joined videos state that they lack chapters", () => {
  const source = videoSource({ chapters: CHAPTERS });
  const options = { concat: [{ url: source.url }] };
  const plan = createPlan(source, "video", options, { extra: [videoSource()] });
  expect(listDropped(plan, source)).toEqual([{ kind: "chapters", reason: "not_supported" }]);
});

test("ranges are joined at the highest frame rate of the videos, by encoders that have the feature concat_ranges", () => {
  const options = {
    start: 2,
    concat: [
      { url: "b.mp4", start: 1, end: 4.5 },
      { url: "c.mp4", end: 99 },
    ],
  };
  const source = videoSource({ constant_fps: true });
  const extra = [source, source];
  const plan = createPlan(source, "video", options, { extra });
  expect(plan).toMatchObject({
    duration: 8 + 3.52 + 10,
    concat: [{ start: 2, frames: 200 }, { start: 1, end: 4.5, frames: 88 }, { frames: 250 }],
  });
  expect(plan.concat?.[2]).not.toHaveProperty("end");
  const older = { ...NATIVE_TOOLS, lacks: ["concat_ranges"] as const };
  expect(refuseTools(plan, videoSource(), older)).toEqual({ code: "concat_ranges" });
  expect(canJoinByCopy(videoSource(), options, extra)).toBe(false);
  expect(canJoinByCopy(videoSource(), { ...options, start: 0, mode: "copy" }, extra)).toEqual({
    fault: "range",
    input: 1,
  });
  const late = { concat: [{ url: "b.mp4", start: 10 }] };
  expect(() => createPlan(videoSource(), "video", late, { extra })).toThrow(
    "options.concat.0.start (10) must be before the end of the source (10 s).",
  );
});

test.for([
  { name: "equal rates", rates: [{ fps: 25, constant_fps: true }], fps: 25 },
  { name: "a higher rate", rates: [{ fps: 50, constant_fps: true }], fps: 50 },
  { name: "a lower rate", rates: [{ fps: 10, constant_fps: true }], fps: 25 },
  { name: "an imprecise rate", rates: [{ fps: 25.01, constant_fps: true }], fps: 25 },
  { name: "an NTSC rate", rates: [{ fps: 29.97, constant_fps: true }], fps: 30_000 / 1001 },
  { name: "a rate above the limit", rates: [{ fps: 120, constant_fps: true }], fps: 60 },
  { name: "a variable rate", rates: [{ fps: 11.3 }], fps: 60 },
  { name: "a rate that may vary", rates: [{ fps: 12 }], fps: 60 },
  { name: "an unknown rate", rates: [{}], fps: 60 },
] as const)("$name joined to a video of 25 pictures a second", ({ rates, fps }) => {
  const source = videoSource({ constant_fps: true });
  const { fps: _, ...blank } = videoSource();
  const extra = rates.map((rate) => ({ ...blank, ...rate }));
  const rateWith = (more: VideoOptions) => {
    const concat = extra.map(({ url }) => ({ url }));
    const { video } = createPlan(source, "video", { ...more, concat }, { extra });
    return video?.mode === "encode" ? video.fps : null;
  };
  expect(rateWith({})).toBe(fps);
  expect(rateWith({ fps: 20 })).toBe(20);
});

describe("the pictures of every joined video", () => {
  const hdr = videoSource({
    codecs: { video: "h265", audio: "aac" },
    pixel_format: "yuv420p10le",
    color: { bit_depth: 10, primaries: "bt2020", transfer: "smpte2084", space: "bt2020nc", hdr: true },
  });
  const join = (...extra: Source[]) =>
    createPlan(videoSource(), "video", { concat: extra.map(({ url }) => ({ url })), width: 300 }, { extra });
  const plain = join(videoSource());

  test.for([
    { name: "tone_map", code: "tone_mapping", source: hdr },
    { name: "deinterlace", code: "deinterlacing", source: videoSource({ interlaced: true }) },
  ] as const)("are refused by an encoder that lacks $name", ({ name, code, source }) => {
    const lacking = { ...NATIVE_TOOLS, lacks: [name] };
    expect(refuseTools(join(source), videoSource(), lacking)).toEqual({ code });
    expect(refuseTools(plain, videoSource(), lacking)).toBeNull();
  });

  test("count by their share of the time, and with all their memory", () => {
    const [none, half, all] = [plain, join(hdr), join(hdr, hdr)].map((plan) =>
      featureCost(plannedOf(plan), "native"),
    );
    expect(none).toEqual({ seconds: 0, memory: 0, fixed_memory: 0 });
    expect(half).toEqual({ seconds: 0.015, memory: 50, fixed_memory: 0 });
    expect(all).toEqual({ seconds: expect.closeTo(0.02), memory: 100, fixed_memory: 0 });
    const [less, more] = [plain, join(hdr)].map((plan) => nativeWork(plan, videoSource()));
    expect(more?.pictures).toBeGreaterThan(less?.pictures ?? 0);
    expect(more?.memory).toBeGreaterThan(less?.memory ?? 0);
  });
});
