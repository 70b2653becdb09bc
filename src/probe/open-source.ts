import type { ByteReader } from "../core/ports.ts";
import { boundReader } from "./bounded-reader.ts";
import { readMovieIndex } from "./isobmff/isobmff.ts";
import { hideDamage } from "./matroska/matroska-damage.ts";

// mediabunny reads a few times for each packet; a million packets are six hours of sound.
const READS = 2_000_000;

/**
 * Prepares a source that was made by strangers for mediabunny, which can run for ever over a damaged one: an MP4 or MOV
 * whose index contradicts itself gives null, and of any file only so much is read. Let mediabunny cache nothing of it, so
 * that every read is counted.
 */
export async function openSource(
  reader: ByteReader,
  format: string,
  signal: AbortSignal,
): Promise<ByteReader | null> {
  const bounds = { reads: READS, blocks: Number.POSITIVE_INFINITY, jumps: Number.POSITIVE_INFINITY };
  if (format === "matroska" || format === "webm") {
    return boundReader(await hideDamage(reader, signal), bounds, signal);
  }
  if (format !== "mp4" && format !== "mov") return boundReader(reader, bounds, signal);
  const index = await readMovieIndex(reader);
  const usable = index && !index.fragmented && [...index.tracks.values()].every(({ sound }) => sound);
  return usable ? boundReader(index.reader, bounds, signal) : null;
}
