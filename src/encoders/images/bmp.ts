const HEAD = 54;

/** Writes opaque RGBA pixels as a BMP of 24 bits: large, but trivial to read. */
export function writeBmp({ data, width, height }: ImageData): Uint8Array<ArrayBuffer> {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bytes = new Uint8Array(HEAD + row * height);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0x424d);
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, HEAD, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, width, true);
  // Negative: the rows run from top to bottom.
  view.setInt32(22, -height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  view.setUint32(34, row * height, true);
  for (let y = 0, from = 0; y < height; y++) {
    for (let at = HEAD + y * row, end = at + width * 3; at < end; at += 3, from += 4) {
      bytes[at] = data[from + 2] as number;
      bytes[at + 1] = data[from + 1] as number;
      bytes[at + 2] = data[from] as number;
    }
  }
  return bytes;
}
