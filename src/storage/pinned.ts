import type { ByteRange, Storage, StoredInfo } from "../runs/ports.ts";
import { inParallel } from "../util/async.ts";
import { KIB, MIB } from "../util/bytes.ts";
import type { ByteSource } from "./byte-source.ts";
import type { HttpFacts } from "./http/request.ts";

/** A source read in place, at one version. */
export interface Pin {
  /** The URL from the request; each read follows redirects and signs anew. */
  url: string;
  /** Bytes of the whole file. */
  size: number;
  /** The strong ETag, as sent. */
  etag: string;
  mime: string | null;
}

// RFC 9110, section 8.8.3; longer ones do not fit a native encoder's job.
const STRONG_ETAG = /^"[\x21\x23-\x7e\x80-\xff]{1,128}"$/;

/** Returns the pin of an opened source; null when it lacks ranges or a strong validator and must be copied. */
export function pinOf(url: string, { ranges, size, etag, mime }: HttpFacts): Pin | null {
  if (!ranges || !size || etag === null || !STRONG_ETAG.test(etag)) return null;
  return { url, size, etag, mime };
}

/** Returns the facts of a pinned source without a request; every request then demands this version. */
export function pinnedFacts({ size, etag, mime }: Pin, url: string): HttpFacts {
  return { url, size, etag, mime, ranges: true, version: etag, pinned: true };
}

export interface PinnedSource {
  pin: Pin;
  extents: Extents;
  /** Opens a range of the pinned version; reading rejects with `input_changed` if the source has changed. */
  open(range: ByteRange): Promise<ByteSource>;
  /** Keeps other readers from fetching the same bytes; absent when only one run reads the source. */
  lock?: FetchLock | undefined;
}

export interface PinnedStorageOptions {
  /** Finds the pinned source behind an object; null when there is none. */
  find(key: string): Promise<PinnedSource | null>;
  /** Keeps the process alive until a promise that nobody awaits settles. */
  later(work: Promise<unknown>): void;
}

