import type { ByteReader } from "../runs/ports.ts";
import { readOr, viewOf } from "../util/bytes.ts";
import type { TiffLayout } from "./errors.ts";
import * as errors from "./errors.ts";

/** The orientation that a picture's EXIF data states. */
export interface Orientation {
  /** The orientation, from 1 to 8 (EXIF 2.32, tag 274). */
  value: number;
  /** Offset of its two bytes. */
  at: number;
  /** Whether they are little-endian. */
  little: boolean;
}

const TAG = 274;
const TYPES = { short: 3, long: 4 } as const;
const DIRECTORY = 65_536;
const REACH = 262_144;

/**
 * Reads the EXIF orientation of a JPEG, a PNG (eXIf), a WebP (EXIF, with or without the prefix `Exif\0\0`) or a TIFF; null for any other
 * file, and when none is stated. Rejects as the reader does.
 */
export async function readOrientation(reader: ByteReader, signal: AbortSignal): Promise<Orientation | null> {
  const head = await reader.read({ start: 0, end: REACH }, signal);
  if (startsTiff(head, 0)) return readTiff(reader, viewOf(head), signal);
  const name = nameOf(head);
  if (name === null) return null;
  const start = Math.max(0, reader.size - REACH);
  const tail = start === 0 ? head : await reader.read({ start, end: reader.size }, signal);
  return findChunk(head, 0, name) ?? findChunk(tail, start, name);
}

/** Finds the orientation in EXIF data, which is laid out as a TIFF; null when it is absent or damaged. */
export function findOrientation(exif: DataView): Orientation | null {
  return readOr(null, () => {
    const little = exif.getUint16(0) === LITTLE;
    return findEntry(exif, exif.getUint32(4, little), little);
  });
}

const LITTLE = 0x4949;

/**
 * Returns whether the EXIF data of a JPEG, a PNG, a WebP or a TIFF hold more than the layout of the picture, such as its camera, place or
 * date. Rejects as the reader does.
 */
export async function hasPhotoFacts(reader: ByteReader, signal: AbortSignal): Promise<boolean> {
  const head = await reader.read({ start: 0, end: REACH }, signal);
  if (startsTiff(head, 0)) {
    const start = viewOf(head).getUint32(4, viewOf(head).getUint16(0) === LITTLE);
    if (start < head.length) return readOr(false, () => listsPhotoFacts(viewOf(head)));
    // Offsets count from the start of the file, so the rest of the data is out of reach.
    const directory = viewOf(await reader.read({ start, end: start + DIRECTORY }, signal));
    return readOr(false, () => tagsOf(directory, 0, isLittle(viewOf(head))).some((tag) => PHOTO.has(tag)));
  }
  const name = nameOf(head);
  if (name === null) return false;
  const start = Math.max(0, reader.size - REACH);
  const endsInHead = start === 0 || name === "Exif\0\0";
  const tail = endsInHead ? [] : [await reader.read({ start, end: reader.size }, signal)];
  return [head, ...tail].some((bytes) =>
    exifIn(bytes, name).some((at) => readOr(false, () => listsPhotoFacts(viewOf(bytes.subarray(at))))),
  );
}

// EXIF 2.32, 4.6.4: description, make, model, date, artist, host computer, copyright and place.
const PHOTO: ReadonlySet<number> = new Set([270, 271, 272, 306, 315, 316, 33_432, 34_853]);
const EXIF_DIRECTORY = 34_665;
// EXIF 2.32, 4.6.5: version, components, color space and size.
const LAYOUT: ReadonlySet<number> = new Set([36_864, 37_121, 40_960, 40_961, 40_962, 40_963]);

/** Returns whether EXIF data hold more than the layout of a picture; throws a RangeError if the view ends too early. */
export function listsPhotoFacts(exif: DataView): boolean {
  const little = isLittle(exif);
  const start = exif.getUint32(4, little);
  const tags = tagsOf(exif, start, little);
  if (tags.some((tag) => PHOTO.has(tag))) return true;
  const own = tags.indexOf(EXIF_DIRECTORY);
  if (own < 0) return false;
  return tagsOf(exif, exif.getUint32(start + 2 + 12 * own + 8, little), little).some(
    (tag) => !LAYOUT.has(tag),
  );
}

function isLittle(exif: DataView): boolean {
  return exif.getUint16(0) === LITTLE;
}

function tagsOf(view: DataView, directory: number, little: boolean): number[] {
  const count = view.getUint16(directory, little);
  return Array.from({ length: count }, (_, index) => view.getUint16(directory + 2 + 12 * index, little));
}

async function readTiff(
  reader: ByteReader,
  head: DataView,
  signal: AbortSignal,
): Promise<Orientation | null> {
  if (head.byteLength < 8) return null;
  const little = head.getUint16(0) === LITTLE;
  const start = head.getUint32(4, little);
  const directory = viewOf(await reader.read({ start, end: start + DIRECTORY }, signal));
  const entry = readOr(null, () => findEntry(directory, 0, little));
  return entry && { ...entry, at: start + entry.at };
}

