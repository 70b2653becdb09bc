import { expect, test } from "vitest";
import { brightnessSpread, PLAIN, thumbnailTimes } from "./thumbnail.ts";

const picture = (...lights: number[]) =>
  new Uint8ClampedArray(lights.flatMap((light) => [light, light, light, 255]));

test.for([
  ["black", picture(0, 0, 0, 0), true],
  ["white", picture(255, 255, 255, 255), true],
  ["nearly black with encoder noise", picture(16, 18, 14, 20), true],
  ["a dark scene", picture(10, 60, 20, 30), false],
  ["stripes", picture(0, 255, 0, 255), false],
] as const)("%s is plain: %s", ([, pixels, isPlain]) => {
  expect(brightnessSpread(pixels) < PLAIN).toBe(isPlain);
});

test("tries an early frame, then frames across the whole film", () => {
  expect(thumbnailTimes(60)).toEqual([1, 15, 30, 45]);
  expect(thumbnailTimes(2)).toEqual([0.5, 0.5, 1, 1.5]);
});
