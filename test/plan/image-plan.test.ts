import { expect, test } from "vitest";
import { estimateWork } from "../../src/media/estimate.ts";
import { keyframesSuffice } from "../../src/media/features/storyboard.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import { imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const GIF = imageSource({ format: "gif", animated: true, duration: 2, fps: 10, has_alpha: true });
const small = (width: number, height: number) => ({
  width,
  height,
  coded_width: width,
  coded_height: height,
});

const IMAGES: [string, Source, OptionsOf<"image">, object][] = [
  ["keeps its own format", imageSource(), {}, { format: "png", still: true, frames: 1, duration: null }],
  [
    "turns BMP into JPEG",
    imageSource({ format: "bmp" }),
    {},
    { format: "jpeg", image: { quality: 78, alpha: false } },
  ],
  [
    "takes one frame of a video",
    videoSource(),
    { start: 3 },
    { format: "jpeg", still: false, start: 3, duration: null, frames: 1 },
  ],
  [
    "keeps transparency in PNG",
    imageSource({ has_alpha: true }),
    {},
    { image: { alpha: true, matte: null, quality: null } },
  ],
  ["writes opaque PNG without it", imageSource(), {}, { image: { alpha: false, matte: null } }],
  [
    "flattens JPEG on black",
    imageSource({ has_alpha: true }),
    { format: "jpeg" },
    { image: { alpha: false, matte: "0x000000" } },
  ],
  [
    "flattens JPEG on its background",
    imageSource({ has_alpha: true }),
    { format: "jpeg", width: 50, height: 50, background: "#abc" },
    { image: { matte: "0xaabbcc", geometry: { pad: { color: "0xaabbcc" } } } },
  ],
  [
    "adds transparent bars",
    imageSource(),
    { width: 50, height: 50, fit: "contain" },
    { image: { alpha: true, geometry: { pad: { color: "0x00000000" } } } },
  ],
  [
    "adds black bars in AVIF, as not every encoder writes transparent AVIF",
    imageSource(),
    { format: "avif", width: 50, height: 50, fit: "contain" },
    { image: { alpha: false, geometry: { pad: { color: "0x000000" } } } },
  ],
  [
    "adds colored bars",
    imageSource(),
    { width: 50, height: 50, background: "#abc" },
    { image: { alpha: false, geometry: { pad: { color: "0xaabbcc" } } } },
  ],
  [
    "tone-maps HDR",
    videoSource({ color: { hdr: true } }),
    { format: "webp", quality: "high" },
    { image: { tone_map: true, quality: 87 } },
  ],
  ["allows odd sizes", imageSource(), { width: 33 }, { image: { geometry: { width: 33, height: 25 } } }],
];

test.for(IMAGES)("image: %s", ([, source, options, wanted]) => {
  expect(createPlan(source, "image", options)).toMatchObject(wanted);
});

test.for([
  ["gif", {}, true],
  ["webp", {}, true],
  ["png", {}, false],
  ["jpeg", {}, false],
  ["gif", { start: 0.5 }, false],
] as const)("an animation as %s with %o stays animated: %s", ([format, options, animated]) => {
  const plan = createPlan(GIF, "image", { format, ...options });
  expect([plan.image?.animated, plan.frames, plan.duration]).toEqual(
    animated ? [true, 20, 2] : [false, 1, null],
  );
});

test("a video becomes a still GIF, and an animation becomes a video", () => {
  expect(createPlan(videoSource(), "image", { format: "gif" }).image?.animated).toBe(false);
  expect(createPlan(GIF, "video", {})).toMatchObject({
    frames: 20,
    audio: null,
    video: { mode: "encode", matte: "0x000000" },
  });
});

const ANIMATED: [string, Source, OptionsOf<"animation">, object][] = [
  [
    "has 12 frames per second and is 480 wide",
    videoSource({ duration: 10 }),
    {},
    {
      format: "gif",
      frames: 120,
      duration: 10,
      audio: null,
      image: { geometry: { width: 480, height: 270 } },
    },
  ],
  [
    "is no faster and no larger than its source",
    videoSource({ ...small(320, 180), fps: 8 }),
    {},
    { image: { motion: { fps: 8 }, geometry: { width: 320 } } },
  ],
  [
    "keeps its shape when it is cut to it",
    videoSource(),
    { crop: "1:1" },
    { image: { geometry: { width: 480, height: 480 } } },
  ],
  ["is as tall as asked", videoSource(), { height: 90 }, { image: { geometry: { width: 160, height: 90 } } }],
  [
    "is a stretch",
    videoSource({ duration: 10 }),
    { start: 2, end: 4, fps: 10 },
    { start: 2, end: 4, frames: 20 },
  ],
  [
    "of a picture keeps its times",
    GIF,
    { format: "webp" },
    { frames: 20, image: { animated: true, motion: { fps: null, loop: 0, palette: null } } },
  ],
];

test.for(ANIMATED)("an animation %s", ([, source, options, wanted]) => {
  expect(createPlan(source, "animation", options)).toMatchObject(wanted);
});

