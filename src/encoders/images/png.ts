import { concatBytes, viewOf } from "../../util/bytes.ts";

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

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
