import type { Page } from "@playwright/test";

/** What a page keeps in this browser, in bytes, each from the smallest to the largest. */
export interface StoredSizes {
  /** Of the files in all databases, without the small pictures of cards. */
  databases: number[];
  /** Of those in the origin's private file system. */
  files: number[];
}

/** Walks all that a page keeps in this browser. */
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
    const walk = async (folder: FileSystemDirectoryHandle): Promise<void> => {
      for await (const child of folder.values()) {
        if (child.kind === "file") files.push((await (child as FileSystemFileHandle).getFile()).size);
        else await walk(child as FileSystemDirectoryHandle);
      }
    };
    await walk(await navigator.storage.getDirectory());
    const rising = (sizes: number[]) => sizes.sort((a, b) => a - b);
    return { databases: rising(databases), files: rising(files) };
  });