// TIFF 6.0, section 2: a count, and entries of 12 bytes, whose value is left-aligned.
function findEntry(view: DataView, directory: number, little: boolean): Orientation | null {
  const count = view.getUint16(directory, little);
  for (let index = 0; index < count; index++) {
    const entry = directory + 2 + 12 * index;
    if (view.getUint16(entry, little) !== TAG) continue;
    const type = view.getUint16(entry + 2, little);
    const at = entry + (type === TYPES.long && !little ? 10 : 8);
    const value = view.getUint16(at, little);
    return value >= 1 && value <= 8 ? { value, at, little } : null;
  }
  return null;
}

const NAMES = { "Exif\0\0": 6, eXIf: 4, EXIF: 8 } as const;

function nameOf(head: Uint8Array): keyof typeof NAMES | null {
  if (isText(head, 0, "\u00ff\u00d8")) return "Exif\0\0";
  if (isText(head, 1, "PNG\r\n")) return "eXIf";
  return isText(head, 0, "RIFF") && isText(head, 8, "WEBPVP8X") ? "EXIF" : null;
}

function findChunk(bytes: Uint8Array, start: number, name: keyof typeof NAMES): Orientation | null {
  for (const exif of exifIn(bytes, name)) {
    const orientation = findOrientation(viewOf(bytes.subarray(exif)));
    if (orientation) return { ...orientation, at: start + exif + orientation.at };
  }
  return null;
}

// A crafted file may have a directory of thousands of entries behind each of thousands of places.
const MAX_PLACES = 16;

/** Returns the offset of each block of EXIF data in a file of the named format, at most {@link MAX_PLACES}. */
function exifIn(bytes: Uint8Array, name: keyof typeof NAMES): number[] {
  const places: number[] = [];
  for (let at = 0; at + 4 <= bytes.length && places.length < MAX_PLACES; at++) {
    if (!isText(bytes, at, name)) continue;
    const body = at + NAMES[name];
    const exif = isText(bytes, body, "Exif\0\0") ? body + 6 : body;
    if (startsTiff(bytes, exif)) places.push(exif);
  }
  return places;
}

function startsTiff(bytes: Uint8Array, at: number): boolean {
  return isText(bytes, at, "II*\0") || isText(bytes, at, "MM\0*");
}

function isText(bytes: Uint8Array, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

const TAGS = {
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  samples: 277,
  planes: 284,
  tileWidth: 322,
  extra: 338,
  format: 339,
  subsampling: 530,
  dng: 50706,
} as const;
const SHORT = 3;
const CMYK = 5;
const SEPARATE = 2;
// TIFF 6.0, SampleFormat: whole numbers from 0, and unknown.
const WHOLE: ReadonlySet<number> = new Set([1, 4]);
const MAX_BITS = 16;
const YCBCR = 6;
const PALETTE = 3;
const REVERSED = 2;
// None, CCITT, LZW, Deflate, PackBits, and LZMA. ffmpeg decodes JPEG only in a DNG.
const COMPRESSIONS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 8, 32773, 32946, 34925]);
// ffmpeg can read reversed bits with these compressions.
const TURNED: ReadonlySet<number> = new Set([2, 3, 4, 8, 32946, 34925]);
const EXTRA = { unknown: 0, premultiplied: 1 } as const;
// Samples of the colors, by photometric interpretation: gray, RGB, palette and CMYK.
const COLORS: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 3, 3: 1, [CMYK]: 4 };
const TIFF_DIRECTORY = 65_536;

/** Returns whether a file is a TIFF, from its first bytes. */
export function isTiff(head: Uint8Array): boolean {
  return /^(II\*\0|MM\0\*)/.test(String.fromCharCode(...head.subarray(0, 4)));
}

/** Returns whether a file is a BigTIFF, whose offsets have 64 bits, from its first bytes. */
export function isBigTiff(head: Uint8Array): boolean {
  return /^(II\+\0|MM\0\+)/.test(String.fromCharCode(...head.subarray(0, 4)));
}

/**
 * Checks that ffmpeg reads the pixels of a TIFF, and returns whether its colors are multiplied by the alpha. Throws
 * `input_unsupported` for layouts that ffmpeg (5.1) does not decode, or decodes to black or to other colors without an error. Rejects as the reader does.
 */
export async function checkTiff(
  reader: ByteReader,
  signal: AbortSignal,
): Promise<{ premultiplied: boolean }> {
  const tags = await readTags(reader, signal);
  const layout = misread(tags);
  if (layout) throw errors.tiffLayout({ layout });
  return { premultiplied: tags.get(TAGS.extra)?.[0] === EXTRA.premultiplied };
}

const PIXELS: Readonly<Record<string, string>> = {
  "0 1 1": "monob",
  "0 8 1": "gray",
  "0 16 1": "gray16",
  "0 8 2": "ya8",
  "0 16 2": "ya16",
  "2 8 3": "rgb24",
  "2 8 4": "rgba",
  "2 16 3": "rgb48",
  "2 16 4": "rgba64",
  "3 8 1": "pal8",
  "5 8 4": "rgb0",
};

