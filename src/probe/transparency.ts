import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";
import { bytesOf, latinText, MIB, readOr, viewOf } from "../util/bytes.ts";
import { isOpaqueGif } from "./gif.ts";
import { createBlocks } from "./packet-lengths.ts";

const HEAD = 262_144;

type Transparency = Pick<Source, "has_alpha" | "binary_alpha" | "transparent_color">;

/**
 * Returns what a PNG, GIF or WebP states about its transparency, which its pixel format does not tell; nothing for other files. Rejects
 * as the reader does.
 */
export async function readTransparency(
  { format, pixel_format }: Source,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<Transparency> {
  if (format === "gif") return (await isOpaqueGif(reader, signal)) ? { has_alpha: false } : BINARY;
  if (format === "webp") return readWebp(reader, signal);
  if (format !== "png") return {};
  const view = viewOf(await reader.read({ start: 0, end: HEAD }, signal));
  if (pixel_format === "pal8") return readOr({ has_alpha: true }, () => readPalette(view));
  const gray = readOr(null, () => readGray(view));
  if (gray) return { ...BINARY, transparent_color: gray };
  // In gray and RGB, the chunk names the one transparent color.
  const isKeyed = KEYED.has(readOr(-1, () => view.getUint8(25)));
  return isKeyed && readOr(null, () => findTransparency(view)) !== null ? BINARY : {};
}

// W3C PNG, 11.2.1: the color types gray and RGB.
const KEYED: ReadonlySet<number> = new Set([0, 2]);
const BINARY = { has_alpha: true, binary_alpha: true } as const;

// W3C PNG, 11.3.1.1: one byte of transparency for each color of the palette.
function readPalette(view: DataView): Transparency {
  const at = findTransparency(view);
  if (at === null) return { has_alpha: false };
  const values = Array.from({ length: view.getUint32(at) }, (_, index) => view.getUint8(at + 8 + index));
  return values.every((value) => value === 0 || value === 255) ? BINARY : { has_alpha: true };
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
    if (flags & WEBP.animated) {
      const mayBeTransparent = (flags & WEBP.transparent) !== 0;
      return { has_alpha: !(await isOpaqueAnimation(reader, mayBeTransparent, signal)) };
    }
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

const MAX_WALKED = 16 * MIB;
const ANIMATION = { header: 24, frame: 53, blends: 2, clears: 1, sides: 6 } as const;

/**
 * Returns whether an animated WebP is opaque as shown, by the headers of its frames. The flag of the file does not tell: encoders set it
 * for frames whose transparent parts show earlier frames, but not for opaque frames that leave a part of the canvas clear.
 */
async function isOpaqueAnimation(
  reader: ByteReader,
  mayBeTransparent: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  if (reader.size > MAX_WALKED) return !mayBeTransparent;
  const file = createBlocks(reader, signal, MIB);
  const canvas = bytesOf(await file.view(24, ANIMATION.sides)).slice();
  let hasHoles = true;
  for (let at = 12; at + ANIMATION.frame <= reader.size; ) {
    const view = await file.view(at, ANIMATION.frame);
    if (latinText(view, 0, 4) === "ANMF") {
      const bytes = bytesOf(view);
      const flags = view.getUint8(23);
      const covers =
        bytes.subarray(8, 14).every((value) => value === 0) &&
        bytes.subarray(14, 20).every((value, index) => value === canvas[index]);
      const replaces = hasHoles || (flags & ANIMATION.blends) !== 0;
      if (hasHoles && !covers) return false;
      if (mayBeTransparent && replaces && !isOpaqueFrame(view)) return false;
      hasHoles = (flags & ANIMATION.clears) !== 0;
    }
    const size = view.getUint32(4, true);
    at += 8 + size + (size & 1);
  }
  return true;
}

function isOpaqueFrame(view: DataView): boolean {
  const name = latinText(view, ANIMATION.header, 4);
  return name === "VP8 " || (name === "VP8L" && (view.getUint32(33, true) & WEBP.lossless) === 0);
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
