import type { Storage, StoredInfo } from "../core/ports.ts";

/** Storage whose objects can be had as files, that of the origin and what stands for it. */
export interface FileStorage extends Storage {
  /** Gives an object as a file of the platform; null when there is none. */
  file(key: string): Promise<Blob | null>;
}

/**
 * Storage with one object in it that nobody wrote: the visitor's file stands under a key, so that it is worked on where it lies and
 * never copied. It cannot be written, and clearing it takes nothing away.
 */
export function withOwnFile(storage: FileStorage, own_key: string, blob: Blob): FileStorage {
  const modified = "lastModified" in blob ? String(blob.lastModified) : "0";
  const info: StoredInfo = {
    size: blob.size,
    etag: `${blob.size.toString(36)}-${modified}`,
    mime: blob.type || "application/octet-stream",
  };
  return {
    async read(key, range) {
      if (key !== own_key) return storage.read(key, range);
      const part = range ? blob.slice(range.start, range.end) : blob;
      return { ...info, body: part.stream() };
    },
    head: async (key) => (key === own_key ? info : storage.head(key)),
    write: (key, body, mime) => storage.write(key, body, mime),
    clear: (prefix) => storage.clear(prefix),
    file: async (key) => (key === own_key ? blob : storage.file(key)),
  };
}
