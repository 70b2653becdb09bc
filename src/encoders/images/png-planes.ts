import { concatBytes, latinText, viewOf } from "../../util/bytes.ts";
import * as errors from "../errors.ts";

/** A picture in planes of 8 bits: luma at full size, and two planes of chroma at half the width and height, rounded down. */
export interface Planes {
  width: number;
  height: number;
  luma: Uint8Array;
  chroma: readonly [Uint8Array, Uint8Array];
}

interface Header {
  width: number;
  height: number;
  depth: number;
  /** Channels of a pixel in the file. */
  channels: number;
  color: number;
  interlaced: boolean;
  palette: Uint8Array | null;
  transparency: Uint8Array | null;
}

const GRAY = 0;
const PALETTE = 3;
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const FIRST_CHUNK = 8;

/** Returns whether a PNG may have transparent pixels. */
export function hasTransparency(png: Uint8Array): boolean {
  const { color, transparency } = readHeader(png).header;
  return (color & 4) !== 0 || transparency !== null;
}

/**
 * Reads the first picture of a PNG of any type over a gray background of 0 to 255. It decodes rows as they are inflated, so that a large
 * picture takes only a few bytes of memory a pixel. Rejects with `encode_failed` when the PNG is damaged.
 */
export async function readPlanes(png: Uint8Array, background = 0): Promise<Planes> {
  const { header, data } = readHeader(png);
  const { width, height } = header;
  const [halfWidth, halfHeight] = [width >> 1, height >> 1];
  const luma = new Uint8Array(width * height);
  const sums = [new Uint16Array(halfWidth * halfHeight), new Uint16Array(halfWidth * halfHeight)] as const;
  const pixel = new Uint8Array(4);
  for await (const { bytes, y, x, across } of readRows(header, data)) {
    const count = Math.ceil((width - x) / across);
    for (let index = 0; index < count; index++) {
      readPixel(header, bytes, index, pixel);
      const [red, green, blue] = over(pixel, background);
      const at = x + index * across;
      luma[y * width + at] = 0.299 * red + 0.587 * green + 0.114 * blue + 0.5;
      if (at >> 1 >= halfWidth || y >> 1 >= halfHeight) continue;
      const half = (y >> 1) * halfWidth + (at >> 1);
      sums[0][half] = (sums[0][half] as number) + 128.5 - 0.168736 * red - 0.331264 * green + 0.5 * blue;
      sums[1][half] = (sums[1][half] as number) + 128.5 + 0.5 * red - 0.418688 * green - 0.081312 * blue;
    }
  }
  const [first, second] = sums;
  return { width, height, luma, chroma: [quarter(first), quarter(second)] };
}

function quarter(sums: Uint16Array): Uint8Array {
  return Uint8Array.from(sums, (sum) => Math.min(255, (sum + 2) >> 2));
}

function over(pixel: Uint8Array, background: number): readonly [number, number, number] {
  const [red = 0, green = 0, blue = 0, alpha = 255] = pixel;
  if (alpha === 255) return [red, green, blue];
  const behind = background * (255 - alpha);
  return [(red * alpha + behind) / 255, (green * alpha + behind) / 255, (blue * alpha + behind) / 255];
}

function readHeader(png: Uint8Array): { header: Header; data: Uint8Array<ArrayBuffer> } {
  const view = viewOf(png);
  const parts: Uint8Array[] = [];
  let header: Header | null = null;
  for (let at = FIRST_CHUNK; at + 12 <= png.length; at += 12 + view.getUint32(at)) {
    const [name, length] = [latinText(view, at + 4, 4), view.getUint32(at)];
    const bytes = png.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") {
      const color = view.getUint8(at + 17);
      header = {
        width: view.getUint32(at + 8),
        height: view.getUint32(at + 12),
        depth: view.getUint8(at + 16),
        channels: CHANNELS[color] ?? 1,
        color,
        interlaced: view.getUint8(at + 20) === 1,
        palette: null,
        transparency: null,
      };
    }
    if (name === "PLTE" && header) header.palette = bytes;
    if (name === "tRNS" && header) header.transparency = bytes;
    if (name === "IDAT") parts.push(bytes);
    if (name === "IEND") break;
  }
  if (!header || parts.length === 0) throw errors.pngDamaged();
  return { header, data: concatBytes(parts) };
}

/** A row of pixels. */
interface Row {
  bytes: Uint8Array;
  y: number;
  /** Column of the first pixel. */
  x: number;
  /** Columns from one pixel to the next. */
  across: number;
}

interface Pass {
  x: number;
  y: number;
  across: number;
  down: number;
}

