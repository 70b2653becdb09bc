import { rgbaToThumbHash } from "thumbhash";
import type { ProbeOptions } from "../../core/options.ts";
import type { Source } from "../../core/source.ts";
import { toBase64, toHex } from "../../util/bytes.ts";
import { decodePng } from "./decode-png.ts";

/** The facts of a {@link Source} that stand in for its picture. */
export type Placeholder = Pick<Source, "thumbhash" | "dominant_color">;

// Pixels that are more transparent than opaque do not count.
const OPAQUE = 128;

/** Computes the requested facts from a picture, a PNG of at most 100 × 100 pixels. */
export function readPlaceholder(png: Uint8Array, { thumbhash, dominant_color }: ProbeOptions): Placeholder {
  const { width, height, data } = decodePng(png);
  const color = dominant_color && dominantColor(data);
  return {
    ...(thumbhash && { thumbhash: toBase64(rgbaToThumbHash(width, height, data)) }),
    ...(color && { dominant_color: color }),
  };
}

type Cell = [pixels: number, red: number, green: number, blue: number];

/**
 * Returns the mean color of the fullest cell of a histogram with 16 steps each of red, green and blue, the first of equally full ones.
 * Transparent pixels do not count; undefined where there are no others.
 */
function dominantColor(pixels: Uint8Array): string | undefined {
  const cells = new Map<number, Cell>();
  for (let at = 0; at < pixels.length; at += 4) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(at, at + 4);
    if (alpha < OPAQUE) continue;
    const name = ((red >> 4) << 8) | ((green >> 4) << 4) | (blue >> 4);
    const [count, ...sums] = cells.get(name) ?? [0, 0, 0, 0];
    cells.set(name, [count + 1, sums[0] + red, sums[1] + green, sums[2] + blue]);
  }
  let [most, ...sums]: Cell = [0, 0, 0, 0];
  for (const [count, ...others] of cells.values()) if (count > most) [most, sums] = [count, others];
  return most > 0 ? `#${toHex(sums.map((sum) => Math.round(sum / most)))}` : undefined;
}
