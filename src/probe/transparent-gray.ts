import type { ByteReader } from "../core/ports.ts";
import { viewOf } from "../util/bytes.ts";

// A color profile or a text may precede the chunk.
const HEAD = 262_144;

const NAMES = { IHDR: 0x49484452, tRNS: 0x74524e53, IDAT: 0x49444154 } as const;

/**
 * Returns the gray that stands for transparency in a PNG of 1, 2 or 4 bits, as `0xRRGGBB`; null in any other file. ffmpeg, which
 * compares it with the values that it has spread to 8 bits, misses it.
 */
export async function transparentGray(reader: ByteReader, signal: AbortSignal): Promise<string | null> {
  const view = viewOf(await reader.read({ start: 0, end: HEAD }, signal));
  try {
    return readGray(view);
  } catch (thrown) {
    // The file ends within a chunk.
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

// W3C PNG, 11.2.1 and 11.3.1.1: color type 0 is gray, whose transparent value has the bits of a pixel.
function readGray(view: DataView): string | null {
  const [bits, type] = [view.getUint8(24), view.getUint8(25)];
  if (view.getUint32(12) !== NAMES.IHDR || type !== 0 || bits >= 8) return null;
  for (let at = 33; ; at += 12 + view.getUint32(at)) {
    const name = view.getUint32(at + 4);
    if (name === NAMES.IDAT) return null;
    if (name !== NAMES.tRNS) continue;
    const most = 2 ** bits - 1;
    const gray = ((view.getUint16(at + 8) & most) * 255) / most;
    return `0x${gray.toString(16).padStart(2, "0").repeat(3)}`;
  }
}