const WHOLE: readonly Pass[] = [{ x: 0, y: 0, across: 1, down: 1 }];
const ADAM7: readonly Pass[] = [
  { x: 0, y: 0, across: 8, down: 8 },
  { x: 4, y: 0, across: 8, down: 8 },
  { x: 0, y: 4, across: 4, down: 8 },
  { x: 2, y: 0, across: 4, down: 4 },
  { x: 0, y: 2, across: 2, down: 4 },
  { x: 1, y: 0, across: 2, down: 2 },
  { x: 0, y: 1, across: 1, down: 2 },
];

async function* readRows(header: Header, data: Uint8Array<ArrayBuffer>): AsyncGenerator<Row> {
  const { width, height, depth, channels, interlaced } = header;
  const source = createInflater(data);
  const step = Math.max(1, (depth * channels) >> 3);
  for (const { x, y: top, across, down } of interlaced ? ADAM7 : WHOLE) {
    const count = Math.ceil((width - x) / across);
    if (count <= 0 || top >= height) continue;
    const length = Math.ceil((count * depth * channels) / 8);
    let above: Uint8Array = new Uint8Array(length);
    for (let y = top; y < height; y += down) {
      const line = source.take(length + 1) ?? (await source.wait(length + 1));
      const bytes = line.subarray(1);
      unfilter(line[0] ?? 0, bytes, above, step);
      above = bytes;
      yield { bytes, y, x, across };
    }
  }
}

function createInflater(data: Uint8Array<ArrayBuffer>) {
  const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  let rest: Uint8Array = new Uint8Array();
  let at = 0;
  const take = (length: number): Uint8Array | null => {
    if (rest.length - at < length) return null;
    at += length;
    return rest.slice(at - length, at);
  };
  return {
    take,
    async wait(length: number): Promise<Uint8Array> {
      for (;;) {
        const bytes = take(length);
        if (bytes) return bytes;
        const next = await reader.read().catch((cause: unknown) => {
          throw errors.pngDamaged({ cause });
        });
        if (!next.value) throw errors.pngDamaged();
        rest = concatBytes([rest.subarray(at), next.value]);
        at = 0;
      }
    },
  };
}

// ISO/IEC 15948, 9.2: a stored byte is the difference from a prediction by its neighbors to the left, above and above left.
function unfilter(filter: number, bytes: Uint8Array, above: Uint8Array, step: number): void {
  if (filter === 0) return;
  for (let at = 0; at < bytes.length; at++) {
    const left = at < step ? 0 : (bytes[at - step] as number);
    const up = above[at] as number;
    const corner = at < step ? 0 : (above[at - step] as number);
    const predicted =
      filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : nearest(left, up, corner);
    bytes[at] = (bytes[at] as number) + predicted;
  }
}

function nearest(left: number, up: number, corner: number): number {
  const sum = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(sum - left), Math.abs(sum - up), Math.abs(sum - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

function readPixel(header: Header, bytes: Uint8Array, index: number, pixel: Uint8Array): void {
  const { depth, channels, color, palette, transparency } = header;
  if (color === PALETTE) {
    const entry = sampleOf(bytes, index, depth);
    for (let part = 0; part < 3; part++) pixel[part] = palette?.[entry * 3 + part] ?? 0;
    pixel[3] = transparency?.[entry] ?? 255;
    return;
  }
  const scale = depth >= 8 ? 1 : 255 / ((1 << depth) - 1);
  const width = depth === 16 ? 2 : 1;
  const first = index * channels * width;
  const sample = (part: number) =>
    depth < 8 ? sampleOf(bytes, index, depth) * scale : (bytes[first + part * width] as number);
  const colors = channels < 3 ? 1 : 3;
  for (let part = 0; part < 3; part++) pixel[part] = sample(colors === 1 ? 0 : part);
  pixel[3] = channels === 2 || channels === 4 ? sample(colors) : isKey() ? 0 : 255;

  function isKey(): boolean {
    if (!transparency) return false;
    for (let part = 0; part < colors; part++) {
      const key = ((transparency[part * 2] ?? 0) << 8) | (transparency[part * 2 + 1] ?? 0);
      const value =
        depth < 8
          ? sampleOf(bytes, index, depth)
          : depth === 8
            ? (bytes[first + part] as number)
            : ((bytes[first + part * 2] as number) << 8) | (bytes[first + part * 2 + 1] as number);
      if (value !== key) return false;
    }
    return color === GRAY || colors === 3;
  }
}

function sampleOf(bytes: Uint8Array, index: number, depth: number): number {
  if (depth >= 8) return bytes[index * (depth >> 3)] as number;
  const bit = index * depth;
  return ((bytes[bit >> 3] as number) >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
}
