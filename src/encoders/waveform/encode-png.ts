import { zlibSync } from "fflate";
import { concatBytes, viewOf } from "../../util/bytes.ts";

/** A picture of two colors, one bit a pixel. */
export interface TwoColors {
  width: number;
  height: number;
  /** Colors of a clear and of a set bit, `0xRRGGBB` or `0xRRGGBBAA`. */
  colors: readonly [string, string];
  /** Lines of pixels, each after the byte of its filter. */
  lines: Uint8Array;
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const PALETTE = 3;

/** Encodes a picture as PNG (ISO/IEC 15948); the same picture always has the same bytes, which `CompressionStream` does not promise. */
export function encodePng({ width, height, colors, lines }: TwoColors): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(13);
  viewOf(header).setUint32(0, width);
  viewOf(header).setUint32(4, height);
  header.set([1, PALETTE], 8);
  const parts = colors.map((color) => {
    const digits = color.slice(2).padEnd(8, "f");
    return [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  });
  return concatBytes([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", Uint8Array.from(parts.flatMap((part) => part.slice(0, 3)))),
    chunk("tRNS", Uint8Array.from(parts.map(([, , , alpha = 255]) => alpha))),
    chunk("IDAT", zlibSync(lines, { level: 9 })),
    chunk("IEND", new Uint8Array()),
  ]);
}

function chunk(name: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + data.length);
  const view = viewOf(bytes);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(name), 4);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crc(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

function crc(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (CRC_TABLE[(sum ^ byte) & 0xff] as number);
  return (sum ^ 0xffffffff) >>> 0;
}
