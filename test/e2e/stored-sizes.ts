import type { Page } from "@playwright/test";

/** Sizes in bytes of what a page has stored in this browser, ascending. */
export interface StoredSizes {
  /** Files in all databases, without the cards' thumbnails. */
  databases: number[];
  /** Files in OPFS. */
  files: number[];
}

export const storedSizes = (page: Page): Promise<StoredSizes> =>
  page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const blobsIn = (value: unknown): Blob[] => {
      if (value instanceof Blob) return value.type === "image/webp" ? [] : [value];
      if (typeof value !== "object" || value === null || value instanceof FileSystemHandle) return [];
      return Object.values(value).flatMap(blobsIn);
    };
    const databases: number[] = [];
    for (const { name = "" } of await indexedDB.databases()) {
      const db = await done(indexedDB.open(name));
      for (const store of db.objectStoreNames) {
        const rows: unknown = await done(db.transaction(store).objectStore(store).getAll());
        databases.push(...blobsIn(rows).map(({ size }) => size));
      }
      db.close();
    }
    const files: number[] = [];
    // The page may remove what is being listed.
    const removed = (thrown: unknown) => {
      if (!(thrown instanceof DOMException) || thrown.name !== "NotFoundError") throw thrown;
    };
    const walk = async (folder: FileSystemDirectoryHandle): Promise<void> => {
      for await (const child of folder.values()) {
        if (child.kind === "file") {
          const file = await (child as FileSystemFileHandle).getFile().catch(removed);
          if (file) files.push(file.size);
        } else await walk(child as FileSystemDirectoryHandle).catch(removed);
      }
    };
    await walk(await navigator.storage.getDirectory());
    const rising = (sizes: number[]) => sizes.sort((a, b) => a - b);
    return { databases: rising(databases), files: rising(files) };
  });
