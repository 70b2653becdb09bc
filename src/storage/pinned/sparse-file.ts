import type { ByteRange } from "../../core/ports.ts";
import { sideBySide } from "../../util/async.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import type { ByteSource } from "../http/byte-source.ts";
import { type Extents, STRETCH_BYTES, stretchAt } from "./extents.ts";

export interface SparseOptions {
  /** Bytes of the whole file. */
  size: number;
  /** What is kept of it. */
  extents: Extents;
  /** Opens a range of the source. */
  open(range: ByteRange): Promise<ByteSource>;
  /** Keeps a promise alive that is not awaited. */
  later(work: Promise<unknown>): void;
  /** Turns at the source with other readers of the same extents; absent where there are none. */
  turns?: FetchTurns | undefined;
}

/** Keeps several readers of one source from fetching the same bytes. */
export interface FetchTurns {
  /**
   * Lets one reader fetch a range and returns what to call once it is kept; null as soon as another is done that was fetching a part
   * of it.
   */
  take(range: ByteRange): Promise<(() => Promise<void>) | null>;
}

/** A file of which those parts are kept that were read once. */
export interface SparseFile {
  /** Reads a range within the file, in pieces: what is kept from there, and the rest from the source. */
  read(range: ByteRange): AsyncGenerator<Uint8Array>;
  /** Fetches what is not kept of a range. */
  prefetch(range: ByteRange): Promise<void>;
}

// What is asked of the source begins and ends at multiples of this.
const BLOCK_BYTES = 64 * KIB;
// Stretches that are looked up at once, and the most bytes asked of the source in one request, in stretches.
const WINDOW = 8;
const PIECE_BYTES = 256 * KIB;
// Stretches on their way into storage while more arrives; bounds the memory.
const WRITES_AT_ONCE = 3;
/** Connections that fetch one range at once. */
export const LANES = 4;
/** The most bytes that each fetches. */
export const LANE_BYTES = MIB;
// A longer range is read in turn: its reader may hang up early, and is not to be charged for what it never sees. Where others read
// the source too, a slow reader must not keep them waiting.
const TOGETHER_BYTES = 8 * MIB;

interface Piece {
  /** Offset of its first byte. */
  at: number;
  bytes: Uint8Array;
}

interface Part extends ByteRange {
  /** The extent that holds it; null when the source has to be asked. */
  kept: ByteRange | null;
}

