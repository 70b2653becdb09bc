import { expect, test } from "vitest";
import { sizeAt } from "../../bench/cases/native.ts";

const POINTS = [
  { ssim: 0.98, bytes: 400 },
  { ssim: 0.96, bytes: 100 },
  { ssim: 0.97, bytes: 200 },
];

test.for([
  { ssim: 0.96, bytes: 100 },
  { ssim: 0.97, bytes: 200 },
  { ssim: 0.965, bytes: 100 * Math.SQRT2 },
  { ssim: 0.975, bytes: 200 * Math.SQRT2 },
  { ssim: 0.985, bytes: 400 * Math.SQRT2 },
  { ssim: 0.955, bytes: 100 / Math.SQRT2 },
])("at an SSIM of $ssim the size is $bytes", ({ ssim, bytes }) => {
  expect(sizeAt(ssim ?? 0, POINTS)).toBeCloseTo(bytes ?? 0, 6);
});
