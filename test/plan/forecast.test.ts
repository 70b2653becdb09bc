import { expect, test } from "vitest";
import { createPlan, dropped, forecast, listDropped } from "../../src/media/index.ts";
import type { Source } from "../../src/media/source.ts";
import { audioSource, faultOf, imageSource, videoSource } from "./source.ts";

const nothing = {
  ...{ format: "mp4", width: 1920, height: 1080, duration: 10, enlarged: false, copied: false },
  ...{ renditions: [], pictures: null, bytes: null, quality: null },
};
const streams = [
  { index: 0, kind: "video" as const, codec: "h264", bitrate: 4_000_000 },
  { index: 1, kind: "audio" as const, codec: "aac", bitrate: 128_000 },
];

test("a copy keeps the size in pixels and the bytes", () => {
  // 4128000 bits per second are 5160000 bytes; the container adds 13219.
  expect(forecast("video", {}, videoSource({ streams }))).toEqual({
    ...nothing,
    copied: true,
    bytes: 5_173_219,
  });
  expect(forecast("video", {}, videoSource())).toEqual({ ...nothing, copied: true });
  // For some files only the bitrates of the whole and of the audio are known.
  const whole = videoSource({ bitrate: 4_128_000, streams: streams.slice(1) });
  expect(forecast("video", {}, whole).bytes).toBe(5_173_219);
});

test("forecasts the size in pixels of an encode by quality, but no bytes", () => {
  expect(forecast("video", { quality: "low", height: 720 }, videoSource())).toEqual({
    ...{ ...nothing, width: 1280, height: 720 },
  });
});

test("says that a raster is enlarged, and an SVG is not", () => {
  const small = imageSource({ width: 80, height: 40, coded_width: 80, coded_height: 40 });
  expect(forecast("image", { width: 400 }, small).enlarged).toBe(true);
  expect(forecast("image", { width: 400 }, { ...small, format: "svg" }).enlarged).toBe(false);
});

test.for([
  { bitrate: 300_000, quality: "poor" },
  { bitrate: 2_000_000, quality: "very_low" },
  { bitrate: 4_000_000, quality: "low" },
  { bitrate: 6_000_000, quality: "medium" },
  { bitrate: 60_000_000, quality: "very_high" },
] as const)(
  "forecasts the bytes of a bitrate of $bitrate, and the quality $quality",
  ({ bitrate, quality }) => {
    const source = videoSource({ codecs: { video: "h264", audio: null } });
    const bytes = (bitrate * 10) / 8 + 4000 + 250 * 20;
    expect(forecast("video", { bitrate }, source)).toEqual({ ...nothing, bytes, quality });
  },
);

test("forecasts a higher quality where the source's own bitrate shows simple pictures", () => {
  const of = (bits: number) =>
    forecast("video", { bitrate: 2_000_000 }, videoSource({ bitrate: bits })).quality;
  expect([of(20_000_000), of(1_500_000), of(600_000)]).toEqual(["very_low", "very_low", "very_high"]);
});

test.for([
  { format: "mp3", bytes: 161_000 + 3876 },
  { format: "wav", bytes: 1_764_044 },
  { format: "flac", bytes: null },
] as const)("forecasts for audio as $format: $bytes bytes", ({ format, bytes }) => {
  expect(
    forecast("audio", { format }, audioSource({ format: "flac", codecs: { video: null, audio: "alac" } })),
  ).toEqual({
    ...{ ...nothing, format, width: null, height: null, bytes },
  });
});

test.for([
  { options: { width: 1200 }, enlarged: true },
  { options: { width: 400, height: 301 }, enlarged: false },
  { options: { width: 500, height: 100, fit: "contain" }, enlarged: false },
  { options: { width: 500, height: 100, fit: "cover" }, enlarged: true },
  { options: { width: 100, height: 250, fit: "cover" }, enlarged: false },
  { options: { width: 100, height: 350, fit: "fill" }, enlarged: true },
] as const)("a 400x300 picture as $options is enlarged: $enlarged", ({ options, enlarged }) => {
  expect(forecast("image", options, imageSource())).toMatchObject({ format: "png", enlarged, bytes: null });
});

