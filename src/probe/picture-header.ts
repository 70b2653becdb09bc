import { BOUNDS } from "../media/formats.ts";
import type { Size } from "../media/picture-geometry.ts";
import type { ByteRange, ByteReader } from "../runs/ports.ts";
import { latinText, MIB, readOr, uint24, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { type PictureFacts, readHeif } from "./heif.ts";
import { iconList, iconPictures, isIcon } from "./icon.ts";
import { inflatedSize } from "./inflated-size.ts";
import { createBlocks } from "./packet-lengths.ts";

/** Facts from an image's first bytes, in ffprobe's terms. */
export type HeaderFacts = PictureFacts;

/** Parses the header of a JPEG, PNG, APNG, GIF, WebP, BMP, AVIF or HEIC; null for anything else. */
export function readHeaderFacts(head: Uint8Array): HeaderFacts | null {
  const view = viewOf(head);
  for (const read of [readJpeg, readPng, readGif, readWebp, readBmp, readHeif]) {
    try {
      const facts = read(view);
      if (facts && facts.width > 0 && facts.height > 0) return facts;
    } catch (thrown) {
      // A RangeError means that the header extends beyond `head`.
      if (!(thrown instanceof RangeError)) throw thrown;
    }
  }
  return null;
}

const JPEG_START = 0xffd8;

// ITU-T T.81, table B.1: the markers DHT, JPG and DAC lie among those of frame headers.
function findFrame(view: DataView): { at: number; marker: number } | null {
  for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    for (; view.getUint8(at + 1) === 0xff; at++);
    const marker = view.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return { at, marker };
  }
  return null;
}

type JpegCoding = Parameters<typeof errors.jpegCoding>[0]["coding"];

// ITU-T T.81, table B.1.
const JPEG_CODINGS: Readonly<Record<number, JpegCoding>> = {
  197: "hierarchical",
  198: "hierarchical",
  199: "hierarchical",
  201: "arithmetic",
  202: "arithmetic",
  203: "arithmetic",
  205: "hierarchical",
  206: "hierarchical",
  207: "hierarchical",
};

function readJpeg(view: DataView): HeaderFacts | null {
  if (view.getUint16(0) !== JPEG_START) return null;
  const { at } = findFrame(view) ?? {};
  if (at === undefined) return null;
  const size = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
  const pix_fmt = view.getUint8(at + 9) === 1 ? "gray" : "yuvj420p";
  return { format_name: "jpeg_pipe", codec_name: "mjpeg", ...size, frames: 1, pix_fmt };
}

const PNG_PIXELS: Readonly<Record<number, string>> = {
  0: "gray",
  2: "rgb24",
  3: "pal8",
  4: "ya8",
  6: "rgba",
};

function readPng(view: DataView): HeaderFacts | null {
  if (view.getUint32(0) !== 0x89504e47 || latinText(view, 12, 4) !== "IHDR") return null;
  const pix_fmt = PNG_PIXELS[view.getUint8(25)] ?? "rgba";
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  for (let at = 33; at + 12 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const kind = latinText(view, at + 4, 4);
    if (kind === "acTL")
      return { format_name: "apng", codec_name: "apng", ...size, frames: view.getUint32(at + 8), pix_fmt };
    if (kind === "IDAT") break;
  }
  return { format_name: "png_pipe", codec_name: "png", ...size, frames: 1, pix_fmt };
}

const PNG_SAMPLES: Readonly<Record<number, number>> = { 2: 3, 4: 2, 6: 4 };
const PNG_SLACK = 4096;
const PNG_START = 0x89504e47;
const PNG_HEAD = 33;

/**
 * Returns the maximum bytes of compressed data that a PNG with this header, or one frame of it, can need; null for other files. Deflate's
 * fixed codes take 9 bits for a byte, and an encoder may end a block at each line. More data would expand for minutes without a pixel.
 */
export function maxPngData(view: DataView): number | null {
  if (view.byteLength < 26 || view.getUint32(0) !== PNG_START) return null;
  return view.getUint32(20) * (pngLine(view, view.getUint32(16)) * (9 / 8) + 32) + PNG_SLACK;
}

/** Returns the number of bytes of an uncompressed row of `width` pixels, with the byte of its filter. */
function pngLine(header: DataView, width: number): number {
  const [bits, type] = [header.getUint8(24), header.getUint8(25)];
  return 1 + Math.ceil((width * bits * (PNG_SAMPLES[type] ?? 1)) / 8);
}

// Deflate expands data by this factor at most.
const MAX_EXPANSION = 1032;
// ffmpeg also expands the data after the pixels, at 100 to 300 MB a second.
const MAX_EXCESS = 256 * MIB;
const MAX_SCANNED = 64 * MIB;
const MAX_PNG_CHUNKS = 100_000;
const PNG_PIECE = MIB;
const FRAME_CONTROL = 12;

interface PngFrame {
  /** Number of bytes of its uncompressed pixels. */
  pixels: number;
  data: ByteRange[];
}

