import type { ByteReader } from "../runs/ports.ts";
import { KIB } from "../util/bytes.ts";

/** How much of a file a probe may read. */
export interface ProbeBounds {
  /** Reads in total, however short. */
  reads: number;
  /** Blocks of 64 KiB read. */
  blocks: number;
  /** Blocks read whose predecessor was not read. */
  jumps: number;
}

/** A reader that remembers a failed read, so that it can be told from a damaged file. */
export interface WatchedReader extends ByteReader {
  /** Returns the error of a failed read of the file, if any. */
  failure(): unknown;
  /** Throws the error of a failed read of the file, if any. */
  throwFailure(): void;
}

/** Wraps a reader to remember its first failed read; every later read rejects with the same error. */
export function watchReader(reader: ByteReader, signal?: AbortSignal): WatchedReader {
  let failed = false;
  let failure: unknown;
  return {
    size: reader.size,
    failure: () => failure,
    throwFailure() {
      if (failed) throw failure;
    },
    async read(range, readSignal) {
      if (failed) throw failure;
      try {
        return await reader.read(range, readSignal ?? signal);
      } catch (thrown) {
        failed = true;
        failure = thrown;
        throw thrown;
      }
    },
  };
}

/** Ends a probe that would read more than its bounds allow. */
class OutOfBounds extends Error {}

const BLOCK = 64 * KIB;

/** Bounds the reads of a file, so that a crafted file cannot make a probe read all of it; repeated reads of a block count once. */
export function boundReader(reader: ByteReader, bounds: ProbeBounds, signal?: AbortSignal): WatchedReader {
  const watched = watchReader(reader, signal);
  const blocksRead = new Set<number>();
  let jumps = 0;
  let reads = 0;
  const count = (start: number, end: number) => {
    for (let block = Math.floor(start / BLOCK); block * BLOCK < end; block++) {
      if (blocksRead.has(block)) continue;
      if (!blocksRead.has(block - 1)) jumps++;
      blocksRead.add(block);
    }
  };
  return {
    ...watched,
    async read(range, readSignal) {
      count(range.start, Math.min(range.end, reader.size));
      reads++;
      if (reads > bounds.reads || blocksRead.size > bounds.blocks || jumps > bounds.jumps) {
        throw new OutOfBounds();
      }
      return watched.read(range, readSignal);
    },
  };
}

/** Resolves to null when `read` exceeds the bounds. */
export async function withinBounds<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof OutOfBounds) return null;
    throw thrown;
  }
}

/** The start of a file, sufficient for mediabunny to describe all of it. */
export interface FileStart {
  /** A complete small file with the headers and first packets. */
  reader: ByteReader;
  /** Whether it contains every packet. */
  whole: boolean;
  /** Bytes of all packets in the whole file. */
  body: number;
  /** Frames per second by track id, as far as headers state them. */
  fps: ReadonlyMap<number, number>;
  /** End of each track's last frame in seconds, on the packets' clock, by track id, as far as headers state it. */
  ends: ReadonlyMap<number, number>;
  /** Whether the first audio packets represent the bitrate; `unknown` when the headers state neither it nor the duration. */
  bitrate: "constant" | "variable" | "unknown";
}

/** Returns a file in memory that consists of consecutive parts. */
export function memoryReader(parts: readonly Uint8Array[]): ByteReader {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { size: bytes.length, read: async ({ start, end }) => bytes.slice(start, end) };
}

/** Limits reads of a file to `limit`: a read across it gets zeros beyond, and one that starts beyond it throws OutOfBounds. */
export function limitReader(reader: ByteReader, limit: number): ByteReader {
  return {
    size: reader.size,
    async read({ start, end }, signal) {
      if (start >= limit) throw new OutOfBounds();
      if (end <= limit) return reader.read({ start, end }, signal);
      const bytes = new Uint8Array(Math.min(end, reader.size) - start);
      bytes.set(await reader.read({ start, end: limit }, signal));
      return bytes;
    },
  };
}
