import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { boundReader, type ProbeBounds } from "./bounded-reader.ts";
import { readMovieIndex } from "./isobmff/isobmff.ts";
import { readSyncTimes } from "./isobmff/sync-times.ts";
import { readCueTimes } from "./matroska/matroska-cues.ts";

// Reads the index only, which may be as large as in a probe.
const INDEX_BOUNDS: ProbeBounds = { reads: 1000, blocks: 512, jumps: 80 };

// Twice as many as six hours have with one every half second; a source with more can be cut anywhere.
const MOST = 100_000;

/**
 * Returns the times of a source's keyframes in seconds, ascending, from its index, without reading media. Empty when there
 * is no index, it is damaged or too large, or does not distinguish keyframes because all pictures are. Rejects only when
 * aborted.
 */
export async function readKeyframes(
  reader: ByteReader,
  { format }: Source,
  signal: AbortSignal,
): Promise<number[]> {
  const read = READERS[format];
  if (!read) return [];
  try {
    const times = await read(boundReader(reader, INDEX_BOUNDS, signal), signal);
    const rounded = times.filter((time) => time >= 0).map((time) => Math.round(time * 1e6) / 1e6);
    return rounded.length > MOST ? [] : [...new Set(rounded)].sort((a, b) => a - b);
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

async function readMovie(reader: ByteReader): Promise<number[]> {
  const index = await readMovieIndex(reader);
  return index && !index.fragmented ? readSyncTimes(index.moov, MOST) : [];
}

const READERS: Readonly<Record<string, (reader: ByteReader, signal: AbortSignal) => Promise<number[]>>> = {
  mp4: readMovie,
  mov: readMovie,
  matroska: readCueTimes,
  webm: readCueTimes,
};
