import { expect, test } from "vitest";
import { drawParts, type Part } from "../../src/browser/draw-svg.ts";

const SIZE = { width: 803, height: 601 };

/** Draws a picture whose parts take these milliseconds; returns the longest and the sum, and how often each pixel was drawn. */
async function simulate(cost: (part: Part, pixels: number) => number) {
  const drawn = new Uint8Array(SIZE.width * SIZE.height);
  let [longest, all] = [0, 0];
  await drawParts(
    SIZE,
    (part, step) => {
      const ms = cost(part, (part.width * part.height) / 4 ** step);
      longest = Math.max(longest, ms);
      all += ms;
      for (let y = part.y; step === 0 && y < part.y + part.height; y++) {
        const row = y * SIZE.width + part.x;
        for (let x = row; x < row + part.width; x++) drawn[x] = (drawn[x] ?? 0) + 1;
      }
      return ms;
    },
    () => Promise.resolve(),
  );
  return { longest, all, times: [...new Set(drawn)] };
}

const PIXELS = SIZE.width * SIZE.height;

test.for([
  { name: "takes no time", cost: () => 0, max: 1, sum: 10 },
  {
    name: "takes its time for each of its pixels",
    cost: (_: Part, pixels: number) => (8000 * pixels) / PIXELS,
    max: 150,
    sum: 16_000,
  },
  { name: "takes the same time at any size", cost: () => 300, max: 301, sum: 5000 },
  {
    name: "takes the same time in any part",
    cost: (part: Part, pixels: number) => (4500 * pixels) / (part.width * part.height),
    max: 4501,
    sum: 15_000,
  },
  {
    name: "takes much of its time in any part",
    cost: (part: Part, pixels: number) =>
      ((1500 * pixels) / PIXELS) * (1 + PIXELS / part.width / part.height),
    max: 3001,
    sum: 12_000,
  },
  {
    name: "takes its time in a corner",
    cost: (part: Part, pixels: number) => {
      const across = Math.max(0, part.x + part.width - Math.max(part.x, 700));
      const down = Math.max(0, part.y + part.height - Math.max(part.y, 500));
      return 1 + 0.4 * across * down * (pixels / (part.width * part.height));
    },
    max: 800,
    sum: 16_000,
  },
] as const)("a picture that $name is drawn once, in parts", async ({ cost, max, sum }) => {
  const { longest, all, times } = await simulate(cost);
  expect(times).toEqual([1]);
  expect(longest).toBeLessThan(max);
  expect(all).toBeLessThan(sum);
});

test.for([
  { name: "takes too long for each of its pixels", cost: (_: Part, pixels: number) => 2 * pixels },
  { name: "takes too long whatever its size", cost: (_: Part, pixels: number) => 500 + pixels },
] as const)("a picture that $name fails soon", async ({ cost }) => {
  let spent = 0;
  const counted = (part: Part, pixels: number) => {
    const ms = cost(part, pixels);
    spent += ms;
    return ms;
  };
  await expect(simulate(counted)).rejects.toMatchObject({ kind: "timeout", retryable: false });
  expect(spent).toBeLessThan(20_000);
});
