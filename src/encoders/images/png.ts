import type { Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import type { Edit } from "../../mux/file-edit.ts";
import { createBlocks } from "../../probe/packet-lengths.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { concatBytes, KIB, latinText, MIB, viewOf } from "../../util/bytes.ts";
import * as errors from "../errors.ts";

/** The first eight bytes of every PNG (ISO/IEC 15948). */
export const PNG_SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** Builds a chunk of a PNG: the length of its data, its type, the data and their CRC-32. */
export function pngChunk(type: string, ...data: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const typed = concatBytes([new TextEncoder().encode(type), ...data]);
  return concatBytes([u32(typed.length - 4), typed, u32(crc32(typed))]);
}

/** Returns the four bytes of an unsigned integer, big-endian. */
export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint32(0, value);
  return bytes;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (CRC_TABLE[(sum ^ byte) & 0xff] as number);
  return (sum ^ 0xffffffff) >>> 0;
}

/** A frame that fills the canvas: straight RGBA, and its duration in milliseconds. */
export interface Frame {
  pixels: Uint8Array | Uint8ClampedArray;
  duration: number;
}

/** Writes frames as an APNG (W3C PNG, third edition), chunk by chunk; the first piece states their number. */
export async function* writeApng(
  { width, height, count }: { width: number; height: number; count: number },
  frames: AsyncIterable<Frame>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const head = concatBytes([u32(width), u32(height), Uint8Array.of(8, 6, 0, 0, 0)]);
  yield concatBytes([PNG_SIGNATURE, pngChunk("IHDR", head), pngChunk("acTL", u32(count), u32(0))]);
  let sequence = 0;
  for await (const { pixels, duration } of frames) {
    const isFirst = sequence === 0;
    const place = concatBytes([u32(width), u32(height), u32(0), u32(0)]);
    yield pngChunk("fcTL", u32(sequence++), place, delay(duration), Uint8Array.of(0, 0));
    const data = await deflate(withFilterBytes(pixels, width, height));
    yield isFirst ? pngChunk("IDAT", data) : pngChunk("fdAT", u32(sequence++), data);
  }
  yield pngChunk("IEND");
}

const MAX_UINT16 = 0xffff;

function delay(milliseconds: number): Uint8Array {
  const [over, under] =
    milliseconds <= MAX_UINT16 ? [milliseconds, 1000] : [Math.min(MAX_UINT16, milliseconds / 100), 10];
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint16(0, Math.round(over));
  viewOf(bytes).setUint16(2, under);
  return bytes;
}

function withFilterBytes(
  pixels: Uint8Array | Uint8ClampedArray,
  width: number,
  height: number,
): Uint8Array<ArrayBuffer> {
  const row = width * 4;
  const bytes = new Uint8Array((row + 1) * height);
  for (let y = 0; y < height; y++) bytes.set(pixels.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  return bytes;
}

/** Compresses bytes into a zlib stream. */
export async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

const PLAIN: ReadonlySet<string> = new Set([
  "geometry",
  "quality",
  "effort",
  "animated",
  "alpha",
  "matte",
  "max_bytes",
]);
const DEPTH = 8;

/** Returns whether a plan turns a PNG into a PNG of the same pixels. */
export function isSamePng({ format, still, image }: Plan, source: Source): boolean {
  if (!image || !still || format !== "png" || source.kind !== "image" || source.format !== "png")
    return false;
  const { geometry, animated, matte } = image;
  const { rotate, mirror, crop, scale, pad } = geometry;
  const isMoved = rotate !== 0 || mirror || crop !== null || scale !== null || pad !== null;
  const changes = Object.entries(image).filter(([name, value]) => !PLAIN.has(name) && value !== false);
  const isPlain = changes.length === 0 && matte === null && !animated;
  return isPlain && !isMoved && (source.color?.bit_depth ?? DEPTH) <= DEPTH && !source.color_profile;
}

const START = 8;
const HEADER = 18;
const GRAY = 0;
const KEPT: ReadonlySet<string> = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
const MAX_CHUNKS = 100_000;

/**
 * Returns the edits that reduce a PNG to its pixels, without tags and other data of the file; null when it is incomplete, or when readers
 * differ on its transparency. Rejects as the reader does.
 */
export async function pngEdits(reader: ByteReader, signal: AbortSignal): Promise<Edit[] | null> {
  const file = createBlocks(reader, signal, 64 * KIB);
  const edits: Edit[] = [];
  const header = await file.view(START, HEADER);
  const [depth, color] = [header.getUint8(16), header.getUint8(17)];
  for (let [at, count] = [START, 0]; at + 12 <= reader.size && count < MAX_CHUNKS; count++) {
    const view = await file.view(at, 8);
    const [name, end] = [latinText(view, 4, 4), at + 12 + view.getUint32(0)];
    if (end > reader.size) return null;
    // ffmpeg (5.1) shows the transparent value of gray below 8 bits.
    if (name === "tRNS" && color === GRAY && depth < DEPTH) return null;
    if (!KEPT.has(name)) edits.push({ start: at, end, bytes: [] });
    if (name === "IEND")
      return end < reader.size ? [...edits, { start: end, end: reader.size, bytes: [] }] : edits;
    at = end;
  }
  return null;
}

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
      unfilter(filter, row, above, samples);
      yield row;
      [above, row] = [row, above];
      [filter, filled] = [-1, 0];
    }
  }
}

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
