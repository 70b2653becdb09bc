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
