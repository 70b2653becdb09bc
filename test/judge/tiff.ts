/** How a TIFF stores a picture of one color. */
export interface TiffShape {
  /** TIFF 6.0: 1 gray, 2 RGB, 3 a palette, 5 CMYK, 8 CIE L*a*b*. */
  photometric: 1 | 2 | 3 | 5 | 8;
  bits: 8 | 16 | 32;
  /** SampleFormat: 2 for signed, 3 for floating-point samples; absent for unsigned ones. */
  format?: 2 | 3;
  /** The Compression tag; absent for none. The pixels are never compressed. */
  compression?: number;
  /** The samples of every pixel, 0 to 255. */
  samples: readonly number[];
  /** Whether the bits of a byte are said to be in reverse order; the pixels are written as they are. */
  reversed?: boolean;
  /** Whether each sample has a plane of its own. */
  planar?: boolean;
  /** Whether the pixels are stored in tiles. */
  tiles?: boolean;
  /** The meaning of the samples beyond the colors: 0 unknown, 1 premultiplied alpha, 2 straight alpha. */
  extra?: 0 | 1 | 2;
}

const SIDE = 32;
const TILE = 16;
const SHORT = 3;
const LONG = 4;

/** Writes an uncompressed TIFF of 32x32 pixels. */
export function writeTiff({
  photometric,
  bits,
  samples,
  planar,
  tiles,
  extra,
  format,
  compression = 1,
  reversed,
}: TiffShape): Buffer {
  const side = tiles ? TILE : SIDE;
  const count = (SIDE / side) ** 2;
  const plane = (values: readonly number[]) => {
    // Both bytes of 257 times a value are the value.
    const pixel = values.flatMap((value) => Array<number>(bits / 8).fill(value));
    return Array<Buffer>(count).fill(Buffer.alloc(side * side * pixel.length, Buffer.from(pixel)));
  };
  const parts = planar ? samples.flatMap((value) => plane([value])) : plane(samples);
  const offsets = parts.map((_, at) => 8 + parts.slice(0, at).reduce((sum, { length }) => sum + length, 0));
  const lengths = parts.map(({ length }) => length);
  const entries: [tag: number, type: number, values: readonly number[]][] = [
    [256, LONG, [SIDE]],
    [257, LONG, [SIDE]],
    [258, SHORT, samples.map(() => bits)],
    [259, SHORT, [compression]],
    [262, SHORT, [photometric]],
    ...(reversed ? ([[266, SHORT, [2]]] as [number, number, number[]][]) : []),
    ...(tiles ? [] : ([[273, LONG, offsets]] as [number, number, number[]][])),
    [277, SHORT, [samples.length]],
    ...(tiles
      ? []
      : ([
          [278, LONG, [SIDE]],
          [279, LONG, lengths],
        ] as [number, number, number[]][])),
    [284, SHORT, [planar ? 2 : 1]],
    ...(tiles
      ? ([
          [322, LONG, [TILE]],
          [323, LONG, [TILE]],
          [324, LONG, offsets],
          [325, LONG, lengths],
        ] as [number, number, number[]][])
      : []),
    ...(extra === undefined ? [] : ([[338, SHORT, [extra]]] as [number, number, number[]][])),
    ...(format === undefined
      ? []
      : ([[339, SHORT, samples.map(() => format)]] as [number, number, number[]][])),
  ];
  return layOut(Buffer.concat(parts), entries);
}

// The pixels, the values that do not fit into their entries, and the directory.
function layOut(pixels: Buffer, entries: readonly (readonly [number, number, readonly number[]])[]): Buffer {
  let values = Buffer.alloc(0);
  const directory = entries.map(([tag, type, list]) => {
    const width = type === SHORT ? 2 : 4;
    const body = Buffer.alloc(width * list.length);
    list.forEach((value, at) => {
      body.writeUIntLE(value, width * at, width);
    });
    const entry = Buffer.alloc(12);
    entry.writeUInt16LE(tag, 0);
    entry.writeUInt16LE(type, 2);
    entry.writeUInt32LE(list.length, 4);
    if (body.length <= 4) body.copy(entry, 8);
    else {
      entry.writeUInt32LE(8 + pixels.length + values.length, 8);
      values = Buffer.concat([values, body]);
    }
    return entry;
  });
  const head = Buffer.from("49492a0000000000", "hex");
  head.writeUInt32LE(8 + pixels.length + values.length, 4);
  const count = Buffer.alloc(2);
  count.writeUInt16LE(directory.length);
  return Buffer.concat([head, pixels, values, count, ...directory, Buffer.alloc(4)]);
}
