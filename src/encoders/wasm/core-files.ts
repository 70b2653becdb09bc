import type { ByteRange } from "../../runs/ports.ts";
import { concatBytes, MIB } from "../../util/bytes.ts";
import * as errors from "../errors.ts";

export interface Page {
  /** Offset of its first byte. */
  start: number;
  bytes: Uint8Array;
}

export interface SyncFile {
  /** Size of the whole file in bytes. */
  readonly size: number;
  /** Bytes in memory. */
  readonly loadedBytes: number;
  /** Returns the bytes from `start` to `end` (exclusive), both within the file. May throw {@link PageMiss}. */
  read(start: number, end: number): Uint8Array;
}

/** Thrown through synchronous code that reads bytes not yet loaded: load them and run it again. */
export class PageMiss extends Error {
  override readonly name = "PageMiss";
  /** Offset of the first missing byte. */
  readonly offset: number;

  constructor(offset: number) {
    super();
    this.offset = offset;
  }
}

/** How many bytes to load after a miss. */
export interface ReadAhead {
  /** Bytes to load after a miss at a new position. */
  first: number;
  /** Factor of the length of a loaded range, after a miss at its end; `min` is the lower limit. */
  growth: number;
  min: number;
  max: number;
  /** Upper limit for all pages together. */
  total: number;
}

/** Creates a file from its loaded pages; a read outside them throws {@link PageMiss}. */
export function createPagedFile(size: number, pages: readonly Page[]): SyncFile {
  const sorted = pages.toSorted((a, b) => a.start - b.start);
  return {
    size,
    loadedBytes: pages.reduce((sum, page) => sum + page.bytes.length, 0),
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
      return parts.length === 1 && parts[0] ? parts[0] : concatBytes(parts);
    },
  };
}

/**
 * Returns the range to load after a miss, or null when the pages have reached their limit. A miss at the end of a loaded range means
 * sequential reading; any other is a jump.
 */
export function rangeAfterMiss(
  offset: number,
  size: number,
  loaded: readonly ByteRange[],
  ahead: ReadAhead,
): ByteRange | null {
  const loadedBytes = loaded.reduce((sum, range) => sum + range.end - range.start, 0);
  const before = offset - startOf(offset, loaded);
  const after = loaded.map((range) => range.start).filter((start) => start > offset);
  const grown = before > 0 ? Math.max(ahead.min, before * ahead.growth) : ahead.first;
  const length = Math.ceil(Math.min(grown, ahead.max, ahead.total - loadedBytes));
  const end = Math.min(size, offset + length, ...after);
  return end > offset ? { start: offset, end } : null;
}

function startOf(offset: number, loaded: readonly ByteRange[]): number {
  const before = loaded.find((range) => range.end === offset && range.start < offset);
  return before ? startOf(before.start, loaded) : offset;
}

/** A file that the core writes. */
export interface OutputFile {
  readonly size: number;
  read(start: number, end: number): Uint8Array;
  write(at: number, bytes: Uint8Array): void;
  truncate(): void;
}

/** Moves bytes out of memory. */
export interface Spill {
  /** Bytes of a block. */
  readonly block: number;
  /** Moves one block out of memory; the bytes may be reused afterwards. */
  move(bytes: Uint8Array<ArrayBuffer>): SpilledBlock;
}

/** A block that has been moved out of memory. */
export interface SpilledBlock {
  readonly blob: Blob;
  read(): Uint8Array<ArrayBuffer>;
}

/** The contents of a finished file: the blocks moved out of memory, and the bytes after them. */
export interface OutputContents {
  front: readonly Blob[];
  bytes: Uint8Array;
}

const FIRST_BYTES = 65_536;
const TAIL_BLOCKS = 4;
// ffmpeg moves a file's index to the front by reading ahead of its writes, which uses two blocks.
const LOADED_BLOCKS = 2;

/** Bytes of a block that is moved out of memory. */
export const SPILL_BLOCK = 16 * MIB;
/** Maximum bytes of an output in memory while its blocks are moved out: a tail that has grown by half, and the loaded blocks. */
export const SPILLED_OUTPUT = (1.5 * (TAIL_BLOCKS + 1) + LOADED_BLOCKS) * SPILL_BLOCK;

/**
 * Creates an output. Its end is in memory; `spill` moves the blocks before it out, and they return one by one when ffmpeg rewrites
 * them, as it does with headers. `charge` receives each change of the bytes in memory.
 */
