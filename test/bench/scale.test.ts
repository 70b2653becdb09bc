import { expect, test } from "vitest";
import { simulate } from "../../bench/cases/scale.ts";

const COSTS = { picture: 0.5, chunk: 1, sound: 0.01, stitch: 0.001, start: 2 };
const film = Array.from({ length: 12 }, () => 100);

test("one container does everything in sequence", () => {
  const run = simulate(film, 1200, 1, COSTS);
  // 2 s of start, 12 × 51 s of pictures, 13 s of sound, 1.2 s of stitching.
  expect(run.seconds).toBeCloseTo(2 + 612 + 13 + 1.2, 6);
  expect(run.chunks).toBe(12);
});

test("the price counts processors while they encode, and memory and disk while a container is held", () => {
  const run = simulate(film, 1200, 1, COSTS);
  const rented = (2 + 625) * (8 * 0.0000025 + 16 * 0.00000007);
  expect(run.dollars).toBeCloseTo(rented + 625 * 2 * 0.00002, 9);
});

test("more containers than chunks gain nothing", () => {
  const enough = simulate(film, 1200, 13, COSTS);
  expect(enough.seconds).toBeCloseTo(2 + 51 + 1.2, 6);
  expect(simulate(film, 1200, 128, COSTS).seconds).toBe(enough.seconds);
  expect(simulate(film, 1200, 128, COSTS).efficiency).toBeLessThan(0.1);
});

test("two containers halve the time of the chunks", () => {
  const run = simulate(film, 1200, 2, COSTS);
  expect(run.seconds).toBeCloseTo(2 + 6 * 51 + 13 + 1.2, 6);
});
