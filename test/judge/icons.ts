/** A bitmap of an icon, in one color, whose left half the mask hides. */
export interface MaskedBitmap {
  bits: 1 | 4 | 8 | 16 | 24 | 32;
  width: number;
  height: number;
  /** Whether pixels of 32 bits have an alpha of their own, which is opaque everywhere. */
  opaque?: boolean;
}

/** The color of a {@link MaskedBitmap}. */
export const ICON_COLOR = [206, 33, 33] as const;

/** Writes a {@link MaskedBitmap}, as an icon contains it. */
export function maskedBitmap({ bits, width, height, opaque = false }: MaskedBitmap): Buffer {
  const [red, green, blue] = ICON_COLOR;
  const header = Buffer.alloc(40);
  header.writeUInt32LE(header.length, 0);
  header.writeInt32LE(width, 4);
  // Both the pixels and the mask count.
  header.writeInt32LE(2 * height, 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(bits, 14);
  const palette = Buffer.alloc(bits > 8 ? 0 : 4 * 2 ** bits);
  // The last color of the palette, so that all bits of a pixel are set.
  if (bits <= 8) palette.set([blue, green, red], palette.length - 4);
  const pixels: Readonly<Record<number, readonly number[]>> = {
    16: [...Buffer.from(new Uint16Array([(25 << 10) | (4 << 5) | 4]).buffer)],
    24: [blue, green, red],
    32: [blue, green, red, opaque ? 255 : 0],
  };
  const line = lineOf(width * bits, (at) => {
    const pixel = pixels[bits];
    return pixel ? (pixel[at % pixel.length] ?? 0) : 255;
  });
  const mask = lineOf(width, (at) => (at < width / 16 ? 255 : 0));
  return Buffer.concat([header, palette, ...Array(height).fill(line), ...Array(height).fill(mask)]);
}

// Lines are padded to 32 bits.
function lineOf(bits: number, byteAt: (at: number) => number): Buffer {
  const line = Buffer.alloc(Math.ceil(bits / 32) * 4);
  for (let at = 0; at < bits / 8; at++) line[at] = byteAt(at);
  return line;
}

/** A picture of an icon: a bitmap or a PNG. */
export interface IconPicture {
  data: Buffer;
  width: number;
  height: number;
}

/** Writes an icon, or a cursor, of these pictures. */
export function writeIcon(pictures: readonly IconPicture[], kind: "icon" | "cursor" = "icon"): Buffer {
  // A header of three numbers, and an entry of 16 bytes for each picture.
  const header = Buffer.alloc(6 + 16 * pictures.length);
  header.writeUInt16LE(kind === "icon" ? 1 : 2, 2);
  header.writeUInt16LE(pictures.length, 4);
  let at = header.length;
  for (const [index, { data, width, height }] of pictures.entries()) {
    const entry = 6 + 16 * index;
    // A side of 256 pixels and more is 0.
    header.set([width > 255 ? 0 : width, height > 255 ? 0 : height, 0, 0, 1, 0, 32, 0], entry);
    header.writeUInt32LE(data.length, entry + 8);
    header.writeUInt32LE(at, entry + 12);
    at += data.length;
  }
  return Buffer.concat([header, ...pictures.map(({ data }) => data)]);
}
