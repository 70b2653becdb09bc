import type { Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import type { Edit } from "../../mux/file-edit.ts";
import { createBlocks } from "../../probe/packet-lengths.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { KIB, latinText } from "../../util/bytes.ts";

const PLAIN: ReadonlySet<string> = new Set([
  "geometry",
  "quality",
  "effort",
  "animated",
  "alpha",
  "matte",
  "max_bytes",
]);
const DEPTH = 8;

/** Returns whether a plan turns a PNG into a PNG of the same pixels. */
export function isSamePng({ format, still, image }: Plan, source: Source): boolean {
  if (!image || !still || format !== "png" || source.kind !== "image" || source.format !== "png")
    return false;
  const { geometry, animated, matte } = image;
  const { rotate, mirror, crop, scale, pad } = geometry;
  const isMoved = rotate !== 0 || mirror || crop !== null || scale !== null || pad !== null;
  const changes = Object.entries(image).filter(([name, value]) => !PLAIN.has(name) && value !== false);
  const isPlain = changes.length === 0 && matte === null && !animated;
  return isPlain && !isMoved && (source.color?.bit_depth ?? DEPTH) <= DEPTH && !source.color_profile;
}

const START = 8;
const HEADER = 18;
const GRAY = 0;
const KEPT: ReadonlySet<string> = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
const MAX_CHUNKS = 100_000;

/**
 * Returns the edits that reduce a PNG to its pixels, without tags and other data of the file; null when it is incomplete, or when readers
 * differ on its transparency. Rejects as the reader does.
 */
export async function pngEdits(reader: ByteReader, signal: AbortSignal): Promise<Edit[] | null> {
  const file = createBlocks(reader, signal, 64 * KIB);
  const edits: Edit[] = [];
  const header = await file.view(START, HEADER);
  const [depth, color] = [header.getUint8(16), header.getUint8(17)];
  for (let [at, count] = [START, 0]; at + 12 <= reader.size && count < MAX_CHUNKS; count++) {
    const view = await file.view(at, 8);
    const [name, end] = [latinText(view, 4, 4), at + 12 + view.getUint32(0)];
    if (end > reader.size) return null;
    // ffmpeg (5.1) shows the transparent value of gray below 8 bits.
    if (name === "tRNS" && color === GRAY && depth < DEPTH) return null;
    if (!KEPT.has(name)) edits.push({ start: at, end, bytes: [] });
    if (name === "IEND")
      return end < reader.size ? [...edits, { start: end, end: reader.size, bytes: [] }] : edits;
    at = end;
  }
  return null;
}
