import type { ByteRange, Storage, StoredInfo } from "../runs/ports.ts";
import { sideBySide } from "../util/async.ts";
import { KIB, MIB } from "../util/bytes.ts";
import type { ByteSource } from "./byte-source.ts";
import type { HttpFacts } from "./http/request.ts";

/** A source that is read where it lies, at one version. */
export interface Pin {
  /** As the caller named it; every read follows its redirects, and is signed, by itself. */
  url: string;
  /** Bytes of the whole file. */
  size: number;
  /** Its strong ETag, as sent. */
  etag: string;
  mime: string | null;
}

// RFC 9110, section 8.8.3; longer ones fit into no job of a native encoder.
const STRONG_ETAG = /^"[\x21\x23-\x7e\x80-\xff]{1,128}"$/;

/** Returns the pin of an opened source; null for one without ranges or a strong validator, which has to be copied. */
export function pinOf(url: string, { ranges, size, etag, mime }: HttpFacts): Pin | null {
  if (!ranges || !size || etag === null || !STRONG_ETAG.test(etag)) return null;
  return { url, size, etag, mime };
}

/** Returns what is known of a pinned source before a request: every request then demands this version. */
export function pinnedFacts({ size, etag, mime }: Pin, url: string): HttpFacts {
  return { url, size, etag, mime, ranges: true, version: etag, pinned: true };
}

/** A pinned source and what is kept of it. */
export interface PinnedSource {
  pin: Pin;
  extents: Extents;
  /** Opens a range of the pinned version; reading rejects with `input_changed` when the source has another by now. */
  open(range: ByteRange): Promise<ByteSource>;
  /** Its turns with other readers; absent where one run alone reads it. */
  turns?: FetchTurns | undefined;
}

export interface PinnedStorageOptions {
  /** Finds the pinned source that stands for an object; null when there is none. */
  find(key: string): Promise<PinnedSource | null>;
  /** Keeps a promise alive that is not awaited. */
  later(work: Promise<unknown>): void;
}

/** Shows pinned sources as objects of a storage; of each, only what is asked for is read, and kept for later reads. */
export function createPinnedStorage(storage: Storage, { find, later }: PinnedStorageOptions): Storage {
  const pins = new Map<string, { pin: Pin; file: SparseFile }>();
  // Known to be objects, so that their pins are not looked for again.
  const plain = new Set<string>();

  const pinned = async (key: string) => {
    const known = pins.get(key);
    if (known || plain.has(key)) return known ?? null;
    const source = await find(key);
    if (!source) return null;
    const { pin } = source;
    const entry = { pin, file: createSparseFile({ ...source, size: pin.size, later }) };
    pins.set(key, entry);
    return entry;
  };
  const note = <T>(key: string, object: T | null): T | null => {
    if (object) plain.add(key);
    return object;
  };

  return {
    async read(key, range) {
      const entry = await pinned(key);
      if (!entry) return note(key, await storage.read(key, range));
      const { pin, file } = entry;
      const end = Math.min(pin.size, range?.end ?? pin.size);
      const start = Math.min(end, range?.start ?? 0);
      const pieces = file.read({ start, end });
      // A source that cannot be read fails here, not in the middle of an answer.
      const first = await pieces.next();
      return { ...infoOf(pin), body: streamPieces(first, pieces) };
    },
    async head(key) {
      const entry = await pinned(key);
      return entry ? infoOf(entry.pin) : note(key, await storage.head(key));
    },
    async prefetch(key, range) {
      const entry = await pinned(key);
      if (entry) await entry.file.prefetch(range);
    },
    async write(key, body, mime) {
      const info = await storage.write(key, body, mime);
      pins.delete(key);
      return info;
    },
    async clear(prefix) {
      for (const known of [pins, plain])
        for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
      await storage.clear(prefix);
    },
  };
}

function infoOf({ size, etag, mime }: Pin): StoredInfo {
  return { size, etag: etag.replaceAll('"', ""), mime: mime ?? "application/octet-stream" };
}

function streamPieces(
  first: IteratorResult<Uint8Array>,
  pieces: AsyncGenerator<Uint8Array>,
): ReadableStream<Uint8Array> {
  let next: IteratorResult<Uint8Array> | null = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = next ?? (await pieces.next());
        next = null;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The objects that a sparse file is kept in. */
export interface ObjectStore {
  /** Lists the keys that start with the prefix. */
  list(prefix: string): Promise<string[]>;
  /** Reads a range of an object; null when there is none. */
  read(key: string, range: ByteRange): Promise<Uint8Array | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
}

/** The parts of one file that are kept, each an object whose name says where it belongs. */
interface Extents {
  /** Lists what is kept of a stretch. */
  list(stretch: number): Promise<ByteRange[]>;
  /** Reads a range of a kept extent; null when it is gone. */
  read(extent: ByteRange, range: ByteRange): Promise<Uint8Array | null>;
  /** Keeps bytes that lie within one stretch. */
  write(extent: ByteRange, bytes: Uint8Array): Promise<void>;
}

/** Bytes of a stretch: the unit in which a file is listed, and the most that one object holds. */
export const STRETCH_BYTES = 4 * MIB;

/** Returns the number of the stretch that a byte lies in. */
function stretchAt(offset: number): number {
  return Math.floor(offset / STRETCH_BYTES);
}

/** Keeps the extents of one file below a key prefix. */
export function createExtents(objects: ObjectStore, prefix: string): Extents {
  const folder = (stretch: number) => `${prefix}${String(stretch).padStart(6, "0")}/`;
  const keyOf = ({ start, end }: ByteRange) => `${folder(stretchAt(start))}${start}-${end}`;
  return {
    async list(stretch) {
      const keys = await objects.list(folder(stretch));
      return keys.flatMap((key) => {
        const [, start, end] = /\/(\d+)-(\d+)$/.exec(key) ?? [];
        return start === undefined ? [] : [{ start: Number(start), end: Number(end) }];
      });
    },
    read: (extent, { start, end }) =>
      objects.read(keyOf(extent), { start: start - extent.start, end: end - extent.start }),
    write: (extent, bytes) => objects.write(keyOf(extent), bytes),
  };
}

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
interface SparseFile {
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
