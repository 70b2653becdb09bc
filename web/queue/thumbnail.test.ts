import { expect, test } from "vitest";
import { brightnessSpread, PLAIN, thumbnailTimes } from "./thumbnail.ts";

const picture = (...lights: number[]) =>
  new Uint8ClampedArray(lights.flatMap((light) => [light, light, light, 255]));

test.for([
  { name: "black", pixels: picture(0, 0, 0, 0), isPlain: true },
  { name: "white", pixels: picture(255, 255, 255, 255), isPlain: true },
  { name: "nearly black with encoder noise", pixels: picture(16, 18, 14, 20), isPlain: true },
  { name: "a dark scene", pixels: picture(10, 60, 20, 30), isPlain: false },
  { name: "stripes", pixels: picture(0, 255, 0, 255), isPlain: false },
] as const)("$name is plain: $pixels", ({ pixels, isPlain }) => {
  expect(brightnessSpread(pixels) < PLAIN).toBe(isPlain);
});

test("tries an early frame, then frames across the whole film", () => {
  expect(thumbnailTimes(60)).toEqual([1, 15, 30, 45]);
  expect(thumbnailTimes(2)).toEqual([0.5, 0.5, 1, 1.5]);
});