/** Creates a file over a source and what is kept of it. Reads of one file share what each has found. */
export function createSparseFile({ size, extents, open, later, turns }: SparseOptions): SparseFile {
  const known = new Map<number, Promise<ByteRange[]>>();
  const writes = new Set<Promise<void>>();

  const keptIn = (stretch: number): Promise<ByteRange[]> => {
    const listed = known.get(stretch) ?? extents.list(stretch);
    known.set(stretch, listed);
    listed.catch(() => known.delete(stretch));
    return listed;
  };

  const keep = async (start: number, bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return;
    const extent = { start, end: start + bytes.length };
    // A part that cannot be kept is fetched again when it is needed.
    const write: Promise<void> = extents
      .write(extent, bytes)
      .then(async () => void (await keptIn(stretchAt(start))).push(extent))
      .catch(() => {})
      .finally(() => writes.delete(write));
    writes.add(write);
    later(write);
    if (writes.size >= WRITES_AT_ONCE) await Promise.race(writes);
  };

  async function* fetchGap(gap: ByteRange): AsyncGenerator<Uint8Array> {
    const source = await open(gap);
    let at = gap.start;
    let stretch = startStretch(gap);
    let filled = 0;
    try {
      while (at < gap.end) {
        const bytes = await source.read(new Uint8Array(Math.min(PIECE_BYTES, stretch.length - filled)));
        if (!bytes) return;
        stretch.set(bytes, filled);
        filled += bytes.length;
        at += bytes.length;
        if (filled === stretch.length) {
          await keep(at - filled, stretch);
          stretch = startStretch({ start: at, end: gap.end });
          filled = 0;
        }
        yield bytes;
      }
      // The end of the body has yet to be seen, or the connection cannot be used again.
      await source.read(new Uint8Array(1));
    } finally {
      // Of a read that broke off or was called off, what arrived.
      await keep(at - filled, stretch.subarray(0, filled));
      await source.cancel();
    }
  }

  async function* readPart({ kept, ...part }: Part): AsyncGenerator<Piece> {
    const bytes = kept && (await extents.read(kept, part).catch(() => null));
    if (bytes?.length === part.end - part.start) return yield { at: part.start, bytes };
    let at = part.start;
    for await (const fetched of turns ? fetchShared(part, turns) : fetchGap(part)) {
      yield { at, bytes: fetched };
      at += fetched.length;
    }
  }

  // What another reader has fetched by the time of the turn is read from where that one has kept it.
  async function* fetchShared(gap: ByteRange, turns: FetchTurns): AsyncGenerator<Uint8Array> {
    for (let at = gap.start; at < gap.end; ) {
      const end = Math.min(gap.end, laneEnd(at));
      const leave = await turns.take({ start: at, end });
      try {
        known.delete(stretchAt(at));
        for (const { kept, ...part } of partsOf({ start: at, end }, await keptIn(stretchAt(at)), size)) {
          const bytes = kept && (await extents.read(kept, part).catch(() => null));
          const whole = bytes?.length === part.end - part.start;
          // The other one has failed, or has kept nothing.
          if (!whole && !leave) break;
          if (whole) yield bytes;
          else yield* fetchGap(part);
          at = part.end;
        }
      } finally {
        if (leave) later(Promise.all(writes).then(leave));
      }
    }
  }

  // The parts of a range, looked up a window at a time.
  async function* partsIn({ start, end }: ByteRange): AsyncGenerator<Part> {
    for (let at = start; at < end; ) {
      const first = stretchAt(at);
      const stop = Math.min(end, (first + WINDOW) * STRETCH_BYTES);
      const count = stretchAt(stop - 1) - first + 1;
      const lists = Array.from({ length: count }, (_, index) => keptIn(first + index));
      yield* partsOf({ start: at, end: stop }, (await Promise.all(lists)).flat(), size);
      at = stop;
    }
  }

  async function* readTogether(range: ByteRange): AsyncGenerator<Piece> {
    const parts = (await splitParts(partsIn(range))).values();
    const begun: Promise<Piece[]>[] = [];
    const begin = () => {
      const { value, done } = parts.next();
      if (done) return;
      const read = Array.fromAsync(readPart(value));
      begun.push(read);
      // After a failure the others come to their end, and are kept.
      later(read.catch(() => {}));
    };
    for (let lane = 0; lane < LANES; lane++) begin();
    for (let next = begun.shift(); next; next = begun.shift()) {
      const pieces = await next;
      begin();
      yield* pieces;
    }
  }

  async function* readInTurn(range: ByteRange): AsyncGenerator<Piece> {
    for await (const part of partsIn(range)) yield* readPart(part);
  }

  return {
    async *read(range) {
      // Together with others, a long range is read a window at a time.
      const step = turns ? TOGETHER_BYTES : range.end - range.start;
      for (let start = range.start; start < range.end; start += step) {
        const end = Math.min(range.end, start + step);
        const together = end - start <= TOGETHER_BYTES;
        for await (const { at, bytes } of together
          ? readTogether({ start, end })
          : readInTurn({ start, end })) {
          const piece = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at));
          if (piece.length > 0) yield piece;
        }
      }
    },
    async prefetch(range) {
      const start = Math.max(0, range.start);
      const end = Math.min(size, range.end);
      await sideBySide(await splitParts(partsIn({ start, end })), LANES, async (part) => {
        if (part.kept === null) for await (const _ of readPart(part));
      });
      await Promise.all(writes);
    },
  };
}

function laneEnd(at: number): number {
  return at + LANE_BYTES - (at % LANE_BYTES);
}

/** Cuts gaps into pieces that several connections fetch at once. */
async function splitParts(parts: AsyncIterable<Part>): Promise<Part[]> {
  const pieces: Part[] = [];
  for await (const part of parts) {
    if (part.kept) pieces.push(part);
    else {
      for (let start = part.start; start < part.end; ) {
        const end = Math.min(part.end, laneEnd(start));
        pieces.push({ start, end, kept: null });
        start = end;
      }
    }
  }
  return pieces;
}

/** Divides a range into parts that are kept and gaps between them, rounded to blocks. */
function partsOf(range: ByteRange, kept: readonly ByteRange[], size: number): Part[] {
  const parts: Part[] = [];
  for (let at = range.start; at < range.end; ) {
    const holding = kept.filter(({ start, end }) => start <= at && at < end);
    const best = holding.reduce<ByteRange | null>(
      (most, each) => (each.end > (most?.end ?? 0) ? each : most),
      null,
    );
    if (best) {
      const end = Math.min(best.end, range.end);
      parts.push({ start: at, end, kept: best });
      at = end;
      continue;
    }
    const before = Math.max(0, ...kept.map(({ end }) => end).filter((end) => end <= at));
    const after = Math.min(size, ...kept.map(({ start }) => start).filter((start) => start > at));
    const start = Math.max(before, at - (at % BLOCK_BYTES));
    const end = Math.min(after, Math.ceil(Math.min(range.end, after) / BLOCK_BYTES) * BLOCK_BYTES);
    parts.push({ start, end, kept: null });
    at = end;
  }
  return parts;
}

// Memory for what is fetched until the next stretch begins.
function startStretch({ start, end }: ByteRange): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Math.min(end, (stretchAt(start) + 1) * STRETCH_BYTES) - start);
}