test("judges enlargement of non-square pixels by the displayed size", () => {
  const source = videoSource({
    coded_width: 1440,
    sample_aspect_ratio: "4:3",
    codecs: { video: "h264", audio: null },
  });
  expect(forecast("video", {}, source)).toMatchObject({ width: 1920, height: 1080, enlarged: false });
  const cover = { width: 960, height: 1080, fit: "cover" } as const;
  expect(forecast("video", cover, source)).toMatchObject({ width: 960, height: 1080, enlarged: false });
});

test("forecasts the renditions of adaptive video", () => {
  expect(forecast("adaptive_video", {}, videoSource({ height: 720 }))).toMatchObject({
    ...{ width: 1920, height: 1080, format: "hls", bytes: null },
    renditions: [1080, 720, 480, 360, 240],
  });
});

test("rejects impossible plans with the planner's own errors", () => {
  expect(faultOf(() => forecast("video", {}, imageSource())).kind).toBe("input_no_video");
  expect(faultOf(() => forecast("audio", { start: 20 }, audioSource()))).toMatchObject({
    kind: "invalid_options",
    param: "options.start",
  });
});

test.for([
  { kind: "video", options: { format: "mp4" }, reason: "no_place_in_format" },
  { kind: "video", options: { format: "webm", width: 320 }, reason: undefined },
  { kind: "video", options: { format: "webm", codec: "av1" }, reason: "not_supported" },
  { kind: "adaptive_video", options: {}, reason: "no_place_in_format" },
  { kind: "image", options: { format: "jpeg" }, reason: "no_place_in_format" },
  { kind: "image", options: { format: "png" }, reason: undefined },
  { kind: "video", options: { format: "webm", mode: "copy" }, reason: undefined },
] as const)(
  "$kind with $options says that transparency is flattened: $reason",
  ({ kind, options, reason }) => {
    const source = videoSource({
      ...{ format: "webm", has_alpha: true, codecs: { video: "vp9", audio: null }, audio: undefined },
      streams: [{ index: 0, kind: "video", codec: "vp9" }],
    } as object);
    const alpha = dropped(kind, options, source).filter((each) => each.kind === "alpha");
    expect(alpha).toEqual(reason ? [{ kind: "alpha", index: 0, reason }] : []);
  },
);

test("pictures of joined videos beyond 60 a second are listed as dropped", () => {
  const concat = [{ url: "https://example.com/b.mp4" }];
  const fast = videoSource({ fps: 119.88, constant_fps: true });
  const slow = videoSource({ fps: 59.94, constant_fps: true });
  const lost = (source: Source, other: Source) =>
    listDropped(createPlan(source, "video", { concat }, { extra: [other] }), source).filter(
      ({ kind }) => kind === "pictures",
    );
  expect(lost(slow, slow)).toEqual([]);
  expect(lost(fast, slow)).toMatchObject([{ reason: "not_supported" }]);
  expect(lost(slow, fast)).toMatchObject([{ reason: "not_supported", part: 1 }]);
});

test("a slower video of 60 pictures a second has all those of a faster source", () => {
  const fast = videoSource({ fps: 119.88, constant_fps: true });
  const lost = (speed: number) =>
    dropped("video", { fps: 60, speed }, fast).filter(({ kind }) => kind === "pictures");
  expect(lost(0.5)).toEqual([]);
  // The caller names the rate; without it, all pictures would be kept.
  expect(lost(0.8)).toMatchObject([{ reason: "asked" }]);
  expect(dropped("video", { speed: 0.8 }, fast).filter(({ kind }) => kind === "pictures")).toEqual([]);
});