/**
 * Throws `input_unsupported` for a PNG, alone or in an icon, whose data expand to far more than its pixels. Rejects as the reader does.
 */
async function checkPngData(reader: ByteReader, head: Uint8Array, signal: AbortSignal): Promise<void> {
  let scanned = 0;
  for (const { start, end } of await pngsOf(reader, head, signal)) {
    // Pictures of an icon may share their data, so the work needs a bound.
    if (scanned > MAX_SCANNED) return;
    if ((end - start) * MAX_EXPANSION <= MAX_EXCESS) {
      // The head shows the lengths of the chunks; another read would only slow down ordinary pictures.
      await readPngFrames(readerOf(head), { start, end: Math.min(end, head.length) }, signal);
      continue;
    }
    let excess = 0;
    for (const { pixels, data } of await readPngFrames(reader, { start, end }, signal)) {
      const bytes = data.reduce((sum, range) => sum + range.end - range.start, 0);
      scanned += bytes;
      if (bytes * MAX_EXPANSION <= pixels || scanned > MAX_SCANNED) continue;
      const max = pixels + MAX_EXCESS - excess;
      excess += Math.max(0, (await inflatedSize(readPieces(reader, data, signal), max)) - pixels);
      if (excess > MAX_EXCESS) throw errors.excessPngData();
    }
  }
}

function readerOf(bytes: Uint8Array): ByteReader {
  return { size: bytes.length, read: async ({ start, end }) => bytes.subarray(start, end) };
}

async function pngsOf(reader: ByteReader, head: Uint8Array, signal: AbortSignal): Promise<ByteRange[]> {
  const { size } = reader;
  if (head.length >= PNG_HEAD && viewOf(head).getUint32(0) === PNG_START) return [{ start: 0, end: size }];
  if (!isIcon(head)) return [];
  const range = iconList(head);
  const list = range.end <= head.length ? head : await reader.read(range, signal);
  return readOr([], () => iconPictures(viewOf(list))).filter(({ end }) => end <= size);
}

async function readPngFrames(
  reader: ByteReader,
  { start, end }: ByteRange,
  signal: AbortSignal,
): Promise<PngFrame[]> {
  const file = createBlocks(reader, signal, MIB);
  const header = await file.view(start, PNG_HEAD);
  if (header.byteLength < PNG_HEAD || header.getUint32(0) !== PNG_START) return [];
  const max = maxPngData(header) ?? 0;
  const bytesOf = (width: number, height: number) => height * pngLine(header, width);
  const picture: PngFrame = { pixels: bytesOf(header.getUint32(16), header.getUint32(20)), data: [] };
  const frames = [picture];
  let frame = picture;
  for (let [at, count] = [start + 8, 0]; at + 12 <= end && count < MAX_PNG_CHUNKS; count++) {
    const view = await file.view(at, 8 + FRAME_CONTROL);
    const [length, name] = [view.getUint32(0), latinText(view, 4, 4)];
    // The repair of the file hides excess data in several chunks.
    if ((name === "IDAT" || name === "fdAT") && length > max) throw errors.excessPngData();
    if (name === "fcTL" && view.byteLength === 8 + FRAME_CONTROL) {
      frame = { pixels: bytesOf(view.getUint32(12), view.getUint32(16)), data: [] };
      frames.push(frame);
    }
    const body = name === "IDAT" ? at + 8 : at + 12;
    const last = Math.min(end, at + 8 + length);
    const isData = (name === "IDAT" || name === "fdAT") && last > body;
    if (isData) frame.data.push({ start: body, end: last });
    // Only a decoder of animations starts anew at a frame.
    if (isData && name === "IDAT" && frame !== picture) picture.data.push({ start: body, end: last });
    at += 12 + length;
  }
  return frames;
}

async function* readPieces(reader: ByteReader, ranges: readonly ByteRange[], signal: AbortSignal) {
  for (const { start, end } of ranges) {
    for (let at = start; at < end; at += PNG_PIECE)
      yield await reader.read({ start: at, end: Math.min(end, at + PNG_PIECE) }, signal);
  }
}

function readGif(view: DataView): HeaderFacts | null {
  if (!/^GIF8[79]a$/.test(latinText(view, 0, 6))) return null;
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  // Counting frames would need the whole file, so the loop extension identifies an animation.
  const head = latinText(view, 0, Math.min(view.byteLength, 1024));
  return {
    format_name: "gif",
    codec_name: "gif",
    ...size,
    frames: head.includes("NETSCAPE2.0") ? 2 : 1,
    pix_fmt: "bgra",
  };
}

