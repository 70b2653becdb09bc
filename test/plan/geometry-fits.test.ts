import { expect, test } from "vitest";
import { POSITIONS } from "../../src/media/formats.ts";
import { createGeometry, type StoredPicture } from "../../src/media/picture-geometry.ts";
import type { Geometry } from "../../src/media/plan.ts";

const VIDEO = { even: true, alpha: false };
const PNG = { even: false, alpha: true };
const plain = (width: number, height: number): StoredPicture => ({
  ...{ width, height, pixel_aspect: 1, rotate: 0 },
});
const HD = plain(1920, 1080);

test("crop, scale and pad are consistent for every combination of options", () => {
  const sizes = [undefined, 1, 33, 640, "7%", "150%"] as const;
  const stored = [
    HD,
    plain(3, 2),
    plain(161, 91),
    { width: 720, height: 576, pixel_aspect: 16 / 15, rotate: 270 },
  ] as const;
  let checked = 0;
  for (const picture of stored) {
    for (const width of sizes) {
      for (const height of sizes) {
        for (const fit of ["contain", "cover", "fill"] as const) {
          for (const position of POSITIONS) {
            for (const rules of [VIDEO, PNG]) {
              check(picture, { width, height, fit, position }, rules);
              checked++;
            }
          }
        }
      }
    }
  }
  expect(checked).toBe(4 * 6 * 6 * 3 * 9 * 2);
});

function check(stored: StoredPicture, options: Record<string, unknown>, rules: typeof VIDEO): void {
  const requested = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  let geometry: Geometry;
  try {
    geometry = createGeometry(stored, requested, rules);
  } catch (thrown) {
    // One side of 1 on a wide picture, or 7 % of 2 pixels, rounds to zero.
    expect(Object(thrown).kind).toBe("invalid_options");
    return;
  }
  const { rotate, crop, scale, pad, width, height } = geometry;
  const turned = rotate % 180 === 0 ? stored : { width: stored.height, height: stored.width };
  const part = crop ?? { x: 0, y: 0, ...turned };
  const inner = scale ?? part;
  const outer = pad ?? inner;
  const label = JSON.stringify({ stored, requested, geometry });
  expect(part.x >= 0 && part.x + part.width <= turned.width, label).toBe(true);
  expect(part.y >= 0 && part.y + part.height <= turned.height, label).toBe(true);
  expect([outer.width, outer.height], label).toEqual([width, height]);
  expect(Math.min(inner.width, inner.height, part.width, part.height), label).toBeGreaterThan(0);
  if (pad) {
    expect(pad.x >= 0 && pad.x + inner.width <= pad.width, label).toBe(true);
    expect(pad.y >= 0 && pad.y + inner.height <= pad.height, label).toBe(true);
  }
  const places = [inner.width, inner.height, width, height, pad?.x ?? 0, pad?.y ?? 0];
  if (rules.even)
    expect(
      places.every((place) => place % 2 === 0),
      label,
    ).toBe(true);
}
