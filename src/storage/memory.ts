import type { Storage, StoredInfo } from "../runs/ports.ts";
import { sha256Hex } from "../util/bytes.ts";
import { readAll, requirePrefix, streamOf } from "./storage.ts";

interface Stored extends StoredInfo {
  bytes: Uint8Array<ArrayBuffer>;
}

/** Creates storage in memory, lost with the process: for tests and small runs. */
export function createMemoryStorage(): Storage {
  const objects = new Map<string, Stored>();
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
      const bytes = body instanceof Uint8Array ? body.slice() : await readAll(body);
      const stored = { bytes, size: bytes.length, etag: await sha256Hex(bytes), mime };
      objects.set(key, stored);
      return infoOf(stored);
    },
    async clear(prefix) {
      requirePrefix(prefix);
      for (const key of objects.keys()) if (key.startsWith(prefix)) objects.delete(key);
    },
  };
}

function infoOf({ size, etag, mime }: Stored): StoredInfo {
  return { size, etag, mime };
}