function readWebp(view: DataView): HeaderFacts | null {
  if (latinText(view, 0, 4) !== "RIFF" || latinText(view, 8, 4) !== "WEBP") return null;
  const common = { format_name: "webp_pipe", codec_name: "webp" };
  const kind = latinText(view, 12, 4);
  if (kind === "VP8 ") {
    const size = { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    return { ...common, ...size, frames: 1, pix_fmt: "yuv420p" };
  }
  if (kind === "VP8L") {
    const bits = view.getUint32(21, true);
    const size = { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    return { ...common, ...size, frames: 1, pix_fmt: "argb" };
  }
  if (kind !== "VP8X") return null;
  const flags = view.getUint8(20);
  return {
    ...common,
    width: uint24(view, 24) + 1,
    height: uint24(view, 27) + 1,
    frames: flags & 0x02 ? Math.max(2, countFrames(view)) : 1,
    pix_fmt: flags & 0x10 ? "yuva420p" : "yuv420p",
  };
}

function countFrames(view: DataView): number {
  let frames = 0;
  for (let at = 12; at + 8 <= view.byteLength; ) {
    if (latinText(view, at, 4) === "ANMF") frames++;
    const size = view.getUint32(at + 4, true);
    at += 8 + size + (size & 1);
  }
  return frames;
}

function readBmp(view: DataView): HeaderFacts | null {
  if (latinText(view, 0, 2) !== "BM" || view.getUint32(14, true) < 40) return null;
  const size = { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) };
  return { format_name: "bmp_pipe", codec_name: "bmp", ...size, frames: 1 };
}

const HEAD = 262_144;
const LARGE_JPEG = 8 * MIB;
const MARKERS = { soi: 0xffd8, eoi: 0xffd9, sos: 0xffda, app1: 0xffe1, app2: 0xffe2 } as const;

/**
 * Returns whether JPEGs of the same size follow a JPEG, as in raw Motion JPEG. A photo has a list of its pictures (CIPA DC-007), or, with
 * EXIF data or a gain map, at most two of one size. Throws a RangeError when `view` ends too early to tell.
 */
function isMotionJpeg(view: DataView): boolean {
  const first = readJpeg(view);
  let [at, least] = [0, 2];
  for (let pictures = 1; pictures < least; pictures++) {
    let place = skipFill(view, at + 2);
    for (
      ;
      view.getUint16(place) !== MARKERS.sos;
      place = skipFill(view, place + 2 + view.getUint16(place + 2))
    ) {
      const marker = view.getUint16(place);
      if (marker === MARKERS.app2 && latinText(view, place + 4, 3) === "MPF") return false;
      if (marker === MARKERS.app1 || marker === MARKERS.app2) least = 3;
    }
    // Compressed data contain neither marker; a picture without an end marker lasts until the next one.
    while (view.getUint16(place) !== MARKERS.eoi && view.getUint16(place) !== MARKERS.soi) place++;
    at = skipFill(view, view.getUint16(place) === MARKERS.eoi ? place + 2 : place);
    if (view.getUint16(at) !== MARKERS.soi) return false;
    const next = readJpeg(new DataView(view.buffer, view.byteOffset + at, view.byteLength - at));
    if (next?.width !== first?.width || next?.height !== first?.height) return false;
  }
  return true;
}

// ITU-T T.81, B.1.1.2: any number of 0xFF may precede a marker.
function skipFill(view: DataView, at: number): number {
  let place = at;
  while (view.getUint16(place) === 0xffff) place++;
  return place;
}

/**
 * Checks the header of a common picture, and returns whether it is raw Motion JPEG. Throws `input_unsupported` for a JPEG in a rare coding,
 * a size that no encoder decodes and a PNG that would exhaust decoders; ffprobe would fail on them without a reason. Rejects as the reader
 * does.
 */
export async function checkPicture(
  reader: ByteReader,
  head: Uint8Array,
  signal: AbortSignal,
): Promise<{ motion: boolean }> {
  const view = viewOf(head);
  const isJpeg = view.byteLength > 2 && view.getUint16(0) === JPEG_START;
  const start = isJpeg ? await reader.read({ start: 0, end: Math.min(HEAD, reader.size) }, signal) : head;
  let motion = false;
  if (isJpeg) {
    const coding = JPEG_CODINGS[readOr(0, () => findFrame(viewOf(start))?.marker ?? 0)];
    if (coding) throw errors.jpegCoding({ coding });
    const large = reader.size > LARGE_JPEG;
    const first = large ? await reader.read({ start: 0, end: LARGE_JPEG / 2 }, signal) : start;
    motion = readOr(false, () => isMotionJpeg(viewOf(first)));
  }
  const facts = readHeaderFacts(start);
  if (facts) checkPixels(facts);
  await checkPngData(reader, head, signal);
  return { motion };
}

// ffmpeg's av_image_check_size without a pixel format, as its decoders call it.
const MAX_AREA = 2 ** 31 - 1;

/** Throws `input_unsupported` for pictures with a side that is too long, or with more pixels than ffmpeg decodes. */
export function checkPixels({ width, height }: Size): void {
  checkSides({ width, height });
  if ((8 * width + 1024) * (height + 128) >= MAX_AREA) throw errors.tooManyPixels({ width, height });
}

/** Throws `input_unsupported` for pictures with a side that is too long or 0. */
export function checkSides({ width, height }: Size): void {
  const { max } = BOUNDS.pixels;
  if (width >= 1 && height >= 1 && width <= max && height <= max) return;
  throw errors.sizeOutOfBounds({ width, height, max });
}
