import { unzlibSync } from "fflate";
import { rgbaToThumbHash } from "thumbhash";
import type { ProbeOptions } from "../../media/options.ts";
import type { Source } from "../../media/source.ts";
import { concatBytes, toBase64, toHex, viewOf } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import { PNG_SIGNATURE } from "./png.ts";

/** The facts of a {@link Source} that stand in for its picture. */
export type Placeholder = Pick<Source, "thumbhash" | "dominant_color">;

const MIN_ALPHA = 128;

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
 * Returns the mean color of the first of the fullest cells of a histogram with 16 steps each of red, green and blue. Transparent pixels do
 * not count; undefined when there are no others.
 */
function dominantColor(pixels: Uint8Array): string | undefined {
  const cells = new Map<number, Cell>();
  for (let at = 0; at < pixels.length; at += 4) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(at, at + 4);
    if (alpha < MIN_ALPHA) continue;
    const name = ((red >> 4) << 8) | ((green >> 4) << 4) | (blue >> 4);
    const [count, ...sums] = cells.get(name) ?? [0, 0, 0, 0];
    cells.set(name, [count + 1, sums[0] + red, sums[1] + green, sums[2] + blue]);
  }
  let [pixelCount, ...sums]: Cell = [0, 0, 0, 0];
  for (const [count, ...others] of cells.values()) {
    if (count > pixelCount) [pixelCount, sums] = [count, others];
  }
  return pixelCount > 0 ? `#${toHex(sums.map((sum) => Math.round(sum / pixelCount)))}` : undefined;
}

/** A picture with four bytes a pixel: red, green, blue and alpha. */
export interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

const CHANNELS: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

/** Decodes a PNG of this project's own encoders, in eight bits of RGB or RGBA; a library would be too large for a page. */
function decodePng(png: Uint8Array): Pixels {
  const view = viewOf(png);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const channels = CHANNELS[png[25] ?? 0];
  if (png[24] !== 8 || channels === undefined || png[28] !== 0) throw errors.thumbnailUnread();
  const packed: Uint8Array[] = [];
  for (let at = PNG_SIGNATURE.length; at + 12 <= png.length; ) {
    const size = view.getUint32(at);
    const name = String.fromCharCode(...png.subarray(at + 4, at + 8));
    if (name === "IDAT") packed.push(png.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  const stride = width * channels;
  const lines = unzlibSync(concatBytes(packed), { out: new Uint8Array((stride + 1) * height) });
  const data = new Uint8Array(width * height * 4).fill(255);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y++) {
    const [filter = 0, ...bytes] = lines.subarray(y * (stride + 1), (y + 1) * (stride + 1));
    const line = Uint8Array.from(bytes);
    for (let at = 0; at < stride; at++) {
      const [left = 0, corner = 0] = at < channels ? [] : [line[at - channels], above[at - channels]];
      line[at] = (line[at] ?? 0) + predict(filter, left, above[at] ?? 0, corner);
      data[(y * width + Math.floor(at / channels)) * 4 + (at % channels)] = line[at] ?? 0;
    }
    above = line;
  }
  return { width, height, data };
}

function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [left, up, corner].map((value) => Math.abs(guess - value)) as [
    number,
    number,
    number,
  ];
  return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
}
