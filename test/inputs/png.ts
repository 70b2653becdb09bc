import { crc32, deflateSync } from "node:zlib";

/** The header of a PNG: its size, the bits of a sample, and the number of its color type. */
export interface PngHeader {
  width: number;
  height: number;
  bits: number;
  type: number;
}

/** A PNG of this header with these chunks before its data; `rows` are the filtered lines, not yet compressed. */
export function makePng(
  { width, height, bits, type }: PngHeader,
  rows: Uint8Array,
  before: Readonly<Record<string, readonly number[]>> = {},
  level = 9,
): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, bits, type, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    pngChunk("IHDR", header),
    ...Object.entries(before).map(([name, body]) => pngChunk(name, Buffer.from(body))),
    pngChunk("IDAT", deflateSync(rows, { level })),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A valid PNG of one color and any size, with data as small as zlib makes it. */
export function flatPng(width: number, height: number, rows = height): Buffer {
  return makePng({ width, height, bits: 1, type: 0 }, Buffer.alloc((1 + Math.ceil(width / 8)) * rows));
}

/** A PNG that claims a square of so many pixels a side, and has none. */
export function hugePng(side: number): Buffer {
  return makePng({ width: side, height: side, bits: 8, type: 2 }, Buffer.alloc(0));
}

/** A gray PNG of these values, row by row; the lines are a whole number of bytes. */
export function grayPng(width: number, bits: number, values: readonly number[], transparent: number): Buffer {
  const height = values.length / width;
  const rows = Array.from({ length: height }, (_, row) => {
    const line = values.slice(row * width, (row + 1) * width);
    const digits = line.map((value) => value.toString(2).padStart(bits, "0")).join("");
    return [0, ...Array.from(digits.matchAll(/.{8}/g), ([byte]) => Number.parseInt(byte, 2))];
  });
  return makePng({ width, height, bits, type: 0 }, Buffer.from(rows.flat()), { tRNS: [0, transparent] });
}

/** A chunk of a PNG: its length, name, body and checksum. */
export function pngChunk(name: string, body: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(name, "latin1"), body]);
  const framed = Buffer.alloc(content.length + 8);
  framed.writeUInt32BE(body.length, 0);
  content.copy(framed, 4);
  framed.writeUInt32BE(crc32(content), content.length + 4);
  return framed;
}
