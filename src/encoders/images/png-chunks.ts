import { concatBytes, viewOf } from "../../util/bytes.ts";

/** The first eight bytes of every PNG (ISO/IEC 15948). */
export const PNG_SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** Builds a chunk of a PNG: the length of its data, its type, the data and their CRC-32. */
export function pngChunk(type: string, ...data: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const typed = concatBytes([new TextEncoder().encode(type), ...data]);
  return concatBytes([u32(typed.length - 4), typed, u32(crc32(typed))]);
}

/** Returns the four bytes of an unsigned integer, as PNG stores it. */
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
