import { expect, test } from "vitest";
import { estimateWork } from "../../src/media/estimate.ts";
import { shrinkPlan } from "../../src/media/ffmpeg/image-graph.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import { imageSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

const PHOTO = { format: "jpeg", width: 4000, height: 3000, coded_width: 4000, coded_height: 3000 } as const;
const TURNED = { ...PHOTO, width: 3000, height: 4000, rotation: 90 };

const CASES: [
  string,
  Partial<Source>,
  OptionsOf<"image">,
  shrink: number | undefined,
  crop: object | null,
][] = [
  ["once to a third", PHOTO, { width: 1333 }, 1, null],
  ["thrice at most", PHOTO, { width: 16 }, 3, null],
  ["never to more than a third", PHOTO, { width: 1334 }, undefined, null],
  ["never at its own size", PHOTO, {}, undefined, null],
  ["no other format", { ...PHOTO, format: "png" }, { width: 100 }, undefined, null],
  ["a turned picture by its turned sides", TURNED, { width: 700 }, 1, null],
  [
    "by the part that is kept",
    PHOTO,
    { crop: { x: 1000, y: 500, width: 1000, height: 1000 }, width: 200 },
    1,
    { x: 500, y: 250, width: 500, height: 500 },
  ],
  [
    "what covers the frame",
    PHOTO,
    { width: 500, height: 500, fit: "cover" },
    2,
    { x: 125, y: 0, width: 750, height: 750 },
  ],
];

test.each(CASES)("a JPEG decoder shrinks %s", (_, changes, options, shrink, crop) => {
  const source = imageSource(changes);
  const plan = createPlan(source, "image", options);
  const { image } = shrinkPlan(plan, source);
  expect([image?.shrink, image?.geometry.crop]).toEqual([shrink, crop]);
  expect(image?.geometry).toMatchObject({
    width: plan.image?.geometry.width,
    height: plan.image?.geometry.height,
  });
});

test("a shrunk picture counts with the pixels that are decoded", () => {
  const source = imageSource(PHOTO);
  const plan = createPlan(source, "image", { width: 400 });
  expect(estimateWork(plan, source).pixels_decoded).toBe(12_000_000);
  expect(estimateWork(shrinkPlan(plan, source), source).pixels_decoded).toBe(750_000);
});
