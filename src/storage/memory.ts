import type { Storage, StoredInfo } from "../runs/ports.ts";
import { sha256Hex } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { readAll, requirePrefix, streamOf } from "./storage.ts";

interface Stored extends StoredInfo {
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Creates storage in memory, lost with the process: for tests and small runs. A write beyond `maxBytes` in total (default: unlimited)
 * stops and rejects with `input_too_large`.
 */
export function createMemoryStorage({ maxBytes = Number.POSITIVE_INFINITY } = {}): Storage {
  const objects = new Map<string, Stored>();
  let size = 0;

  function reserve(bytes: number): void {
    if (size + bytes > maxBytes) throw errors.memoryFull({ maxBytes });
    size += bytes;
  }

  function remove(key: string): void {
    size -= objects.get(key)?.size ?? 0;
    objects.delete(key);
  }

  async function readReserved(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
    let reserved = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        reserve(bytes.length);
        reserved += bytes.length;
        controller.enqueue(bytes);
      },
    });
    try {
      return await readAll(body.pipeThrough(counter));
    } catch (thrown) {
      size -= reserved;
      throw thrown;
    }
  }

  return {
    async read(key, range) {
      const stored = objects.get(key);
      if (!stored) return null;
      const { bytes, ...info } = stored;
      return { ...info, body: streamOf(range ? bytes.slice(range.start, range.end) : bytes.slice()) };
    },
    async head(key) {
      const stored = objects.get(key);
      return stored ? infoOf(stored) : null;
    },
    async write(key, body, mime) {
      if (body instanceof Uint8Array) reserve(body.length);
      const bytes = body instanceof Uint8Array ? body.slice() : await readReserved(body);
      const stored = { bytes, size: bytes.length, etag: await sha256Hex(bytes), mime };
      remove(key);
      objects.set(key, stored);
      return infoOf(stored);
    },
    async clear(prefix) {
      requirePrefix(prefix);
      for (const key of objects.keys()) if (key.startsWith(prefix)) remove(key);
    },
  };
}

function infoOf({ size, etag, mime }: Stored): StoredInfo {
  return { size, etag, mime };
}