/**
 * Returns the size and ffmpeg's pixel format of a TIFF that {@link checkTiff} accepts; null for a layout that only decoding reveals.
 * Rejects as the reader does.
 */
export async function readTiffPicture(
  reader: ByteReader,
  signal: AbortSignal,
): Promise<{ width: number; height: number; pix_fmt: string } | null> {
  const tags = await readTags(reader, signal);
  const first = (tag: number, otherwise: number) => tags.get(tag)?.[0] ?? otherwise;
  const [width, height] = [first(TAGS.width, 0), first(TAGS.height, 0)];
  const [photometric, bits, samples] = [
    first(TAGS.photometric, 1),
    first(TAGS.bits, 1),
    first(TAGS.samples, 1),
  ];
  const [across = 2, down = 2] = tags.get(TAGS.subsampling) ?? [];
  const chroma: Readonly<Record<string, string>> = { "1 1": "444", "2 1": "422", "1 2": "440", "2 2": "420" };
  const name = PIXELS[`${photometric === 1 ? 0 : photometric} ${bits} ${samples}`];
  const halved = chroma[`${across} ${down}`];
  const pix_fmt = photometric === YCBCR ? halved && `yuv${halved}p` : name && withOrder(name, tags.little);
  return width && height && pix_fmt && !tags.has(TAGS.dng) ? { width, height, pix_fmt } : null;
}

function withOrder(name: string, little: boolean): string {
  return /(16|48|64)$/.test(name) ? `${name}${little ? "le" : "be"}` : name;
}

type Tags = ReadonlyMap<number, readonly number[]> & { little: boolean };

function misread(tags: Tags): TiffLayout | null {
  // ffmpeg decodes a DNG, a photo's raw data, in its own way.
  if (tags.has(TAGS.dng) || tags.size === 0) return null;
  const photometric = tags.get(TAGS.photometric)?.[0] ?? 0;
  if (!WHOLE.has(tags.get(TAGS.format)?.[0] ?? 1) || (tags.get(TAGS.bits)?.[0] ?? 1) > MAX_BITS)
    return "samples";
  if (!COMPRESSIONS.has(tags.get(TAGS.compression)?.[0] ?? 1)) return "compression";
  const isReversed = tags.get(TAGS.fillOrder)?.[0] === REVERSED;
  if (isReversed && !TURNED.has(tags.get(TAGS.compression)?.[0] ?? 1)) return "bit_order";
  if (photometric !== YCBCR && !(photometric in COLORS)) return "colors";
  if (tags.has(TAGS.tileWidth)) return "tiles";
  const isSeparate = tags.get(TAGS.planes)?.[0] === SEPARATE;
  if (photometric === CMYK && (isSeparate || (tags.get(TAGS.bits)?.[0] ?? 8) > 8)) return "cmyk";
  const samples = tags.get(TAGS.samples)?.[0] ?? 1;
  const hasExtra = samples > (COLORS[photometric] ?? samples);
  // ffmpeg takes a palette with alpha for gray, and any extra sample, such as infrared, for alpha.
  if (hasExtra && photometric === PALETTE) return "extra_samples";
  return hasExtra && tags.get(TAGS.extra)?.[0] === EXTRA.unknown ? "extra_samples" : null;
}

async function readTags(reader: ByteReader, signal: AbortSignal): Promise<Tags> {
  const head = viewOf(await reader.read({ start: 0, end: 8 }, signal));
  const little = head.byteLength >= 8 && head.getUint16(0) === 0x4949;
  const tags = Object.assign(new Map<number, number[]>(), { little });
  if (head.byteLength < 8) return tags;
  const start = head.getUint32(4, little);
  if (start >= reader.size) return tags;
  const view = viewOf(await reader.read({ start, end: start + TIFF_DIRECTORY }, signal));
  const count = view.byteLength < 2 ? 0 : view.getUint16(0, little);
  for (let at = 2; at + 12 <= Math.min(view.byteLength, 2 + 12 * count); at += 12) {
    tags.set(view.getUint16(at, little), await readValues(reader, view, at, little, signal));
  }
  return tags;
}

async function readValues(
  reader: ByteReader,
  view: DataView,
  at: number,
  little: boolean,
  signal: AbortSignal,
): Promise<number[]> {
  const [type, length] = [view.getUint16(at + 2, little), view.getUint32(at + 4, little)];
  if (type !== SHORT) return [view.getUint32(at + 8, little)];
  if (length <= 2) return [8, 10].slice(0, length).map((value) => view.getUint16(at + value, little));
  const tag = view.getUint16(at, little);
  if (tag !== TAGS.bits && tag !== TAGS.extra && tag !== TAGS.format) return [];
  const start = view.getUint32(at + 8, little);
  if (start >= reader.size) return [];
  const value = viewOf(await reader.read({ start, end: start + 2 }, signal));
  return value.byteLength < 2 ? [] : [value.getUint16(0, little)];
}