test.for([
  [
    "sound alone",
    videoSource({ kind: "audio", codecs: { video: null, audio: "aac" } }),
    {},
    "input_no_video",
  ],
  ["a still", imageSource(), {}, "input_no_video"],
  ["a stretch beyond its end", videoSource({ duration: 10 }), { start: 10 }, "invalid_options"],
] as const)("an animation of %s is refused", ([, source, options, kind]) => {
  expect(() => createPlan(source, "animation", options)).toThrow(expect.objectContaining({ kind }));
});

test("the frames of a GIF wait in memory for its palette, and those of a WebP do not", () => {
  const held = (format: "gif" | "webp") => {
    const source = videoSource({ duration: 10 });
    return estimateWork(createPlan(source, "animation", { format }), source).pixels_held;
  };
  expect([held("gif"), held("webp")]).toEqual([120 * 480 * 270, 0]);
});

const SHEETS: [string, number, OptionsOf<"storyboard">, object][] = [
  ["of a minute", 60, {}, { interval: 1, tiles: 60, columns: 5, rows: 5, sheets: 3 }],
  ["of an hour", 3600, {}, { interval: 10, tiles: 360, columns: 5, rows: 5, sheets: 15 }],
  ["of five minutes", 300, {}, { interval: 3, tiles: 100, sheets: 4 }],
  ["no larger than its tiles", 3, { interval: 1 }, { tiles: 3, columns: 3, rows: 1, sheets: 1 }],
  ["of a moment", 0.04, {}, { tiles: 1, columns: 1, rows: 1, sheets: 1 }],
  [
    "of a stretch",
    60,
    { start: 10, end: 15, interval: 2, columns: 2, rows: 1 },
    { tiles: 3, columns: 2, rows: 1, sheets: 2 },
  ],
];

test.for(SHEETS)("a storyboard %s", ([, duration, options, sheet]) => {
  const plan = createPlan(videoSource({ duration }), "storyboard", options);
  expect(plan.image).toMatchObject({ sheet, geometry: { width: 160, height: 90 } });
  expect([plan.kind, plan.frames, plan.audio]).toEqual(["storyboard", plan.image?.sheet?.sheets, null]);
});

test.for([
  [
    "sound alone",
    videoSource({ kind: "audio", codecs: { video: null, audio: "aac" } }),
    {},
    "input_no_video",
  ],
  ["a still", imageSource(), {}, "input_no_video"],
  ["an unknown duration", videoSource({ duration: undefined }), {}, "input_unsupported"],
  ["too many tiles", videoSource({ duration: 1001 }), { interval: 0.1 }, "invalid_options"],
  ["too large a sheet", videoSource({ duration: 60 }), { width: 1920, columns: 20 }, "invalid_options"],
] as const)("a storyboard of %s is refused", ([, source, options, kind]) => {
  expect(() => createPlan(source, "storyboard", options)).toThrow(expect.objectContaining({ kind }));
});

const STILLS: [string, Source, OptionsOf<"image">, object][] = [
  ["by their number", videoSource({ duration: 10 }), { count: 4 }, { interval: 2.5, tiles: 4 }],
  ["by their distance", videoSource({ duration: 10 }), { interval: 3, start: 1 }, { interval: 3, tiles: 3 }],
  [
    "a whole number of milliseconds apart",
    videoSource({ duration: 2.5 }),
    { interval: 1.001 },
    { interval: 1.001 },
  ],
  ["a millisecond apart", videoSource({ duration: 0.04 }), { count: 40 }, { interval: 0.001, tiles: 40 }],
  ["of uneven times", videoSource({ duration: 10 }), { count: 3 }, { interval: 3.333, tiles: 3 }],
  ["beyond the end", videoSource({ duration: 10 }), { interval: 60 }, { tiles: 1 }],
  ["of a GIF", GIF, { count: 2 }, { interval: 1, tiles: 2 }],
];

test.for(STILLS)("several stills %s", ([, source, options, sheet]) => {
  const plan = createPlan(source, "image", options);
  expect(plan).toMatchObject({ kind: "image", format: "jpeg", still: false, image: { sheet } });
  expect(plan.frames).toBe(plan.image?.sheet?.sheets);
});

test.for([
  ["a still", imageSource(), { count: 2 }, "options.count"],
  ["a still, by distance", imageSource(), { interval: 2 }, "options.interval"],
  ["too many", videoSource({ duration: 60 }), { interval: 0.1 }, "options.interval"],
  ["more than a video has milliseconds", videoSource({ duration: 0.04 }), { count: 41 }, "options.count"],
  ["a start beyond the end", videoSource({ duration: 10 }), { count: 2, start: 10 }, "options.start"],
] as const)("several stills of %s are refused", ([, source, options, param]) => {
  expect(() => createPlan(source, "image", options)).toThrow(
    expect.objectContaining({ kind: "invalid_options", param }),
  );
});

test.for([
  ["one in every tile's time", [0, 0.8, 1.6, 2.4], true],
  ["none in one", [0, 1.2, 3], false],
  ["none", [], false],
  ["one at every tile's start", [0, 1, 2, 3], true],
] as const)("keyframes with %s suffice: %s", ([, keyframes, enough]) => {
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
