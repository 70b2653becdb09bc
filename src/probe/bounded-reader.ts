import type { ByteReader } from "../core/ports.ts";
import { KIB } from "../util/bytes.ts";

/** How much of a file a probe may read. */
export interface ProbeBounds {
  /** Reads in total, however short. */
  reads: number;
  /** Blocks of 64 KiB read. */
  blocks: number;
  /** Blocks read that do not follow the previous one. */
  jumps: number;
}

/** A reader that enforces bounds and remembers a failure of the reader below it. */
export interface BoundedReader extends ByteReader {
  /** Returns what a read of the file itself rejected with, if any. */
  failure(): unknown;
}

export class OutOfBounds extends Error {}

const BLOCK = 64 * KIB;

/** Bounds the reads of a file, so that no crafted file makes a probe read all of it; reads of the same block count once. */
export function boundReader(reader: ByteReader, bounds: ProbeBounds, signal?: AbortSignal): BoundedReader {
  const seen = new Set<number>();
  let jumps = 0;
  let reads = 0;
  let failed = false;
  let failure: unknown;
  const count = (start: number, end: number) => {
    for (let block = Math.floor(start / BLOCK); block * BLOCK < end; block++) {
      if (seen.has(block)) continue;
      if (!seen.has(block - 1)) jumps++;
      seen.add(block);
    }
  };
  return {
    size: reader.size,
    failure: () => failure,
    async read(range, given) {
      count(range.start, Math.min(range.end, reader.size));
      reads++;
      if (reads > bounds.reads || seen.size > bounds.blocks || jumps > bounds.jumps) {
        throw new OutOfBounds("The probe has read enough.");
      }
      if (failed) throw failure;
      try {
        return await reader.read(range, given ?? signal);
      } catch (thrown) {
        failed = true;
        failure = thrown;
        throw thrown;
      }
    },
  };
}

/** Resolves to null when the answer would take reads beyond the bounds. */
export async function withinBounds<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof OutOfBounds) return null;
    throw thrown;
  }
}
