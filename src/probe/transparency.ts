import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, latinText, MIB, viewOf } from "../util/bytes.ts";

const HEAD = 262_144;
const MAX_GIF = 16 * MIB;

type Transparency = Pick<Source, "has_alpha" | "transparent_color">;

/**
 * Returns what a PNG, GIF or WebP states about its transparency, which its pixel format does not tell; nothing for other files. Rejects
 * as the reader does.
 */
export async function readTransparency(
  { format, pixel_format }: Source,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<Transparency> {
  if (format === "gif") return { has_alpha: !(await isOpaqueGif(reader, signal)) };
  if (format === "webp") return readWebp(reader, signal);
  if (format !== "png") return {};
  const view = viewOf(await reader.read({ start: 0, end: HEAD }, signal));
  if (pixel_format === "pal8") return { has_alpha: orElse(true, () => findTransparency(view) !== null) };
  const gray = orElse(null, () => readGray(view));
  return gray ? { has_alpha: true, transparent_color: gray } : {};
}

function orElse<T>(value: T, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof RangeError) return value;
    throw thrown;
  }
}

const WEBP = { transparent: 0x10, animated: 0x02, lossless: 2 ** 28 } as const;
const MAX_CHUNKS = 16;

// RFC 9649, 2.7.1 and 3.4: ffmpeg decodes every lossless picture with transparency.
async function readWebp(reader: ByteReader, signal: AbortSignal): Promise<Transparency> {
  let flags = 0;
  for (let [at, count] = [12, 0]; at + 13 <= reader.size && count < MAX_CHUNKS; count++) {
    const view = viewOf(await reader.read({ start: at, end: Math.min(at + 13, reader.size) }, signal));
    if (view.byteLength < 13) break;
    const name = latinText(view, 0, 4);
    if (name === "VP8X") flags = view.getUint8(8);
    if (flags & WEBP.animated) return { has_alpha: (flags & WEBP.transparent) !== 0 };
    if (name === "VP8L") {
      const isUsed = (view.getUint32(9, true) & WEBP.lossless) !== 0;
      return { has_alpha: isUsed || (flags & WEBP.transparent) !== 0 };
    }
    if (name === "VP8 ") break;
    const size = view.getUint32(4, true);
    at += 8 + size + (size & 1);
  }
  return {};
}

const CHUNKS = { IHDR: 0x49484452, tRNS: 0x74524e53, IDAT: 0x49444154 } as const;

/**
 * Returns the transparent gray of a PNG of 1, 2 or 4 bits, as `0xRRGGBB`; null for other files. ffmpeg misses it, because it
 * compares the value with samples scaled to 8 bits.
 */
function readGray(view: DataView): string | null {
  // W3C PNG, 11.2.1 and 11.3.1.1: color type 0 is gray; its transparent value has the bit depth of the pixels.
  const [bits, type] = [view.getUint8(24), view.getUint8(25)];
  if (view.getUint32(12) !== CHUNKS.IHDR || type !== 0 || bits >= 8) return null;
  const at = findTransparency(view);
  if (at === null) return null;
  const max = 2 ** bits - 1;
  const gray = ((view.getUint16(at + 8) & max) * 255) / max;
  return `0x${gray.toString(16).padStart(2, "0").repeat(3)}`;
}

function findTransparency(view: DataView): number | null {
  for (let at = 33; ; at += 12 + view.getUint32(at)) {
    const name = view.getUint32(at + 4);
    if (name === CHUNKS.IDAT) return null;
    if (name === CHUNKS.tRNS) return at;
  }
}

const GIF = {
  extension: 0x21,
  control: 0xf9,
  image: 0x2c,
  transparent: 1,
  background: 2,
  previous: 3,
} as const;

/**
 * Returns whether all frames of a GIF are opaque as shown: an opaque picture must cover the canvas at the start and wherever a picture
 * was removed. Elsewhere, earlier pictures show through transparent pixels.
 */
async function isOpaqueGif(reader: ByteReader, signal: AbortSignal): Promise<boolean> {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < Math.min(reader.size, MAX_GIF); start += MIB) {
    parts.push(await reader.read({ start, end: Math.min(start + MIB, reader.size) }, signal));
    const verdict = orElse(null, () => readGif(viewOf(concatBytes(parts))));
    if (verdict !== null) return verdict;
  }
  return false;
}

// GIF89a, 18 to 23.
function readGif(view: DataView): boolean {
  const tableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)];
  let at = 13 + tableBytes(view.getUint8(10));
  let [control, clear] = [0, 0];
  let hasHoles = true;
  for (let pictures = 0; ; ) {
    const kind = view.getUint8(at);
    if (kind === GIF.extension) {
      if (view.getUint8(at + 1) === GIF.control)
        [control, clear] = [view.getUint8(at + 3), view.getUint8(at + 6)];
      at = afterBlocks(view, at + 2);
    } else if (kind === GIF.image) {
      const [x, y, w, h] = [1, 3, 5, 7].map((place) => view.getUint16(at + place, true));
      const covers = x === 0 && y === 0 && w === width && h === height;
      const data = at + 10 + tableBytes(view.getUint8(at + 9));
      at = afterBlocks(view, data + 1);
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

function afterBlocks(view: DataView, start: number): number {
  let at = start;
  for (let size = view.getUint8(at); size > 0; size = view.getUint8(at)) at += size + 1;
  return at + 1;
}

const MAX_CODES = 4096;
// Colors that leave room for the codes of 12 bits.
const MAX_COLOR_BITS = 11;

// Decodes LZW (GIF89a, appendix F) until it meets the color.
function usesColor(view: DataView, start: number, color: number): boolean {
  const least = view.getUint8(start);
  if (least > MAX_COLOR_BITS) return true;
  const end = 2 ** least + 1;
  const codes = codesOf(view, start + 1);
  const first = new Uint8Array(MAX_CODES);
  const includes = new Uint8Array(MAX_CODES);
  for (let code = 0; code < end - 1; code++) {
    first[code] = code;
    includes[code] = code === color ? 1 : 0;
  }
  let [next, width, before] = [end + 1, least + 1, -1];
  for (let code = codes(width); code !== null && code !== end; code = codes(width)) {
    if (code === end - 1) {
      [next, width, before] = [end + 1, least + 1, -1];
      continue;
    }
    if (before >= 0 && next < MAX_CODES) {
      const added = first[code < next ? code : before] ?? 0;
      first[next] = first[before] ?? 0;
      includes[next] = includes[before] || added === color ? 1 : 0;
      next++;
      if (next === 2 ** width && width < 12) width++;
    }
    if (includes[code]) return true;
    before = code;
  }
  return false;
}

function codesOf(view: DataView, start: number): (width: number) => number | null {
  let [at, left, value, bits] = [start, 0, 0, 0];
  return (width) => {
    while (bits < width) {
      if (left === 0) left = view.getUint8(at++);
      if (left === 0) return null;
      value |= view.getUint8(at++) << bits;
      bits += 8;
      left--;
    }
    const code = value & (2 ** width - 1);
    value >>= width;
    bits -= width;
    return code;
  };
}
