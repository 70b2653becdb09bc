import type { ByteRange, ByteReader } from "../../core/ports.ts";

/** Fetches a range that lies within the file. */
export type FetchRange = (range: ByteRange, signal?: AbortSignal) => Promise<Uint8Array>;

export interface RangeCacheOptions {
  /** Least bytes to fetch at a time; doubles while reads continue where the last fetch ended. */
  ahead: number;
  /** Most bytes to fetch ahead of a read. */
  most: number;
  /** Bytes kept for later reads. */
  keep: number;
  /** Bytes already known from the start of the file. */
  head?: Uint8Array;
}

interface Span {
  start: number;
  bytes: Uint8Array;
}

/** Reads a file by ranges with few fetches: small adjacent reads share one, and recent fetches are kept. */
export function createRangeCache(
  size: number,
  fetchRange: FetchRange,
  options: RangeCacheOptions,
): ByteReader {
  const { head, keep, most } = options;
  let spans: Span[] = head?.length ? [{ start: 0, bytes: head.subarray(0, size) }] : [];
  let ahead = options.ahead;
  let edge = head?.length ?? -1;

  // A read starts inside a kept span, or else fetches from where it starts.
  const spanAt = async (at: number, end: number, signal?: AbortSignal): Promise<Span> => {
    const kept = spans.find((span) => at >= span.start && at < span.start + span.bytes.length);
    if (kept) {
      spans = [...spans.filter((span) => span !== kept), kept];
      return kept;
    }
    ahead = at === edge ? Math.min(most, ahead * 2) : options.ahead;
    const next = spans.reduce((stop, span) => (span.start > at ? Math.min(stop, span.start) : stop), size);
    const range = { start: at, end: Math.min(next, Math.max(end, at + ahead)) };
    const fetched = { start: at, bytes: await fetchRange(range, signal) };
    edge = range.end;
    spans = evict([...spans, fetched], keep);
    return fetched;
  };

  const readNow = async (range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> => {
    const start = Math.max(0, range.start);
    const end = Math.min(size, range.end);
    if (start >= end) return new Uint8Array(0);
    const first = await spanAt(start, end, signal);
    const from = start - first.start;
    if (end - first.start <= first.bytes.length) {
      // A span that is not cached has no other user.
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

  // One at a time: a second read often needs what the first is about to fetch.
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

// The latest come last; a span larger than the cache is not kept at all.
function evict(spans: readonly Span[], keep: number): Span[] {
  const kept: Span[] = [];
  let total = 0;
  for (const span of spans.toReversed()) {
    total += span.bytes.length;
    if (total > keep) break;
    kept.unshift(span);
  }
  return kept;
}
