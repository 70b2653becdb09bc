import { concatBytes, latinText, MIB, viewOf } from "../../util/bytes.ts";
import { deflate, PNG_SIGNATURE, pngChunk } from "./png.ts";

const MAX_PNG = 16 * MIB;
const MAX_PACKED = 16 * MIB;
const MAX_COLORS = 256;
// W3C PNG, 11.2.1: the samples of a pixel by color type.
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

/**
 * Rewrites a PNG of 8 bits a sample, as ffmpeg writes it, with a palette. Returns null if the PNG has more than 256 colors, is too large
 * to hold in memory or would not become smaller.
 */
export async function withPalette(png: Uint8Array): Promise<Uint8Array<ArrayBuffer> | null> {
  const pixels = png.length <= MAX_PNG ? readPixels(png) : null;
  if (!pixels) return null;
  const { header, width, height, samples } = pixels;
  const colors = new Set<number>();
  for await (const row of rowsOf(pixels)) {
    for (let at = 0; at < row.length && colors.size <= MAX_COLORS; at += samples)
      colors.add(colorAt(row, at, samples));
    if (colors.size > MAX_COLORS) return null;
  }
  // The tRNS chunk ends at the last color that is not opaque, so opaque colors come last.
  const palette = [...colors].sort((one, other) => (one & 255) - (other & 255));
  const indexes = new Map(palette.map((color, index) => [color, index]));
  const bits = [1, 2, 4, 8].find((each) => 2 ** each >= palette.length) ?? 8;
  const stride = 1 + Math.ceil((width * bits) / 8);
  if (stride * height > MAX_PACKED) return null;
  const packed = new Uint8Array(stride * height);
  let start = 1;
  for await (const row of rowsOf(pixels)) {
    for (let x = 0; x < width; x++) {
      const index = indexes.get(colorAt(row, x * samples, samples)) ?? 0;
      const place = start + ((x * bits) >> 3);
      packed[place] = (packed[place] ?? 0) | (index << (8 - bits - ((x * bits) & 7)));
    }
    start += stride;
  }
  const own = Uint8Array.from(header);
  own.set([bits, 3], 8);
  const alphas = palette.map((color) => color & 255).filter((alpha) => alpha < 255);
  const rewritten = concatBytes([
    PNG_SIGNATURE,
    pngChunk("IHDR", own),
    pngChunk("PLTE", Uint8Array.from(palette.flatMap((color) => [color >>> 24, color >>> 16, color >>> 8]))),
    ...(alphas.length > 0 ? [pngChunk("tRNS", Uint8Array.from(alphas))] : []),
    pngChunk("IDAT", await deflate(packed)),
    pngChunk("IEND"),
  ]);
  return rewritten.length < png.length ? rewritten : null;
}

interface Pixels {
  header: Uint8Array;
  width: number;
  height: number;
  samples: number;
  /** Compressed rows. */
  data: Blob;
}

function readPixels(png: Uint8Array): Pixels | null {
  const view = viewOf(png);
  const header = png.subarray(16, 29);
  const [depth = 0, type = 0, , , interlaced = 0] = header.subarray(8);
  const samples = SAMPLES[type];
  if (depth !== 8 || samples === undefined || interlaced !== 0) return null;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 8; at + 12 <= png.length; at += 12 + view.getUint32(at)) {
    const name = latinText(view, at + 4, 4);
    if (name === "IDAT") parts.push(Uint8Array.from(png.subarray(at + 8, at + 8 + view.getUint32(at))));
    // Any other chunk may change how the pixels are shown.
    else if (!/^(IHDR|IEND|pHYs)$/.test(name)) return null;
  }
  return { header, width: view.getUint32(16), height: view.getUint32(20), samples, data: new Blob(parts) };
}

// The result holds red, green, blue and alpha, one byte each.
function colorAt(row: Uint8Array, at: number, samples: number): number {
  const [one = 0, two = 0, three = 0, four = 255] = [row[at], row[at + 1], row[at + 2], row[at + 3]];
  if (samples === 1) return gray(one, 255);
  if (samples === 2) return gray(one, two);
  return ((one << 24) | (two << 16) | (three << 8) | (samples === 4 ? four : 255)) >>> 0;
}

function gray(value: number, alpha: number): number {
  return ((value << 24) | (value << 16) | (value << 8) | alpha) >>> 0;
}

// Yields rows with their filter undone (W3C PNG, 9.2), each valid until the next is requested, because two buffers are reused.
async function* rowsOf({ width, samples, data }: Pixels): AsyncGenerator<Uint8Array> {
  const length = width * samples;
  let [above, row] = [new Uint8Array(length), new Uint8Array(length)];
  let [filter, filled] = [-1, 0];
  const reader = data.stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  for (
    let { done, value: bytes } = await reader.read();
    !done;
    { done, value: bytes } = await reader.read()
  ) {
    if (!bytes) break;
    for (let at = 0; at < bytes.length; ) {
      if (filter < 0) {
        filter = bytes[at++] ?? 0;
        continue;
      }
      const part = bytes.subarray(at, at + length - filled);
      row.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < length) continue;
      unfilter(row, above, filter, samples);
      yield row;
      [above, row] = [row, above];
      [filter, filled] = [-1, 0];
    }
  }
}

function unfilter(row: Uint8Array, above: Uint8Array, filter: number, samples: number): void {
  if (filter === 0) return;
  for (let at = 0; at < row.length; at++) {
    const left = at < samples ? 0 : (row[at - samples] ?? 0);
    const up = above[at] ?? 0;
    const corner = at < samples ? 0 : (above[at - samples] ?? 0);
    row[at] = (row[at] ?? 0) + predict(filter, left, up, corner);
  }
}

function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const [byLeft, byUp, byCorner] = [
    Math.abs(up - corner),
    Math.abs(left - corner),
    Math.abs(left + up - 2 * corner),
  ];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
