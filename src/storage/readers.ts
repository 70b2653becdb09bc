import type { MediaError } from "../media/errors.ts";
import type { ByteRange, ByteReader, Storage } from "../runs/ports.ts";
import { KIB, MIB, sha256Hex } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { readAll } from "./storage.ts";

/** Random access to a file in the page; a worker can receive the file without a copy. */
export interface BlobReader extends ByteReader {
  readonly blob: Blob;
}

/** Identifies a file by its properties and a sample of its bytes. */
export interface Fingerprint {
  size: number;
  /** Milliseconds since the Unix epoch; null for a blob that is not a file. */
  last_modified: number | null;
  /** SHA-256 of the first, middle and last 64 KB, in hex. */
  sha256: string;
}

const SAMPLE_BYTES = 64 * KIB;

/**
 * Opens a blob or file for random access without keeping any of it in memory. A read rejects with `input_unreachable`, not
 * retryable, when the file was changed, moved or deleted after the page got it.
 */
export function createBlobReader(blob: Blob): BlobReader {
  const { size } = blob;
  return {
    blob,
    size,
    async read({ start, end }, signal) {
      signal?.throwIfAborted();
      const [from, to] = [Math.min(start, size), Math.min(Math.max(start, end), size)];
      // A deleted file may look empty until it is read.
      const bytes = await readBlob(blob, size === 0 ? blob : blob.slice(from, to));
      signal?.throwIfAborted();
      if (bytes.length !== to - from) throw unreadable(blob);
      return bytes;
    },
  };
}

/** Computes the fingerprint of a file of any size within milliseconds. Rejects as a read of {@link createBlobReader} does. */
export async function fingerprintOf(blob: Blob): Promise<Fingerprint> {
  const reader = createBlobReader(blob);
  const { size } = reader;
  const starts = [0, Math.floor((size - SAMPLE_BYTES) / 2), size - SAMPLE_BYTES].map((start) =>
    Math.max(0, start),
  );
  const parts = await Promise.all(starts.map((start) => reader.read({ start, end: start + SAMPLE_BYTES })));
  const sample = await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer();
  const sha256 = await sha256Hex(sample);
  return { size, last_modified: blob instanceof File ? blob.lastModified : null, sha256 };
}

async function readBlob(whole: Blob, part: Blob): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await part.arrayBuffer());
  } catch (cause) {
    throw unreadable(whole, cause);
  }
}

function unreadable(blob: Blob, cause?: unknown): MediaError {
  return errors.fileUnreadable({ name: blob instanceof File ? blob.name : null, cause });
}

const CACHE: RangeCacheOptions = { minAhead: 128 * KIB, maxAhead: MIB, cacheBytes: 4 * MIB };

/**
 * Opens a stored object for random access. Rejects with `media_not_found` when it does not exist. A read rejects with
 * `internal_error` (worth a retry) when the object has been replaced or removed.
 */
export async function storageReader(
  storage: Storage,
  key: string,
  cache: RangeCacheOptions = CACHE,
): Promise<ByteReader> {
  const info = await storage.head(key);
  if (!info) throw errors.objectNotFound({ key });
  const fetchRange = async (range: ByteRange, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    const stored = await storage.read(key, range);
    const bytes = stored && stored.etag === info.etag ? await readAll(stored.body) : null;
    if (bytes?.length === range.end - range.start) return bytes;
    if (!bytes) await stored?.body.cancel();
    throw errors.objectChanged({ key });
  };
  return {
    ...createRangeCache(info.size, fetchRange, cache),
    ...(storage.prefetch && {
      prefetch: (range: ByteRange) => storage.prefetch?.(key, range) ?? Promise.resolve(),
    }),
  };
}

/** Fetches a range that lies within the file. */
export type FetchRange = (range: ByteRange, signal?: AbortSignal) => Promise<Uint8Array>;

interface RangeCacheOptions {
  /** Minimum bytes per fetch; doubles while reads continue where the last fetch ended. */
  minAhead: number;
  /** Maximum bytes to fetch ahead of a read. */
  maxAhead: number;
  /** Maximum bytes to cache. */
  cacheBytes: number;
  /** The start of the file, if already read. */
  head?: Uint8Array;
}

interface Span {
  start: number;
  bytes: Uint8Array;
}

/** Reads a file by ranges with few fetches: small adjacent reads share one, and recent fetches are cached. */
export function createRangeCache(
  size: number,
  fetchRange: FetchRange,
  options: RangeCacheOptions,
): ByteReader {
  const { head, cacheBytes, minAhead, maxAhead } = options;
  let spans: Span[] = head?.length ? [{ start: 0, bytes: head.subarray(0, size) }] : [];
  let ahead = minAhead;
  let edge = head?.length ?? -1;

  const spanAt = async (at: number, end: number, signal?: AbortSignal): Promise<Span> => {
    const cached = spans.find((span) => at >= span.start && at < span.start + span.bytes.length);
    if (cached) {
      spans = [...spans.filter((span) => span !== cached), cached];
      return cached;
    }
    ahead = at === edge ? Math.min(maxAhead, ahead * 2) : minAhead;
    const next = spans.reduce((stop, span) => (span.start > at ? Math.min(stop, span.start) : stop), size);
    const range = { start: at, end: Math.min(next, Math.max(end, at + ahead)) };
    const fetched = { start: at, bytes: await fetchRange(range, signal) };
    edge = range.end;
    spans = evict([...spans, fetched], cacheBytes);
    return fetched;
  };

  const readNow = async (range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> => {
    const start = Math.max(0, range.start);
    const end = Math.min(size, range.end);
    if (start >= end) return new Uint8Array(0);
    const first = await spanAt(start, end, signal);
    const from = start - first.start;
    if (end - first.start <= first.bytes.length) {
      const whole = end - start === first.bytes.length && !spans.includes(first);
      return whole ? first.bytes : first.bytes.slice(from, end - first.start);
    }
    const bytes = new Uint8Array(end - start);
    let at = start;
    for (let span = first; ; span = await spanAt(at, end, signal)) {
      const part = span.bytes.subarray(at - span.start, end - span.start);
      bytes.set(part, at - start);
      at += part.length;
      if (at >= end) return bytes;
    }
  };

  // Reads run one at a time: the next often needs what the current one is fetching.
  let last: Promise<unknown> = Promise.resolve();
  return {
    size,
    read(range, signal) {
      const result = last.then(() => {
        signal?.throwIfAborted();
        return readNow(range, signal);
      });
      last = result.catch(() => {});
      return result;
    },
  };
}

function evict(spans: readonly Span[], cacheBytes: number): Span[] {
  const recent: Span[] = [];
  let total = 0;
  for (const span of spans.toReversed()) {
    total += span.bytes.length;
    if (total > cacheBytes) break;
    recent.unshift(span);
  }
  return recent;
}

const COPY_BYTES = 8 * MIB;

/**
 * Returns an input as a Blob that a worker can read by itself: the Blob behind the reader, or else a copy, which the browser
 * keeps on disk when it is large.
 */
export async function blobOf(input: ByteReader, signal: AbortSignal): Promise<Blob> {
  if ("blob" in input && input.blob instanceof Blob) return input.blob;
  const parts: Blob[] = [];
  for (let start = 0; start < input.size; start += COPY_BYTES) {
    const end = Math.min(input.size, start + COPY_BYTES);
    const bytes = await input.read({ start, end }, signal);
    signal.throwIfAborted();
    if (bytes.length !== end - start) throw errors.inputTooShort();
    parts.push(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  }
  return new Blob(parts);
}