/** Presents pinned sources as objects of a storage; fetches only the ranges that are read, and caches them. */
export function createPinnedStorage(storage: Storage, { find, later }: PinnedStorageOptions): Storage {
  const pins = new Map<string, { pin: Pin; file: SparseFile }>();
  const plainKeys = new Set<string>();

  const pinnedFile = async (key: string) => {
    const cached = pins.get(key);
    if (cached || plainKeys.has(key)) return cached ?? null;
    const source = await find(key);
    if (!source) return null;
    const { pin } = source;
    const entry = { pin, file: createSparseFile({ ...source, size: pin.size, later }) };
    pins.set(key, entry);
    return entry;
  };
  const asPlain = <T>(key: string, object: T | null): T | null => {
    if (object) plainKeys.add(key);
    return object;
  };

  return {
    async read(key, range) {
      const entry = await pinnedFile(key);
      if (!entry) return asPlain(key, await storage.read(key, range));
      const { pin, file } = entry;
      const end = Math.min(pin.size, range?.end ?? pin.size);
      const start = Math.min(end, range?.start ?? 0);
      const pieces = file.read({ start, end });
      // Fail before the response starts, not in the middle of it.
      const first = await pieces.next();
      return { ...infoOf(pin), body: streamPieces(first, pieces) };
    },
    async head(key) {
      const entry = await pinnedFile(key);
      return entry ? infoOf(entry.pin) : asPlain(key, await storage.head(key));
    },
    async prefetch(key, range) {
      const entry = await pinnedFile(key);
      if (entry) await entry.file.prefetch(range);
    },
    async write(key, body, mime) {
      const info = await storage.write(key, body, mime);
      pins.delete(key);
      return info;
    },
    async clear(prefix) {
      for (const cache of [pins, plainKeys])
        for (const key of cache.keys()) if (key.startsWith(prefix)) cache.delete(key);
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

/** The object store that holds the extents of sparse files. */
export interface ObjectStore {
  list(prefix: string): Promise<string[]>;
  /** Reads a range of an object; null when there is none. */
  read(key: string, range: ByteRange): Promise<Uint8Array | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
}

/** The cached parts of one file; each is an object whose name states its range. */
interface Extents {
  list(segment: number): Promise<ByteRange[]>;
  /** Reads a range within an extent; null when the extent is gone. */
  read(extent: ByteRange, range: ByteRange): Promise<Uint8Array | null>;
  /** Stores bytes that lie within one segment. */
  write(extent: ByteRange, bytes: Uint8Array): Promise<void>;
}

/** Bytes per segment: the unit of listing, and the largest extent. */
export const SEGMENT_BYTES = 4 * MIB;

function segmentAt(offset: number): number {
  return Math.floor(offset / SEGMENT_BYTES);
}

/** Stores the extents of one file under a key prefix. */
export function createExtents(objects: ObjectStore, prefix: string): Extents {
  const folder = (segment: number) => `${prefix}${String(segment).padStart(6, "0")}/`;
  const keyOf = ({ start, end }: ByteRange) => `${folder(segmentAt(start))}${start}-${end}`;
  return {
    async list(segment) {
      const keys = await objects.list(folder(segment));
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
  extents: Extents;
  /** Opens a range of the source. */
  open(range: ByteRange): Promise<ByteSource>;
  /** Keeps the process alive until a promise that nobody awaits settles. */
  later(work: Promise<unknown>): void;
  /** Keeps other readers of the same extents from fetching the same bytes; absent when there are none. */
  lock?: FetchLock | undefined;
}

/** Keeps several readers of one source from fetching the same bytes. */
export interface FetchLock {
  /**
   * Waits for the right to fetch a range and returns a callback to call once it is cached; null when another reader has just
   * finished fetching part of it.
   */
  acquire(range: ByteRange): Promise<(() => Promise<void>) | null>;
}

/** A file that caches each part when it is first read. */
interface SparseFile {
  /** Yields a range within the file, from the cache where possible and otherwise from the source. */
  read(range: ByteRange): AsyncGenerator<Uint8Array>;
  /** Fetches the parts of a range that are not cached. */
  prefetch(range: ByteRange): Promise<void>;
}

const BLOCK_BYTES = 64 * KIB;
const WINDOW = 8;
const PIECE_BYTES = 256 * KIB;
const MAX_WRITES = 3;
/** Requests to the source at once, for one range. */
export const PARALLEL_FETCHES = 4;
/** Maximum bytes per request of a range that is fetched in parallel. */
export const FETCH_BYTES = MIB;
// A reader that hangs up early must not pay for the rest of a long range, and a slow one must not block others for long.
const MAX_PARALLEL_BYTES = 8 * MIB;

interface Piece {
  /** Offset of its first byte. */
  at: number;
  bytes: Uint8Array;
}

interface Part extends ByteRange {
  /** The extent that contains it; null when it must be fetched. */
  extent: ByteRange | null;
}

/** Creates a sparse file over a source and its cached extents. Concurrent reads share one list of extents. */
export function createSparseFile({ size, extents, open, later, lock }: SparseOptions): SparseFile {
  const lists = new Map<number, Promise<ByteRange[]>>();
  const writes = new Set<Promise<void>>();

  const extentsIn = (segment: number): Promise<ByteRange[]> => {
    const list = lists.get(segment) ?? extents.list(segment);
    lists.set(segment, list);
    list.catch(() => lists.delete(segment));
    return list;
  };

  const store = async (start: number, bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return;
    const extent = { start, end: start + bytes.length };
    const write: Promise<void> = extents
      .write(extent, bytes)
      .then(async () => void (await extentsIn(segmentAt(start))).push(extent))
      .catch(() => {})
      .finally(() => writes.delete(write));
    writes.add(write);
    later(write);
    if (writes.size >= MAX_WRITES) await Promise.race(writes);
  };

  async function* fetchGap(gap: ByteRange): AsyncGenerator<Uint8Array> {
    const source = await open(gap);
    let at = gap.start;
    let buffer = bufferFor(gap);
    let filled = 0;
    try {
      while (at < gap.end) {
        const bytes = await source.read(new Uint8Array(Math.min(PIECE_BYTES, buffer.length - filled)));
        if (!bytes) return;
        buffer.set(bytes, filled);
        filled += bytes.length;
        at += bytes.length;
        if (filled === buffer.length) {
          await store(at - filled, buffer);
          buffer = bufferFor({ start: at, end: gap.end });
          filled = 0;
        }
        yield bytes;
      }
      // Read to the end of the body, or the connection cannot be reused.
      await source.read(new Uint8Array(1));
    } finally {
      await store(at - filled, buffer.subarray(0, filled));
      await source.cancel();
    }
  }

  async function* readPart({ extent, ...part }: Part): AsyncGenerator<Piece> {
    const bytes = extent && (await extents.read(extent, part).catch(() => null));
    if (bytes?.length === part.end - part.start) return yield { at: part.start, bytes };
    let at = part.start;
    for await (const piece of lock ? fetchShared(part, lock) : fetchGap(part)) {
      yield { at, bytes: piece };
      at += piece.length;
    }
  }

  async function* fetchShared(gap: ByteRange, lock: FetchLock): AsyncGenerator<Uint8Array> {
    for (let at = gap.start; at < gap.end; ) {
      const end = Math.min(gap.end, fetchEnd(at));
      const release = await lock.acquire({ start: at, end });
      try {
        lists.delete(segmentAt(at));
        for (const { extent, ...part } of partsOf({ start: at, end }, await extentsIn(segmentAt(at)), size)) {
          const bytes = extent && (await extents.read(extent, part).catch(() => null));
          const whole = bytes?.length === part.end - part.start;
          if (!whole && !release) break;
          if (whole) yield bytes;
          else yield* fetchGap(part);
          at = part.end;
        }
      } finally {
        if (release) later(Promise.all(writes).then(release));
      }
    }
  }

  async function* partsIn({ start, end }: ByteRange): AsyncGenerator<Part> {
    for (let at = start; at < end; ) {
      const first = segmentAt(at);
      const stop = Math.min(end, (first + WINDOW) * SEGMENT_BYTES);
      const count = segmentAt(stop - 1) - first + 1;
      const window = Array.from({ length: count }, (_, index) => extentsIn(first + index));
      yield* partsOf({ start: at, end: stop }, (await Promise.all(window)).flat(), size);
      at = stop;
    }
  }

  async function* readInParallel(range: ByteRange): AsyncGenerator<Piece> {
    const parts = (await splitParts(partsIn(range))).values();
    const reads: Promise<Piece[]>[] = [];
    const startNext = () => {
      const { value, done } = parts.next();
      if (done) return;
      const read = Array.fromAsync(readPart(value));
      reads.push(read);
      later(read.catch(() => {}));
    };
    for (let count = 0; count < PARALLEL_FETCHES; count++) startNext();
    for (let next = reads.shift(); next; next = reads.shift()) {
      const pieces = await next;
      startNext();
      yield* pieces;
    }
  }

  async function* readInSequence(range: ByteRange): AsyncGenerator<Piece> {
    for await (const part of partsIn(range)) yield* readPart(part);
  }

  return {
    async *read(range) {
      const step = lock ? MAX_PARALLEL_BYTES : range.end - range.start;
      for (let start = range.start; start < range.end; start += step) {
        const end = Math.min(range.end, start + step);
        const parallel = end - start <= MAX_PARALLEL_BYTES;
        for await (const { at, bytes } of parallel
          ? readInParallel({ start, end })
          : readInSequence({ start, end })) {
          const piece = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at));
          if (piece.length > 0) yield piece;
        }
      }
    },
    async prefetch(range) {
      const start = Math.max(0, range.start);
      const end = Math.min(size, range.end);
      await inParallel(await splitParts(partsIn({ start, end })), PARALLEL_FETCHES, async (part) => {
        if (part.extent === null) for await (const _ of readPart(part));
      });
      await Promise.all(writes);
    },
  };
}

function fetchEnd(at: number): number {
  return at + FETCH_BYTES - (at % FETCH_BYTES);
}

/** Splits gaps into pieces for parallel connections. */
async function splitParts(parts: AsyncIterable<Part>): Promise<Part[]> {
  const pieces: Part[] = [];
  for await (const part of parts) {
    if (part.extent) pieces.push(part);
    else {
      for (let start = part.start; start < part.end; ) {
        const end = Math.min(part.end, fetchEnd(start));
        pieces.push({ start, end, extent: null });
        start = end;
      }
    }
  }
  return pieces;
}

/** Divides a range into cached parts and the gaps between them, aligned to blocks. */
function partsOf(range: ByteRange, extents: readonly ByteRange[], size: number): Part[] {
  const parts: Part[] = [];
  for (let at = range.start; at < range.end; ) {
    const containing = extents.filter(({ start, end }) => start <= at && at < end);
    const longest = containing.reduce<ByteRange | null>(
      (best, each) => (each.end > (best?.end ?? 0) ? each : best),
      null,
    );
    if (longest) {
      const end = Math.min(longest.end, range.end);
      parts.push({ start: at, end, extent: longest });
      at = end;
      continue;
    }
    const before = Math.max(0, ...extents.map(({ end }) => end).filter((end) => end <= at));
    const after = Math.min(size, ...extents.map(({ start }) => start).filter((start) => start > at));
    const start = Math.max(before, at - (at % BLOCK_BYTES));
    const end = Math.min(after, Math.ceil(Math.min(range.end, after) / BLOCK_BYTES) * BLOCK_BYTES);
    parts.push({ start, end, extent: null });
    at = end;
  }
  return parts;
}

function bufferFor({ start, end }: ByteRange): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Math.min(end, (segmentAt(start) + 1) * SEGMENT_BYTES) - start);
}
