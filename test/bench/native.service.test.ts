import { expect, test } from "vitest";
import { sizeAt } from "../../bench/cases/native.ts";

const POINTS = [
  { ssim: 0.98, bytes: 400 },
  { ssim: 0.96, bytes: 100 },
  { ssim: 0.97, bytes: 200 },
];

test.for([
  [0.96, 100],
  [0.97, 200],
  [0.965, 100 * Math.SQRT2],
  [0.975, 200 * Math.SQRT2],
  [0.985, 400 * Math.SQRT2],
  [0.955, 100 / Math.SQRT2],
])("at an SSIM of %d the size is %d", ([ssim, bytes]) => {
  expect(sizeAt(ssim ?? 0, POINTS)).toBeCloseTo(bytes ?? 0, 6);
});
