import type { Storage, StoredInfo } from "../../core/ports.ts";

export interface FileStorage extends Storage {
  file(key: string): Promise<Blob | null>;
}

/**
 * Storage with the visitor's file as one read-only object, so that the file is processed in place and
 * never copied; clearing it deletes nothing.
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
