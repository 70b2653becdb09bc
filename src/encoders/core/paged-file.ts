import type { ByteRange } from "../../core/ports.ts";

/** A stretch of a file that was loaded. */
export interface Page {
  /** Offset of its first byte. */
  start: number;
  bytes: Uint8Array;
}

/** A file that synchronous code reads. */
export interface SyncFile {
  /** Bytes of the whole file. */
  readonly size: number;
  /** Bytes of it that lie in memory. */
  readonly held: number;
  /** Gives the bytes from `start` to `end` (exclusive), both within the file; may throw {@link PageMiss}. */
  read(start: number, end: number): Uint8Array;
}

/** Thrown through synchronous code that asked for bytes which are not loaded: load more and run it again. */
export class PageMiss extends Error {
  override readonly name = "PageMiss";
  /** Offset of the first byte that was missing. */
  readonly offset: number;

  constructor(offset: number) {
    super("Bytes that are not loaded were read.");
    this.offset = offset;
  }
}

/** How much is loaded after a miss, in bytes. */
export interface ReadAhead {
  /** After a miss at a new place. */
  first: number;
  /** After a miss right behind a loaded stretch: so many times as much as that, and at least so many bytes. */
  growth: number;
  least: number;
  /** At most, after one miss. */
  most: number;
  /** Of all pages together. */
  total: number;
}

/** Creates a file of which only some stretches are there; a read beyond them throws {@link PageMiss}. */
export function createPagedFile(size: number, pages: readonly Page[]): SyncFile {
  const sorted = pages.toSorted((a, b) => a.start - b.start);
  return {
    size,
    held: pages.reduce((sum, page) => sum + page.bytes.length, 0),
    read(start, end) {
      const parts: Uint8Array[] = [];
      let at = start;
      for (const page of sorted) {
        if (at >= end || page.start > at) break;
        const stop = page.start + page.bytes.length;
        if (stop <= at) continue;
        parts.push(page.bytes.subarray(at - page.start, Math.min(end, stop) - page.start));
        at = Math.min(end, stop);
      }
      if (at < end) throw new PageMiss(at);
      return parts.length === 1 && parts[0] ? parts[0] : join(parts, end - start);
    },
  };
}

/**
 * Gives the range to load after a miss, or null when the pages may not grow any more. A miss right behind a loaded
 * stretch is a file being read on; any other is a jump.
 */
export function rangeAfterMiss(
  offset: number,
  size: number,
  loaded: readonly ByteRange[],
  ahead: ReadAhead,
): ByteRange | null {
  const held = loaded.reduce((sum, range) => sum + range.end - range.start, 0);
  const before = offset - startOf(offset, loaded);
  const after = loaded.map((range) => range.start).filter((start) => start > offset);
  const grown = before > 0 ? Math.max(ahead.least, before * ahead.growth) : ahead.first;
  const length = Math.ceil(Math.min(grown, ahead.most, ahead.total - held));
  const end = Math.min(size, offset + length, ...after);
  return end > offset ? { start: offset, end } : null;
}

// Where the loaded stretch begins that ends at an offset.
function startOf(offset: number, loaded: readonly ByteRange[]): number {
  const before = loaded.find((range) => range.end === offset && range.start < offset);
  return before ? startOf(before.start, loaded) : offset;
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
