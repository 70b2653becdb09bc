import type { Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import type { Edit } from "../../mux/file-edit.ts";
import { createBlocks } from "../../probe/packet-lengths.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { concatBytes, KIB, latinText, viewOf } from "../../util/bytes.ts";

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
