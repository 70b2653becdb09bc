import { expect, test } from "vitest";
import { drawParts, type Part } from "../../src/browser/page/draw-svg.ts";

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
  ["takes no time", () => 0, 1, 10],
  [
    "takes its time for each of its pixels",
    (_: Part, pixels: number) => (8000 * pixels) / PIXELS,
    150,
    16_000,
  ],
  ["takes the same time at any size", () => 300, 301, 5000],
  [
    "takes the same time in any part",
    (part: Part, pixels: number) => (4500 * pixels) / (part.width * part.height),
    4501,
    15_000,
  ],
  [
    "takes much of its time in any part",
    (part: Part, pixels: number) => ((1500 * pixels) / PIXELS) * (1 + PIXELS / part.width / part.height),
    3001,
    12_000,
  ],
  [
    "takes its time in a corner",
    (part: Part, pixels: number) => {
      const across = Math.max(0, part.x + part.width - Math.max(part.x, 700));
      const down = Math.max(0, part.y + part.height - Math.max(part.y, 500));
      return 1 + 0.4 * across * down * (pixels / (part.width * part.height));
    },
    800,
    16_000,
  ],
] as const)("a picture that %s is drawn once, in parts", async ([, cost, most, sum]) => {
  const { longest, all, times } = await simulate(cost);
  expect(times).toEqual([1]);
  expect(longest).toBeLessThan(most);
  expect(all).toBeLessThan(sum);
});

test.for([
  ["takes too long for each of its pixels", (_: Part, pixels: number) => 2 * pixels],
  ["takes too long whatever its size", (_: Part, pixels: number) => 500 + pixels],
] as const)("a picture that %s fails soon", async ([, cost]) => {
  let spent = 0;
  const counted = (part: Part, pixels: number) => {
    const ms = cost(part, pixels);
    spent += ms;
    return ms;
  };
  await expect(simulate(counted)).rejects.toMatchObject({ kind: "timeout", retryable: false });
  expect(spent).toBeLessThan(20_000);
});