export function createOutput(
  charge: (bytes: number) => void,
  spill: Spill | null,
): OutputFile & { release(): OutputContents } {
  const block = spill?.block ?? Number.POSITIVE_INFINITY;
  let moved: SpilledBlock[] = [];
  const loaded = new Map<number, { bytes: Uint8Array<ArrayBuffer>; changed: boolean }>();
  let tail = new Uint8Array();
  let size = 0;
  const base = () => (moved.length === 0 ? 0 : moved.length * block);

  function unload(index: number): void {
    const cached = loaded.get(index);
    if (!cached) return;
    loaded.delete(index);
    if (cached.changed && spill) moved[index] = spill.move(cached.bytes);
    charge(-block);
  }

  function load(index: number): { bytes: Uint8Array<ArrayBuffer>; changed: boolean } {
    const cached = loaded.get(index);
    if (cached) return cached;
    const [oldest] = loaded.keys();
    if (oldest !== undefined && loaded.size >= LOADED_BLOCKS) unload(oldest);
    const from = moved[index];
    if (!from) throw errors.outputBlockMissing({ index });
    charge(block);
    const fresh = { bytes: from.read(), changed: false };
    loaded.set(index, fresh);
    return fresh;
  }

  function* spans(start: number, end: number): Generator<{ index: number; from: number; to: number }> {
    for (let at = start; at < Math.min(end, base()); ) {
      const index = Math.floor(at / block);
      const from = at - index * block;
      const to = Math.min(block, end - index * block);
      yield { index, from, to };
      at += to - from;
    }
  }

  function moveBlocks(): void {
    const length = size - base();
    if (!spill || length <= TAIL_BLOCKS * block) return;
    const count = Math.floor(length / block) - 1;
    for (let index = 0; index < count; index++) {
      moved.push(spill.move(tail.subarray(index * block, (index + 1) * block)));
    }
    tail.copyWithin(0, count * block, length);
  }

  function writeTail(at: number, added: Uint8Array): void {
    const end = at + added.length;
    if (end > tail.length) {
      const grown = Math.max(end, FIRST_BYTES, Math.ceil(tail.length * 1.5));
      charge(grown - tail.length);
      const larger = new Uint8Array(grown);
      larger.set(tail.subarray(0, Math.max(0, size - base())));
      tail = larger;
    }
    tail.set(added, at);
    size = Math.max(size, base() + end);
    moveBlocks();
  }

  return {
    get size() {
      return size;
    },
    read(start, limit) {
      const end = Math.min(limit, size);
      if (start >= base()) return tail.subarray(start - base(), end - base());
      const bytes = new Uint8Array(end - start);
      let at = 0;
      for (const { index, from, to } of spans(start, end)) {
        bytes.set(load(index).bytes.subarray(from, to), at);
        at += to - from;
      }
      if (end > base()) bytes.set(tail.subarray(0, end - base()), at);
      return bytes;
    },
    write(at, added) {
      let done = 0;
      for (const { index, from, to } of spans(at, at + added.length)) {
        const rewritten = load(index);
        rewritten.bytes.set(added.subarray(done, done + to - from), from);
        rewritten.changed = true;
        done += to - from;
      }
      if (done < added.length) writeTail(at + done - base(), added.subarray(done));
    },
    truncate() {
      charge(-block * loaded.size || 0);
      loaded.clear();
      moved = [];
      size = 0;
    },
    release() {
      for (const index of [...loaded.keys()]) unload(index);
      charge(-tail.length);
      return { front: moved.map(({ blob }) => blob), bytes: tail.subarray(0, size - base()) };
    },
  };
}

/**
 * Creates an output that passes its bytes on instead of keeping them. Ignores rewritten bytes, such as the sizes in a header.
 */
export function createPassThrough(
  onBytes: (bytes: Uint8Array) => void,
): OutputFile & { release(): OutputContents } {
  let size = 0;
  return {
    get size() {
      return size;
    },
    read: () => new Uint8Array(),
    write(at, bytes) {
      const added = bytes.subarray(Math.max(0, size - at));
      if (added.length === 0) return;
      size = at + bytes.length;
      onBytes(added);
    },
    truncate() {},
    release: () => ({ front: [], bytes: new Uint8Array() }),
  };
}
