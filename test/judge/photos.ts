import { QUADRANT_COLORS } from "./clips.ts";
import { colorDistance, type Picture, type Rgba, readPicture } from "./picture.ts";

const CENTERS = [
  [40, 24],
  [120, 24],
  [40, 72],
  [120, 72],
] as const;

/** Returns how far the colors of upright quadrants are, at most, from those that Display P3 means by the original ones. */
export async function p3Errors(path: string): Promise<number> {
  return mostError(await readPicture(path), fromDisplayP3);
}

/** Returns how far the left quadrants' colors are, at most, and the transparency of the right ones. */
export async function clearErrors(path: string): Promise<number> {
  const picture = await readPicture(path);
  const alphas = CENTERS.map(([x, y]) => Math.abs(picture.at(x, y)[3] - (x < 80 ? 255 : 0)));
  return Math.max(
    ...alphas,
    mostError(picture, rgb, (x) => x < 80),
  );
}

function mostError(
  picture: Picture,
  expected: (color: string) => Rgba,
  counts = (_: number) => true,
): number {
  return Math.max(
    ...CENTERS.map(([x, y], index) =>
      counts(x) ? colorDistance(picture.at(x, y), expected(QUADRANT_COLORS[index] ?? "")) : 0,
    ),
  );
}

// Computed from the colorants of Display P3 and sRGB and the curve of sRGB.
const P3_TO_SRGB: readonly (readonly number[])[] = [
  [1.2249, -0.2247, 0],
  [-0.0421, 1.0421, 0],
  [-0.0196, -0.0786, 1.0979],
];
const toLight = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const toValue = (light: number) => (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055);

function fromDisplayP3(color: string): Rgba {
  const light = rgb(color).map((value) => toLight(value / 255));
  const [red = 0, green = 0, blue = 0] = P3_TO_SRGB.map((row) => {
    const sum = row.reduce((total, share, index) => total + share * (light[index] ?? 0), 0);
    return Math.round(255 * toValue(Math.min(1, Math.max(0, sum))));
  });
  return [red, green, blue, 255];
}

function rgb(color: string): Rgba {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return [red, green, blue, 255];
}
