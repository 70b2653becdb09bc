import { expect, test } from "vitest";
import {
  chooseLevel,
  LIGHT_INPUT,
  LIGHT_LIMITS,
  LIGHT_MEMORY,
  lightChunkSeconds,
  refuseLight,
} from "../../src/encoders/light/light-estimate.ts";
import { X264_LEVELS } from "../../src/encoders/wasm/wasm-costs.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

const MB = 1_000_000;
const video = (width: number, height: number, duration: number, more: Partial<Source> = {}): Source => ({
  ...{ object: "source", url: "file:clip", kind: "video", format: "mp4", duration, fps: 25 },
  ...{
    width,
    height,
    coded_width: width,
    coded_height: height,
    pixel_format: "yuv420p",
    filesize: duration * 0.2 * MB,
  },
  ...{ codecs: { video: "h264", audio: "aac" }, audio: { channels: 2, sample_rate: 44_100 } },
  ...more,
});
const image = (width: number, height: number, more: Partial<Source> = {}): Source => ({
  ...{ object: "source", url: "file:clip", kind: "image", format: "jpeg", filesize: width * height * 0.2 },
  ...{ width, height, coded_width: width, coded_height: height, pixel_format: "yuvj420p" },
  ...{ codecs: { video: "mjpeg", audio: null } },
  ...more,
});
const sound = (duration: number): Source => ({
  ...{
    object: "source",
    url: "file:clip",
    kind: "audio",
    format: "mp3",
    duration,
    filesize: duration * 16_000,
  },
  ...{ codecs: { video: null, audio: "mp3" }, audio: { channels: 2, sample_rate: 44_100 } },
});

type Case = [string, Source, EncodeKind, Record<string, unknown>];

const TAKEN: Case[] = [
  ["a short clip scaled down", video(1280, 720, 10), "video", { height: 360 }],
  ["a short clip at its size", video(1280, 720, 8), "video", { quality: "high" }],
  ["a clip as VP9", video(854, 480, 10), "video", { format: "webm" }],
  ["a 1080p frame", video(1920, 1080, 60), "image", { start: 3 }],
  ["a photo of 12 megapixels scaled down", image(4000, 3000), "image", { width: 800, format: "webp" }],
  [
    "an EXR",
    image(1400, 1000, { format: "exr", pixel_format: "gbrpf32le", filesize: 8 * MB }),
    "image",
    { format: "png" },
  ],
  ["a song", sound(240), "audio", { format: "opus" }],
  ["a small stream", video(640, 360, 8), "adaptive_video", {}],
  ["the sound of a large video", video(1920, 1080, 240, { filesize: 300 * MB }), "audio", { format: "mp3" }],
  ["a copy", video(1280, 720, 60), "video", {}],
];

test.for(TAKEN)("accepts %s", ([, source, kind, options]) => {
  expect(refuseLight(createPlan(source, kind, options), source, LIGHT_LIMITS)).toBeNull();
});

const REFUSED: [...Case, object][] = [
  ["h265", video(320, 180, 2), "video", { codec: "h265" }, { code: "output_codec", codec: "h265" }],
  ["av1", video(320, 180, 2), "video", { codec: "av1" }, { code: "output_codec", codec: "av1" }],
  ["avif", image(320, 180), "image", { format: "avif" }, { code: "output_format", format: "avif" }],
  [
    "an AV1 source",
    video(320, 180, 2, { codecs: { video: "av1", audio: null } }),
    "video",
    { width: 80 },
    { code: "input_codec", codec: "av1" },
  ],
  [
    "a HEIC",
    image(320, 180, { format: "heic", codecs: { video: "h265", audio: null } }),
    "image",
    { format: "png" },
    { code: "input_format", format: "heic" },
  ],
  [
    "a long clip",
    video(1280, 720, 600, { filesize: 30 * MB }),
    "video",
    { height: 360 },
    { code: "time", max_seconds: 120 },
  ],
  ["4K", video(3840, 2160, 2), "video", { height: 2158 }, { code: "memory", available_bytes: 96 * 2 ** 20 }],
  [
    "a JPEG 2000 of 10 megapixels",
    image(2717, 3701, {
      format: "jpeg2000",
      pixel_format: "rgb24",
      codecs: { video: "jpeg2000", audio: null },
    }),
    "image",
    { format: "png", width: 128 },
    { code: "memory", available_bytes: 96 * 2 ** 20 },
  ],
  [
    "a photo of 64 megapixels",
    image(8000, 8000),
    "image",
    { format: "png" },
    { code: "memory", available_bytes: 96 * 2 ** 20 },
  ],
  [
    "an EXR with transparency",
    image(1600, 1200, { format: "exr", pixel_format: "gbrapf32le", has_alpha: true, filesize: 15 * MB }),
    "image",
    { format: "jpeg" },
    { code: "memory", available_bytes: 96 * 2 ** 20 },
  ],
  ["a large WAV", sound(1200), "audio", { format: "wav" }, { code: "memory" }],
  [
    "a large copy",
    video(1280, 720, 600, { filesize: 500 * MB }),
    "video",
    {},
    { code: "input_memory", needed_bytes: 500_000_000, available_bytes: 40 * 2 ** 20 },
  ],
  [
    "a clip of unknown length",
    { ...video(320, 180, 1), duration: undefined } as unknown as Source,
    "video",
    { width: 80 },
    { code: "unknown_duration" },
  ],
  [
    "a clip too long for a single chunk",
    video(640, 360, 80),
    "video",
    { height: 358 },
    { code: "chunk_time" },
  ],
];

