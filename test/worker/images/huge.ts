import { crc32, deflateSync } from "node:zlib";

/** A PNG that claims a square of so many pixels a side, and has none. */
export function hugePng(side: number): Uint8Array {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync("")),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A gray progressive JPEG of one scan, of these sides in multiples of 16: one bit a block. */
export function progressiveJpeg(width: number, height: number): Uint8Array {
  const segment = (marker: number, ...bytes: number[]) => {
    const length = bytes.length + 2;
    return Buffer.from([0xff, marker, length >> 8, length & 0xff, ...bytes]);
  };
  const sides = [height >> 8, height & 0xff, width >> 8, width & 0xff];
  const blocks = (width / 16) * (height / 16) * 6;
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, 0, ...Array<number>(64).fill(1)),
    segment(0xc2, 8, ...sides, 3, ...[1, 0x22, 0], ...[2, 0x11, 0], ...[3, 0x11, 0]),
    segment(0xc4, 0, 1, ...Array<number>(15).fill(0), 0),
    segment(0xda, 3, ...[1, 0], ...[2, 0], ...[3, 0], 0, 0, 0),
    Buffer.alloc(Math.ceil(blocks / 8)),
    Buffer.from([0xff, 0xd9]),
  ]);
}
