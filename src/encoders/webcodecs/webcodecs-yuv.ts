import type { Size } from "../../plan/size.ts";

/** The YUV matrices that pictures are written with. */
export type Matrix = "bt709" | "smpte170m";

// Weights of red and blue in luma: ITU-R BT.709 and BT.601.
const WEIGHTS = { bt709: [0.2126, 0.0722], smpte170m: [0.299, 0.114] } as const satisfies Record<
  Matrix,
  readonly [red: number, blue: number]
>;

// Fixed-point precision, so that the pixel loop needs only integers.
const BITS = 15;
const ONE = 1 << BITS;
const HALF = ONE >> 1;

/**
 * Converts RGBA pixels to I420 planes in limited range, averaging chroma over four pixels. Browsers would convert to full
 * range, which some players misread. Width and height must be even.
 */
export function toI420(
  rgba: Uint8ClampedArray,
  { width, height }: Size,
  matrix: Matrix,
  into: Uint8Array,
): void {
  const [red, blue] = WEIGHTS[matrix];
  const part = (weight: number, scale: number) => Math.round(weight * scale * ONE);
  const green = 1 - red - blue;
  const [light, color] = [219 / 255, 224 / 255];
  const [yr, yg, yb] = [part(red, light), part(green, light), part(blue, light)];
  const u = color / (2 * (1 - blue));
  const v = color / (2 * (1 - red));
  const [ur, ug, ub] = [part(-red, u), part(-green, u), part(1 - blue, u)];
  const [vr, vg, vb] = [part(1 - red, v), part(-green, v), part(-blue, v)];
  const y0 = (16 << BITS) + HALF;
  // Chroma sums four pixels.
  const c0 = (128 << (BITS + 2)) + (HALF << 2);
  const row = width * 4;
  let cb = width * height;
  let cr = cb + cb / 4;
  for (let top = 0; top < height; top += 2) {
    let at = top * row;
    let luma = top * width;
    for (let left = 0; left < width; left += 2) {
      const below = at + row;
      const [r1, g1, b1] = [rgba[at] as number, rgba[at + 1] as number, rgba[at + 2] as number];
      const [r2, g2, b2] = [rgba[at + 4] as number, rgba[at + 5] as number, rgba[at + 6] as number];
      const [r3, g3, b3] = [rgba[below] as number, rgba[below + 1] as number, rgba[below + 2] as number];
      const [r4, g4, b4] = [rgba[below + 4] as number, rgba[below + 5] as number, rgba[below + 6] as number];
      into[luma] = (yr * r1 + yg * g1 + yb * b1 + y0) >> BITS;
      into[luma + 1] = (yr * r2 + yg * g2 + yb * b2 + y0) >> BITS;
      into[luma + width] = (yr * r3 + yg * g3 + yb * b3 + y0) >> BITS;
      into[luma + width + 1] = (yr * r4 + yg * g4 + yb * b4 + y0) >> BITS;
      const [r, g, b] = [r1 + r2 + r3 + r4, g1 + g2 + g3 + g4, b1 + b2 + b3 + b4];
      into[cb++] = (ur * r + ug * g + ub * b + c0) >> (BITS + 2);
      into[cr++] = (vr * r + vg * g + vb * b + c0) >> (BITS + 2);
      at += 8;
      luma += 2;
    }
  }
}
