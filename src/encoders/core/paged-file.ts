import type { ByteRange } from "../../core/ports.ts";

export interface Page {
  /** Offset of its first byte. */
  start: number;
  bytes: Uint8Array;
}

export interface SyncFile {
  /** Size of the whole file in bytes. */
  readonly size: number;
  /** Bytes of it held in memory. */
  readonly held: number;
  /** Returns the bytes from `start` to `end` (exclusive), both within the file. May throw {@link PageMiss}. */
  read(start: number, end: number): Uint8Array;
}

/** Thrown through synchronous code that read bytes not yet loaded: load more and run it again. */
export class PageMiss extends Error {
  override readonly name = "PageMiss";
  /** Offset of the first missing byte. */
  readonly offset: number;

  constructor(offset: number) {
    super("Read of bytes that are not loaded.");
    this.offset = offset;
  }
}

/** How many bytes to load after a miss. */
export interface ReadAhead {
  /** After a miss at a new position. */
  first: number;
  /** After a miss right behind a loaded stretch: `growth` times its length, but at least `least`. */
  growth: number;
  least: number;
  most: number;
  /** Upper limit for all pages together. */
  total: number;
}

/** Creates a file of which only `pages` are loaded; a read outside them throws {@link PageMiss}. */
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
 * Returns the range to load after a miss, or null when the pages have reached their limit. A miss right behind a loaded
 * stretch means sequential reading; any other is a jump.
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

// Start of the loaded stretch that ends at an offset.
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
