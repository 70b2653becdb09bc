import { expect, test } from "vitest";
import { shrinkPlan } from "../../src/media/ffmpeg/image-graph.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import { estimateWork } from "../../src/media/work-estimate.ts";
import { imageSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

const PHOTO = { format: "jpeg", width: 4000, height: 3000, coded_width: 4000, coded_height: 3000 } as const;
const TURNED = { ...PHOTO, width: 3000, height: 4000, rotation: 90 };

const CASES: {
  name: string;
  changes: Partial<Source>;
  options: OptionsOf<"image">;
  shrink: number | undefined;
  crop: object | null;
}[] = [
  { name: "once to a third", changes: PHOTO, options: { width: 1333 }, shrink: 1, crop: null },
  { name: "thrice at most", changes: PHOTO, options: { width: 16 }, shrink: 3, crop: null },
  {
    name: "never to more than a third",
    changes: PHOTO,
    options: { width: 1334 },
    shrink: undefined,
    crop: null,
  },
  { name: "never at its own size", changes: PHOTO, options: {}, shrink: undefined, crop: null },
  {
    name: "no other format",
    changes: { ...PHOTO, format: "png" },
    options: { width: 100 },
    shrink: undefined,
    crop: null,
  },
  {
    name: "a turned picture by its turned sides",
    changes: TURNED,
    options: { width: 700 },
    shrink: 1,
    crop: null,
  },
  {
    name: "by the part that is kept",
    changes: PHOTO,
    options: { crop: { x: 1000, y: 500, width: 1000, height: 1000 }, width: 200 },
    shrink: 1,
    crop: { x: 500, y: 250, width: 500, height: 500 },
  },
  {
    name: "what covers the frame",
    changes: PHOTO,
    options: { width: 500, height: 500, fit: "cover" },
    shrink: 2,
    crop: { x: 125, y: 0, width: 750, height: 750 },
  },
];

test.each(CASES)("a JPEG decoder shrinks $name", ({ changes, options, shrink, crop }) => {
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
