import { ALL_FORMATS, CustomSource, Input, type InputFormat } from "mediabunny";
import { isIsobmff } from "../media/containers.ts";
import type { ByteReader } from "../runs/ports.ts";
import { hideDamage } from "./matroska.ts";
import { readMovieIndex } from "./mp4.ts";
import { boundReader } from "./reader.ts";

// mediabunny reads a few times per packet; a million packets are six hours of sound.
const MAX_READS = 2_000_000;

/**
 * Prepares an untrusted source for mediabunny, which can loop forever over a damaged one: bounds its reads, and returns null for
 * an MP4 or MOV with an inconsistent index. Disable mediabunny's cache, so that every read counts.
 */
export async function openSource(
  reader: ByteReader,
  format: string,
  signal: AbortSignal,
): Promise<ByteReader | null> {
  const bounds = { reads: MAX_READS, blocks: Number.POSITIVE_INFINITY, jumps: Number.POSITIVE_INFINITY };
  if (!isIsobmff(format)) return boundReader(await hideDamage(reader, format, signal), bounds, signal);
  const index = await readMovieIndex(reader);
  const usable =
    index && !index.fragmented && [...index.tracks.values()].every(({ consistent }) => consistent);
  return usable ? boundReader(index.reader, bounds, signal) : null;
}

/**
 * Opens a file in mediabunny without a cache: every read then counts towards the bounds of `reader`, which stop an endless loop over a
 * malformed file. Dispose of the result.
 */
export function openUncached(reader: ByteReader, formats: InputFormat[] = ALL_FORMATS): Input {
  const source = new CustomSource({
    getSize: () => reader.size,
    read: (start, end) => reader.read({ start, end }),
    handleUnhandledError: () => {},
    maxCacheSize: 0,
  });
  return new Input({ source, formats });
}
