import { expect, test } from "vitest";
import type { OptionsOf } from "../../src/core/options.ts";
import type { Source } from "../../src/core/source.ts";
import { createPlan } from "../../src/plan/create-plan.ts";
import { imageSource, videoSource } from "./source.ts";

const IMAGES: [string, Source, OptionsOf<"image">, object][] = [
  ["its own format", imageSource(), {}, { format: "png", still: true, frames: 1, duration: null }],
  [
    "bmp as jpeg",
    imageSource({ format: "bmp" }),
    {},
    { format: "jpeg", image: { quality: 78, alpha: false } },
  ],
  [
    "a frame",
    videoSource(),
    { start: 3 },
    { format: "jpeg", still: false, start: 3, duration: null, frames: 1 },
  ],
  [
    "png keeps what is clear",
    imageSource({ has_alpha: true }),
    {},
    { image: { alpha: true, matte: null, quality: null } },
  ],
  ["png without is opaque", imageSource(), {}, { image: { alpha: false, matte: null } }],
  [
    "jpeg on black",
    imageSource({ has_alpha: true }),
    { format: "jpeg" },
    { image: { alpha: false, matte: "0x000000" } },
  ],
  [
    "jpeg on its background",
    imageSource({ has_alpha: true }),
    { format: "jpeg", width: 50, height: 50, background: "#abc" },
    { image: { matte: "0xaabbcc", geometry: { pad: { color: "0xaabbcc" } } } },
  ],
  [
    "clear bars",
    imageSource(),
    { width: 50, height: 50, fit: "contain" },
    { image: { alpha: true, geometry: { pad: { color: "0x00000000" } } } },
  ],
  [
    "black bars in AVIF, which not every encoder can write with clear ones",
    imageSource(),
    { format: "avif", width: 50, height: 50, fit: "contain" },
    { image: { alpha: false, geometry: { pad: { color: "0x000000" } } } },
  ],
  [
    "colored bars",
    imageSource(),
    { width: 50, height: 50, background: "#abc" },
    { image: { alpha: false, geometry: { pad: { color: "0xaabbcc" } } } },
  ],
  [
    "HDR",
    videoSource({ color: { hdr: true } }),
    { format: "webp", quality: "high" },
    { image: { tone_map: true, quality: 87 } },
  ],
  ["an odd size", imageSource(), { width: 33 }, { image: { geometry: { width: 33, height: 25 } } }],
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
] as const)("an animation in %s with %o stays one: %s", ([format, options, animated]) => {
  const source = imageSource({ format: "gif", animated: true, duration: 2, fps: 10, has_alpha: true });
  const plan = createPlan(source, "image", { format, ...options });
  expect([plan.image?.animated, plan.frames, plan.duration]).toEqual(
    animated ? [true, 20, 2] : [false, 1, null],
  );
});

test("a video is not an animation, but one makes a video", () => {
  expect(createPlan(videoSource(), "image", { format: "gif" }).image?.animated).toBe(false);
  const gif = imageSource({ format: "gif", animated: true, duration: 2, fps: 10, has_alpha: true });
  expect(createPlan(gif, "video", {})).toMatchObject({
    frames: 20,
    audio: null,
    video: { mode: "encode", matte: "0x000000" },
  });
});
