import { expect, test } from "vitest";
import { keyframesSuffice } from "../../src/media/features/storyboard.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import { estimateWork } from "../../src/media/work-estimate.ts";
import { imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const GIF = imageSource({ format: "gif", animated: true, duration: 2, fps: 10, has_alpha: true });
const small = (width: number, height: number) => ({
  width,
  height,
  coded_width: width,
  coded_height: height,
});

const IMAGES: { name: string; source: Source; options: OptionsOf<"image">; expected: object }[] = [
  {
    name: "keeps its own format",
    source: imageSource(),
    options: {},
    expected: { format: "png", still: true, frames: 1, duration: null },
  },
  {
    name: "turns BMP into JPEG",
    source: imageSource({ format: "bmp" }),
    options: {},
    expected: { format: "jpeg", image: { quality: 78, alpha: false } },
  },
  {
    name: "takes one frame of a video",
    source: videoSource(),
    options: { start: 3 },
    expected: { format: "jpeg", still: false, start: 3, duration: null, frames: 1 },
  },
  {
    name: "keeps transparency in PNG",
    source: imageSource({ has_alpha: true }),
    options: {},
    expected: { image: { alpha: true, matte: null, quality: null } },
  },
  {
    name: "writes opaque PNG without it",
    source: imageSource(),
    options: {},
    expected: { image: { alpha: false, matte: null } },
  },
  {
    name: "flattens JPEG on black",
    source: imageSource({ has_alpha: true }),
    options: { format: "jpeg" },
    expected: { image: { alpha: false, matte: "0x000000" } },
  },
  {
    name: "flattens JPEG on its background",
    source: imageSource({ has_alpha: true }),
    options: { format: "jpeg", width: 50, height: 50, background: "#abc" },
    expected: { image: { matte: "0xaabbcc", geometry: { pad: { color: "0xaabbcc" } } } },
  },
  {
    name: "adds transparent bars",
    source: imageSource(),
    options: { width: 50, height: 50, fit: "contain" },
    expected: { image: { alpha: true, geometry: { pad: { color: "0x00000000" } } } },
  },
  {
    name: "adds black bars in AVIF, as not every encoder writes transparent AVIF",
    source: imageSource(),
    options: { format: "avif", width: 50, height: 50, fit: "contain" },
    expected: { image: { alpha: false, geometry: { pad: { color: "0x000000" } } } },
  },
  {
    name: "adds colored bars",
    source: imageSource(),
    options: { width: 50, height: 50, background: "#abc" },
    expected: { image: { alpha: false, geometry: { pad: { color: "0xaabbcc" } } } },
  },
  {
    name: "tone-maps HDR",
    source: videoSource({ color: { hdr: true } }),
    options: { format: "webp", quality: "high" },
    expected: { image: { tone_map: true, quality: 87 } },
  },
  {
    name: "allows odd sizes",
    source: imageSource(),
    options: { width: 33 },
    expected: { image: { geometry: { width: 33, height: 25 } } },
  },
];

test.for(IMAGES)("image: $name", ({ source, options, expected }) => {
  expect(createPlan(source, "image", options)).toMatchObject(expected);
});

test.for([
  { format: "gif", options: {}, animated: true },
  { format: "webp", options: {}, animated: true },
  { format: "png", options: {}, animated: false },
  { format: "jpeg", options: {}, animated: false },
  { format: "gif", options: { start: 0.5 }, animated: false },
] as const)(
  "an animation as $format with $options stays animated: $animated",
  ({ format, options, animated }) => {
    const plan = createPlan(GIF, "image", { format, ...options });
    expect([plan.image?.animated, plan.frames, plan.duration]).toEqual(
      animated ? [true, 20, 2] : [false, 1, null],
    );
  },
);

test("a video becomes a still GIF, and an animation becomes a video", () => {
  expect(createPlan(videoSource(), "image", { format: "gif" }).image?.animated).toBe(false);
  expect(createPlan(GIF, "video", {})).toMatchObject({
    frames: 20,
    audio: null,
    video: { mode: "encode", matte: "0x000000" },
  });
});

const ANIMATED: { name: string; source: Source; options: OptionsOf<"animation">; expected: object }[] = [
  {
    name: "has 12 frames per second and is 480 wide",
    source: videoSource({ duration: 10 }),
    options: {},
    expected: {
      format: "gif",
      frames: 120,
      duration: 10,
      audio: null,
      image: { geometry: { width: 480, height: 270 } },
    },
  },
  {
    name: "is no faster and no larger than its source",
    source: videoSource({ ...small(320, 180), fps: 8 }),
    options: {},
    expected: { image: { motion: { fps: 8 }, geometry: { width: 320 } } },
  },
  {
    name: "keeps its shape when it is cut to it",
    source: videoSource(),
    options: { crop: "1:1" },
    expected: { image: { geometry: { width: 480, height: 480 } } },
  },
  {
    name: "is as tall as asked",
    source: videoSource(),
    options: { height: 90 },
    expected: { image: { geometry: { width: 160, height: 90 } } },
  },
  {
    name: "is a stretch",
    source: videoSource({ duration: 10 }),
    options: { start: 2, end: 4, fps: 10 },
    expected: { start: 2, end: 4, frames: 20 },
  },
  {
    name: "of a picture keeps its times",
    source: GIF,
    options: { format: "webp" },
    expected: { frames: 20, image: { animated: true, motion: { fps: null, loop: 0, palette: null } } },
  },
];

test.for(ANIMATED)("an animation $name", ({ source, options, expected }) => {
  expect(createPlan(source, "animation", options)).toMatchObject(expected);
});

test.for([
  {
    name: "sound alone",
    source: videoSource({ kind: "audio", codecs: { video: null, audio: "aac" } }),
    options: {},
    kind: "input_no_video",
  },
  { name: "a still", source: imageSource(), options: {}, kind: "input_no_video" },
  {
    name: "a stretch beyond its end",
    source: videoSource({ duration: 10 }),
    options: { start: 10 },
    kind: "invalid_options",
  },
] as const)("an animation of $name is refused", ({ source, options, kind }) => {
  expect(() => createPlan(source, "animation", options)).toThrow(expect.objectContaining({ kind }));
});

test("a GIF buffers its frames for the palette, and a WebP does not", () => {
  const buffered = (format: "gif" | "webp") => {
    const source = videoSource({ duration: 10 });
    return estimateWork(createPlan(source, "animation", { format }), source).pixels_held;
  };
  expect([buffered("gif"), buffered("webp")]).toEqual([120 * 480 * 270, 0]);
});

const SHEETS: { name: string; duration: number; options: OptionsOf<"storyboard">; sheet: object }[] = [
  {
    name: "of a minute",
    duration: 60,
    options: {},
    sheet: { interval: 1, tiles: 60, columns: 5, rows: 5, sheets: 3 },
  },
  {
    name: "of an hour",
    duration: 3600,
    options: {},
    sheet: { interval: 10, tiles: 360, columns: 5, rows: 5, sheets: 15 },
  },
  { name: "of five minutes", duration: 300, options: {}, sheet: { interval: 3, tiles: 100, sheets: 4 } },
  {
    name: "no larger than its tiles",
    duration: 3,
    options: { interval: 1 },
    sheet: { tiles: 3, columns: 3, rows: 1, sheets: 1 },
  },
  { name: "of a moment", duration: 0.04, options: {}, sheet: { tiles: 1, columns: 1, rows: 1, sheets: 1 } },
  {
    name: "of a stretch",
    duration: 60,
    options: { start: 10, end: 15, interval: 2, columns: 2, rows: 1 },
    sheet: { tiles: 3, columns: 2, rows: 1, sheets: 2 },
  },
];

test.for(SHEETS)("a storyboard $name", ({ duration, options, sheet }) => {
  const plan = createPlan(videoSource({ duration }), "storyboard", options);
  expect(plan.image).toMatchObject({ sheet, geometry: { width: 160, height: 90 } });
  expect([plan.kind, plan.frames, plan.audio]).toEqual(["storyboard", plan.image?.sheet?.sheets, null]);
});

test.for([
  {
    name: "sound alone",
    source: videoSource({ kind: "audio", codecs: { video: null, audio: "aac" } }),
    options: {},
    kind: "input_no_video",
  },
  { name: "a still", source: imageSource(), options: {}, kind: "input_no_video" },
  {
    name: "an unknown duration",
    source: videoSource({ duration: undefined }),
    options: {},
    kind: "input_unsupported",
  },
  {
    name: "too many tiles",
    source: videoSource({ duration: 1001 }),
    options: { interval: 0.1 },
    kind: "invalid_options",
  },
  {
    name: "too large a sheet",
    source: videoSource({ duration: 60 }),
    options: { width: 1920, columns: 20 },
    kind: "invalid_options",
  },
] as const)("a storyboard of $name is refused", ({ source, options, kind }) => {
  expect(() => createPlan(source, "storyboard", options)).toThrow(expect.objectContaining({ kind }));
});

const STILLS: { name: string; source: Source; options: OptionsOf<"image">; sheet: object }[] = [
  {
    name: "by their number",
    source: videoSource({ duration: 10 }),
    options: { count: 4 },
    sheet: { interval: 2.5, tiles: 4 },
  },
  {
    name: "by their distance",
    source: videoSource({ duration: 10 }),
    options: { interval: 3, start: 1 },
    sheet: { interval: 3, tiles: 3 },
  },
  {
    name: "a whole number of milliseconds apart",
    source: videoSource({ duration: 2.5 }),
    options: { interval: 1.001 },
    sheet: { interval: 1.001 },
  },
  {
    name: "a millisecond apart",
    source: videoSource({ duration: 0.04 }),
    options: { count: 40 },
    sheet: { interval: 0.001, tiles: 40 },
  },
  {
    name: "of uneven times",
    source: videoSource({ duration: 10 }),
    options: { count: 3 },
    sheet: { interval: 3.333, tiles: 3 },
  },
  {
    name: "beyond the end",
    source: videoSource({ duration: 10 }),
    options: { interval: 60 },
    sheet: { tiles: 1 },
  },
  { name: "of a GIF", source: GIF, options: { count: 2 }, sheet: { interval: 1, tiles: 2 } },
];

test.for(STILLS)("several stills $name", ({ source, options, sheet }) => {
  const plan = createPlan(source, "image", options);
  expect(plan).toMatchObject({ kind: "image", format: "jpeg", still: false, image: { sheet } });
  expect(plan.frames).toBe(plan.image?.sheet?.sheets);
});

test.for([
  { name: "a still", source: imageSource(), options: { count: 2 }, param: "options.count" },
  {
    name: "a still, by distance",
    source: imageSource(),
    options: { interval: 2 },
    param: "options.interval",
  },
  {
    name: "too many",
    source: videoSource({ duration: 60 }),
    options: { interval: 0.1 },
    param: "options.interval",
  },
  {
    name: "more than a video has milliseconds",
    source: videoSource({ duration: 0.04 }),
    options: { count: 41 },
    param: "options.count",
  },
  {
    name: "a start beyond the end",
    source: videoSource({ duration: 10 }),
    options: { count: 2, start: 10 },
    param: "options.start",
  },
] as const)("several stills of $name are refused", ({ source, options, param }) => {
  expect(() => createPlan(source, "image", options)).toThrow(
    expect.objectContaining({ kind: "invalid_options", param }),
  );
});

test.for([
  { name: "one in every tile's time", keyframes: [0, 0.8, 1.6, 2.4], enough: true },
  { name: "none in one", keyframes: [0, 1.2, 3], enough: false },
  { name: "none", keyframes: [], enough: false },
  { name: "one at every tile's start", keyframes: [0, 1, 2, 3], enough: true },
] as const)("keyframes with $name suffice: $keyframes", ({ keyframes, enough }) => {
  const plan = createPlan(videoSource({ duration: 2.5 }), "storyboard", { interval: 1 });
  if (!plan.image?.sheet) throw new Error("There is no sheet.");
  expect(keyframesSuffice(keyframes, plan, plan.image.sheet)).toBe(enough);
});

test("a storyboard has at most 500 sheets", () => {
  const source = videoSource({ duration: 500 });
  const options = { interval: 1, columns: 1, rows: 1 };
  expect(createPlan(source, "storyboard", options).image?.sheet?.sheets).toBe(500);
  expect(() => createPlan(videoSource({ duration: 501 }), "storyboard", options)).toThrow(
    expect.objectContaining({
      kind: "invalid_options",
      param: "options.columns",
      message: expect.stringContaining("at most 500 sheets; 1x1 tiles make 501"),
    }),
  );
});