test.for(REFUSED)("refuses %s and says why", ([, source, kind, options, reason]) => {
  expect(refuseLight(createPlan(source, kind, options), source, LIGHT_LIMITS)).toMatchObject(reason);
});

test("accepts a clip that is too long for one chunk when it is cut by the hint", () => {
  const source = video(640, 360, 80);
  const options = { height: 358 };
  const chunk_seconds = lightChunkSeconds(createPlan(source, "video", options), source, LIGHT_LIMITS);
  expect(chunk_seconds).toBeGreaterThanOrEqual(5);
  expect(chunk_seconds).toBeLessThanOrEqual(20);
  const plan = createPlan(source, "video", options, { chunk_seconds });
  expect(plan.chunks.length).toBeGreaterThan(4);
  expect(refuseLight(plan, source, LIGHT_LIMITS)).toBeNull();
});

test("accepts a 50 MB phone video that is scaled down and cut by the hint", () => {
  const source = video(1920, 1080, 25, { filesize: 50 * MB });
  const options = { height: 360 };
  const chunk_seconds = lightChunkSeconds(createPlan(source, "video", options), source, LIGHT_LIMITS);
  expect(
    refuseLight(createPlan(source, "video", options, { chunk_seconds }), source, LIGHT_LIMITS),
  ).toBeNull();
  expect(refuseLight(createPlan(source, "video", options), source, LIGHT_LIMITS)).toMatchObject({
    code: "input_memory",
  });
});

test("chooses the best x264 level that fits in memory", () => {
  const levels = [180, 360, 540, 720].map((height) => {
    const source = video(1280, 720, 4);
    return X264_LEVELS.indexOf(
      chooseLevel(createPlan(source, "video", { height, quality: "medium" }), source, LIGHT_MEMORY),
    );
  });
  expect(levels).toEqual([0, 0, 0, 2]);
});

test("respects custom limits", () => {
  const source = video(640, 360, 8);
  const plan = createPlan(source, "video", { height: 180 });
  expect(refuseLight(plan, source, { ...LIGHT_LIMITS, memory: 24 * 1_048_576 })).toMatchObject({
    ...{ code: "memory", available_bytes: 24 * 1_048_576 },
  });
  expect(refuseLight(plan, source, { ...LIGHT_LIMITS, totalSeconds: 1 })).toMatchObject({
    code: "time",
    max_seconds: 1,
  });
  expect(LIGHT_INPUT.max).toBeLessThan(LIGHT_MEMORY);
});

test("accepts clips three times as long on the fast core", () => {
  const source = video(854, 480, 300);
  const whole = createPlan(source, "video", { height: 478 });
  const longest = (["stock", "fast"] as const).map((core) => {
    const chunk_seconds = lightChunkSeconds(whole, source, LIGHT_LIMITS, core);
    const fits = (duration: number) => {
      const clip = video(854, 480, duration);
      const plan = createPlan(clip, "video", { height: 478 }, { chunk_seconds });
      return refuseLight(plan, clip, LIGHT_LIMITS, core) === null;
    };
    return Array.from({ length: 200 }, (_, index) => 5 * (index + 1))
      .filter(fits)
      .at(-1);
  });
  expect(longest).toEqual([100, 315]);
});
