import { MediaError } from "../core/errors.ts";
import type { ByteRange, ByteReader, Storage } from "../core/ports.ts";
import { KIB, MIB } from "../util/bytes.ts";
import { createRangeCache, type RangeCacheOptions } from "./http/range-cache.ts";
import { readAll } from "./read-all.ts";

const CACHE = { ahead: 128 * KIB, most: MIB, keep: 4 * MIB };

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
  if (!info) throw new MediaError("media_not_found", `Nothing is stored as ${key}.`);
  const fetchRange = async (range: ByteRange, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    const stored = await storage.read(key, range);
    const bytes = stored && stored.etag === info.etag ? await readAll(stored.body) : null;
    if (bytes?.length === range.end - range.start) return bytes;
    if (!bytes) await stored?.body.cancel();
    throw new MediaError("internal_error", `The object stored as ${key} changed while it was being read.`);
  };
  return {
    ...createRangeCache(info.size, fetchRange, cache),
    ...(storage.prefetch && {
      prefetch: (range: ByteRange) => storage.prefetch?.(key, range) ?? Promise.resolve(),
    }),
  };
}
