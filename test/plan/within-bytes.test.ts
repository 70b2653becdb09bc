import { expect, test } from "vitest";
import {
  bestTrial,
  type ImageTrial,
  nextTrial,
  type TriedImage,
  trialPlan,
} from "../../src/media/image-trials.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import { imageSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

type Size = (trial: ImageTrial) => number;

// Files that fall by a steady share with each step of quality, and with the pixels.
const steady =
  (whole: number, fall: number, worst = 0): Size =>
  ({ quality, scale }) =>
    Math.round(whole * Math.exp(-fall * Math.abs((quality ?? 0) - worst)) * scale ** 2);

// Quality in four coarse steps, as of an encoder with a scale of its own.
const coarse: Size = ({ quality, scale }) =>
  Math.round(400_000 * (Math.ceil((quality ?? 0) / 20) / 4) * scale ** 2);

const fixed: Size = () => 5000;

function search(options: OptionsOf<"image">, size: Size) {
  const plan = createPlan(
    imageSource({ width: 4000, height: 3000, coded_width: 4000, coded_height: 3000 }),
    "image",
    options,
  );
  const tried: TriedImage[] = [];
  for (let trial = nextTrial(plan, tried); trial; trial = nextTrial(plan, tried)) {
    tried.push({ ...trial, bytes: size(trial) });
    if (tried.length > 20) throw new Error("The search does not end.");
  }
  return { best: bestTrial(plan, tried), tries: tried.length };
}

// Least share of the limit, and the qualities and scales that may come out.
const SEARCHES: {
  name: string;
  options: OptionsOf<"image">;
  size: Size;
  expected: { share: number; quality: [number, number]; scale: [number, number]; tries: number };
}[] = [
  {
    name: "what fits at once",
    options: { format: "jpeg", max_bytes: 500_000 },
    size: steady(400_000, 0.02, 78),
    expected: { share: 0.8, quality: [78, 78], scale: [1, 1], tries: 1 },
  },
  {
    name: "a JPEG of lower quality",
    options: { format: "jpeg", max_bytes: 300_000 },
    size: steady(400_000, 0.02, 78),
    expected: { share: 0.9, quality: [58, 65], scale: [1, 1], tries: 4 },
  },
  {
    name: "a WebP whose size falls slowly",
    options: { format: "webp", max_bytes: 320_000 },
    size: steady(400_000, 0.006, 78),
    expected: { share: 0.9, quality: [40, 48], scale: [1, 1], tries: 6 },
  },
  {
    name: "an AVIF, whose scale is inverse",
    options: { format: "avif", max_bytes: 200_000 },
    size: steady(400_000, 0.07, 35),
    expected: { share: 0.9, quality: [44, 49], scale: [1, 1], tries: 5 },
  },
  {
    name: "a JPEG in coarse steps",
    options: { format: "jpeg", max_bytes: 310_000 },
    size: coarse,
    expected: { share: 0.9, quality: [41, 60], scale: [1, 1], tries: 6 },
  },
  {
    name: "a smaller JPEG",
    options: { format: "jpeg", max_bytes: 20_000 },
    size: steady(400_000, 0.02, 78),
    expected: { share: 0.85, quality: [40, 40], scale: [0.3, 0.35], tries: 6 },
  },
  {
    name: "a smaller PNG",
    options: { format: "png", max_bytes: 100_000 },
    size: steady(400_000, 0),
    expected: { share: 0.85, quality: [0, 0], scale: [0.45, 0.5], tries: 6 },
  },
  {
    name: "nothing lower than what is asked for",
    options: { format: "jpeg", quality: "very_low", max_bytes: 100_000 },
    size: steady(400_000, 0.02, 40),
    expected: { share: 0.85, quality: [40, 40], scale: [0.45, 0.5], tries: 5 },
  },
];

test.for(SEARCHES)("the search finds $name", ({ options, size, expected }) => {
  const { best, tries } = search(options, size);
  if (!best) throw new Error("Nothing fits.");
  expect(best.bytes).toBeLessThanOrEqual(options.max_bytes ?? 0);
  expect(best.bytes / (options.max_bytes ?? 0)).toBeGreaterThanOrEqual(expected.share);
  const quality = best.quality ?? 0;
  expect([quality >= expected.quality[0], quality <= expected.quality[1]], `${quality}`).toEqual([
    true,
    true,
  ]);
  expect([best.scale >= expected.scale[0], best.scale <= expected.scale[1]], `${best.scale}`).toEqual([
    true,
    true,
  ]);
  expect(tries).toBeLessThanOrEqual(expected.tries);
});

test("the search ends where nothing fits", () => {
  const { best, tries } = search({ format: "jpeg", max_bytes: 1000 }, fixed);
  expect(best).toBeUndefined();
  expect(tries).toBeLessThanOrEqual(10);
});

test("a smaller picture keeps its bars in proportion", () => {
  const source = imageSource();
  const plan = createPlan(source, "image", {
    ...{ format: "jpeg", max_bytes: 1000, width: 400, height: 400, background: "#ff0000" },
  });
  expect(trialPlan(plan, source, { quality: 40, scale: 0.25 }).image).toMatchObject({
    quality: 40,
    geometry: {
      ...{ width: 100, height: 100, scale: { width: 100, height: 75 } },
      pad: { width: 100, height: 100, x: 0, y: 13, color: "0xff0000" },
    },
  });
});
