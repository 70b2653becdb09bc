import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, latinText, MIB, readOr, viewOf } from "../util/bytes.ts";

/** Values of a GIF's bytes (GIF89a): kinds of blocks, and flags and disposals of a graphic control extension. */
export const GIF = {
  extension: 0x21,
  application: 0xff,
  control: 0xf9,
  image: 0x2c,
  trailer: 0x3b,
  transparent: 1,
  background: 2,
  previous: 3,
} as const;

/** Returns the length in bytes of the header with the global palette. Throws a RangeError when the view ends too early. */
export function headerBytes(view: DataView): number {
  return 13 + paletteBytes(view.getUint8(10));
}

/** Returns the length in bytes of the block that starts at `at`. Throws a RangeError when the view ends too early. */
export function blockBytes(view: DataView, at: number): number {
  const kind = view.getUint8(at);
  if (kind === GIF.extension) return subBlocksEnd(view, at + 2) - at;
  return kind === GIF.image ? subBlocksEnd(view, dataStart(view, at) + 1) - at : 1;
}

/** Returns the start of a picture's data, which begins with the minimum size of an LZW code. */
export function dataStart(view: DataView, image: number): number {
  return image + 10 + paletteBytes(view.getUint8(image + 9));
}

function paletteBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function subBlocksEnd(view: DataView, start: number): number {
  let at = start;
  for (let size = view.getUint8(at); size > 0; size = view.getUint8(at)) at += size + 1;
  return at + 1;
}

/** Returns the color profile that an application extension holds; null when there is none. Throws a RangeError when the view ends too early. */
export function readGifProfile(view: DataView): Uint8Array | null {
  for (let at = headerBytes(view); view.getUint8(at) === GIF.extension; at += blockBytes(view, at)) {
    if (view.getUint8(at + 1) !== GIF.application || latinText(view, at + 3, 11) !== "ICCRGBG1012") continue;
    const parts: Uint8Array[] = [];
    // The name is a sub-block of its own.
    let next = at + 3 + 11;
    for (let length = view.getUint8(next); length > 0; length = view.getUint8(next)) {
      parts.push(new Uint8Array(view.buffer, view.byteOffset + next + 1, length));
      next += 1 + length;
    }
    return concatBytes(parts);
  }
  return null;
}

/** Maximum bytes of a GIF that are examined. */
export const MAX_GIF = 16 * MIB;

/**
 * Returns whether all frames of a GIF are opaque as shown: an opaque picture must cover the canvas at the start and wherever a picture
 * was removed. Elsewhere, earlier pictures show through transparent pixels.
 */
export async function isOpaqueGif(reader: ByteReader, signal: AbortSignal): Promise<boolean> {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < Math.min(reader.size, MAX_GIF); start += MIB) {
    parts.push(await reader.read({ start, end: Math.min(start + MIB, reader.size) }, signal));
    const isOpaque = readOr(null, () => readGif(viewOf(concatBytes(parts))));
    if (isOpaque !== null) return isOpaque;
  }
  return false;
}

// GIF89a, 18 to 23.
function readGif(view: DataView): boolean {
  const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)];
  let [control, clear] = [0, 0];
  let hasHoles = true;
  let pictures = 0;
  for (let at = headerBytes(view), next = at; ; at = next) {
    const kind = view.getUint8(at);
    next = at + blockBytes(view, at);
    if (kind === GIF.extension) {
      if (view.getUint8(at + 1) === GIF.control)
        [control, clear] = [view.getUint8(at + 3), view.getUint8(at + 6)];
    } else if (kind === GIF.image) {
      const [x, y, w, h] = [1, 3, 5, 7].map((place) => view.getUint16(at + place, true));
      const covers = x === 0 && y === 0 && w === width && h === height;
      const data = dataStart(view, at);
      // Encoders reserve a transparent color and may not use it.
      const isClear = hasHoles && (control & GIF.transparent) !== 0 && usesColor(view, data, clear);
      if (hasHoles && (!covers || isClear)) return false;
      const disposal = (control >> 2) & 7;
      hasHoles = disposal === GIF.background || (disposal === GIF.previous && hasHoles);
      control = 0;
      pictures++;
    } else return pictures > 0;
  }
}

const MAX_CODES = 4096;
// Codes have up to 12 bits, so colors have fewer.
const MAX_COLOR_BITS = 11;

function usesColor(view: DataView, start: number, color: number): boolean {
  return usedColors(view, start, color)[color] === 1;
}

/**
 * Returns 1 for each color that a picture's data uses, by index, and 0 for the others; stops at the color `until`. Throws a RangeError
 * when the view ends too early.
 */
export function usedColors(view: DataView, start: number, until = -1): Uint8Array {
  const colors = new Uint8Array(2 ** MAX_COLOR_BITS);
  const codeBits = view.getUint8(start);
  if (codeBits > MAX_COLOR_BITS) return colors.fill(1);
  // LZW (GIF89a, appendix F): a code stands for an earlier code followed by one color.
  const end = 2 ** codeBits + 1;
  const codes = codesOf(view, start + 1);
  const prefix = new Int16Array(MAX_CODES).fill(-1);
  const [first, last, isCounted] = [0, 1, 2].map(() => new Uint16Array(MAX_CODES)) as [
    Uint16Array,
    Uint16Array,
    Uint16Array,
  ];
  for (let color = 0; color < end - 1; color++) first[color] = last[color] = color;
  const count = (code: number) => {
    for (let at = code; at >= 0 && !isCounted[at]; at = prefix[at] ?? -1) {
      isCounted[at] = 1;
      colors[last[at] ?? 0] = 1;
    }
  };
  let [next, width, before] = [end + 1, codeBits + 1, -1];
  for (let code = codes(width); code !== null && code !== end; code = codes(width)) {
    if (code === end - 1) {
      isCounted.fill(0, end + 1);
      [next, width, before] = [end + 1, codeBits + 1, -1];
      continue;
    }
    if (before >= 0 && next < MAX_CODES) {
      prefix[next] = before;
      first[next] = first[before] ?? 0;
      last[next] = first[code < next ? code : before] ?? 0;
      next++;
      if (next === 2 ** width && width < 12) width++;
    }
    if (code < next) count(code);
    if (colors[until]) return colors;
    before = code;
  }
  return colors;
}

function codesOf(view: DataView, start: number): (width: number) => number | null {
  let [at, remaining, value, bits] = [start, 0, 0, 0];
  return (width) => {
    while (bits < width) {
      if (remaining === 0) remaining = view.getUint8(at++);
      if (remaining === 0) return null;
      value |= view.getUint8(at++) << bits;
      bits += 8;
      remaining--;
    }
    const code = value & (2 ** width - 1);
    value >>= width;
    bits -= width;
    return code;
  };
}
