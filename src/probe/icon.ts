import type { ByteRange, ByteReader } from "../runs/ports.ts";
import { bytesOf, concatBytes, MIB, readOr, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";

/** An icon or cursor (ICO, CUR), rewritten for ffmpeg. */
export interface Icon {
  /** A file with the same pictures in the same order; the alpha replaces the masks. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Indexes of the pictures whose alpha replaces a mask. */
  maskedPictures: ReadonlySet<number>;
}

// Entries may share data, so the pictures together may be larger than the file. They are in memory twice.
const MAX_PICTURES = 24 * MIB;
const MAX_ICON = 16 * MIB;

/** Returns whether a file is an icon or a cursor, from its first bytes. */
export function isIcon(head: Uint8Array): boolean {
  return readOr(false, () => {
    const view = viewOf(head);
    const [kind, count] = [view.getUint32(0), view.getUint16(4, true)];
    return (kind === 0x0000_0100 || kind === 0x0000_0200) && count > 0;
  });
}

const ICON = 1;
const HEAD = 6;
const ENTRY = 16;
// ffmpeg opens no file of more streams.
const MAX_STREAMS = 1000;

/** Returns the byte range of the list of pictures of an icon that starts with `head`, which has at least 6 bytes. */
export function iconList(head: Uint8Array): ByteRange {
  return { start: 0, end: HEAD + ENTRY * Math.min(MAX_STREAMS, viewOf(head).getUint16(4, true)) };
}

/** Returns the byte range of each picture of an icon. Throws a RangeError when the list of pictures is cut off. */
export function iconPictures(view: DataView): ByteRange[] {
  return Array.from({ length: view.getUint16(4, true) }, (_, index) => {
    const entry = HEAD + ENTRY * index;
    const start = view.getUint32(entry + 12, true);
    return { start, end: start + view.getUint32(entry + 8, true) };
  });
}

/**
 * Rewrites an icon or cursor of `size` bytes for ffmpeg (5.1), which ignores the masks of bitmaps and reads no cursors. Returns null if the
 * icon needs no change or is damaged; yields the ranges that it needs. Throws `input_too_large` if the bitmaps exceed what memory holds.
 */
export function* repairIcon(size: number): Generator<ByteRange, Icon | null, Uint8Array> {
  if (size <= MAX_ICON) {
    const file = yield { start: 0, end: size };
    return readOr(null, () => rewrite(file));
  }
  const list = yield iconList(yield { start: 0, end: HEAD });
  for (const { start } of readOr([], () => iconPictures(viewOf(list)))) {
    if (start + 4 > size) return null;
    const type = viewOf(yield { start, end: start + 4 }).getUint32(0, true);
    if (type === BITMAP) throw errors.largeIcon();
    if (type !== PNG) return null;
  }
  return null;
}

// Throws a RangeError for a damaged icon, and for a file of another type that begins like one.
function rewrite(file: Uint8Array): Icon | null {
  const view = viewOf(file);
  const count = view.getUint16(4, true);
  const maskedPictures = new Set<number>();
  const head = new Uint8Array(HEAD + ENTRY * count);
  head.set(file.subarray(0, head.length));
  const list = viewOf(head);
  const isCursor = list.getUint16(2, true) !== ICON;
  list.setUint16(2, ICON, true);
  const pictures: Uint8Array[] = [];
  let end = head.length;
  for (const [index, { start, end: last }] of iconPictures(view).entries()) {
    const entry = HEAD + ENTRY * index;
    if (start < head.length || last > file.length) return null;
    const data = new DataView(view.buffer, view.byteOffset + start, last - start);
    if (!isPicture(data)) return null;
    const bitmap = readOr(null, () => mergeMask(data, MAX_PICTURES - end));
    if (bitmap) maskedPictures.add(index);
    const picture = bitmap ?? bytesOf(data);
    list.setUint32(entry + 8, picture.length, true);
    list.setUint32(entry + 12, end, true);
    pictures.push(picture);
    end += picture.length;
    if (end > MAX_PICTURES) throw errors.largeIcon();
  }
  return isCursor || maskedPictures.size > 0
    ? { bytes: concatBytes([head, ...pictures]), maskedPictures }
    : null;
}

const BITMAP = 40;
const PNG = 0x474e5089;
const DEPTHS: ReadonlySet<number> = new Set([1, 4, 8, 16, 24, 32]);

/**
 * Converts a bitmap to 32 bits with its mask as alpha. Returns null if the mask hides nothing, the bitmap has an alpha of its own or is not
 * of a known form. Throws a RangeError for a truncated bitmap, and `input_too_large` if the result would exceed `maxBytes`.
 */
function mergeMask(view: DataView, maxBytes: number): Uint8Array | null {
  const header = view.getUint32(0, true);
  const [width, height] = [view.getInt32(4, true), view.getInt32(8, true) / 2];
  const [bits, compression] = [view.getUint16(14, true), view.getUint32(16, true)];
  if (header !== BITMAP || !DEPTHS.has(bits) || compression !== 0) return null;
  if (width <= 0 || height <= 0 || !Number.isInteger(height)) return null;
  const count = view.getUint32(32, true);
  const colors = bits > 8 ? count : count || 2 ** bits;
  const pixels = BITMAP + 4 * colors;
  const row = lineBytes(width, bits);
  const mask = pixels + row * height;
  const maskRow = lineBytes(width, 1);
  // A truncated bitmap must fail before memory is allocated for all of its rows.
  view.getUint8(mask + maskRow * height - 1);
  if (BITMAP + 4 * width * height > maxBytes) throw errors.largeIcon();
  const bytes = new Uint8Array(BITMAP + 4 * width * height);
  const target = viewOf(bytes);
  for (let at = 0; at < 12; at += 4) target.setUint32(at, view.getUint32(at, true), true);
  target.setUint32(0, BITMAP, true);
  target.setUint16(12, 1, true);
  target.setUint16(14, 32, true);
  let [isMasked, isOpaque, hasAlpha] = [false, false, false];
  for (let y = 0, to = BITMAP; y < height; y++) {
    for (let x = 0; x < width; x++, to += 4) {
      const color = colorAt(view, pixels + y * row, x, bits, colors);
      hasAlpha ||= bits === 32 && view.getUint8(pixels + y * row + 4 * x + 3) !== 0;
      const hides = (view.getUint8(mask + y * maskRow + (x >> 3)) & (0x80 >> (x & 7))) !== 0;
      isMasked ||= hides;
      isOpaque ||= !hides;
      target.setUint32(to, (hides ? 0 : 0xff000000) + color, true);
    }
  }
  if (!isMasked || hasAlpha) return null;
  // ffmpeg ignores an alpha that is 0 everywhere.
  if (!isOpaque) bytes[BITMAP + 3] = 1;
  return bytes;
}

function isPicture(view: DataView): boolean {
  const start = view.getUint32(0, true);
  return start === BITMAP || start === PNG;
}

// Rows are padded to 32 bits.
function lineBytes(width: number, bits: number): number {
  return Math.ceil((width * bits) / 32) * 4;
}

/** Returns the color of a pixel as `0xRRGGBB`. */
function colorAt(view: DataView, line: number, x: number, bits: number, colors: number): number {
  if (bits >= 24) {
    const at = line + (x * bits) / 8;
    return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  }
  if (bits === 16) {
    const value = view.getUint16(line + 2 * x, true);
    const part = (shift: number) => Math.round((((value >> shift) & 31) * 255) / 31);
    return (part(10) << 16) | (part(5) << 8) | part(0);
  }
  const byte = view.getUint8(line + ((x * bits) >> 3));
  const index = (byte >> (8 - bits - ((x * bits) & 7))) & (2 ** bits - 1);
  return index < colors ? view.getUint32(BITMAP + 4 * index, true) & 0xffffff : 0;
}

/** An icon or cursor as ffmpeg reads it. */
export interface ReadableIcon extends Pick<Icon, "maskedPictures"> {
  bytes: Uint8Array;
  reader: ByteReader;
  /** Bits per pixel of each picture in the original file. */
  depths: readonly number[];
}

/**
 * Reads an icon or cursor, rewritten by {@link repairIcon} if it needs that; null for a large one of PNGs alone. Throws as that does, and
 * rejects as the reader does.
 */
export async function readIcon(
  reader: ByteReader,
  head: Uint8Array,
  signal: AbortSignal,
): Promise<ReadableIcon | null> {
  if (!isIcon(head)) return null;
  const repairing = repairIcon(reader.size);
  let file = head;
  let step = repairing.next();
  while (!step.done) {
    file = await reader.read(step.value, signal);
    step = repairing.next(file);
  }
  if (file.length < reader.size) return null;
  const view = viewOf(file);
  const depths = readOr([], () => iconPictures(view).map(({ start }) => depthAt(view, start)));
  const { bytes, maskedPictures } = step.value ?? { bytes: file, maskedPictures: new Set<number>() };
  const read: ByteReader["read"] = async ({ start, end }) => bytes.subarray(start, end);
  return { bytes, maskedPictures, depths, reader: { size: bytes.length, read } };
}

function depthAt(view: DataView, start: number): number {
  return view.getUint32(start, true) === PNG ? 32 : view.getUint16(start + 14, true);
}
