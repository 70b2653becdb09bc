import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from "idb";
import type { MediaInput } from "../../src/index.ts";
import type { Item } from "./item.ts";

/** What of an item outlives the page, without its file and picture, which are written once. */
export type ItemRow = Omit<Item, "input" | "thumbnail" | "starting" | "pace" | "waiting">;

/** The file and picture of an item; null for what could not be stored. */
export type StoredFiles = Pick<Item, "input" | "thumbnail">;

export type StoredItem = ItemRow & StoredFiles;

/** Determines the key under which an item's file is stored. */
type FileOf = Pick<Item, "id" | "file_of">;

/** The queue stored in this browser, shared by all tabs. Nothing rejects: without a database it stores nothing. */
export interface QueueStore {
  /** Returns all items in the order in which they were added. */
  all(): Promise<StoredItem[]>;
  get(id: string): Promise<ItemRow | null>;
  files(item: FileOf): Promise<StoredFiles>;
  /**
   * Adds an item with its file, unless that is too large or already stored; resolves to false when the item could not be
   * stored.
   */
  add(row: ItemRow, input: MediaInput | null): Promise<boolean>;
  /** Rewrites items; returns the ids of those that no longer exist, which stay away. */
  put(rows: readonly ItemRow[]): Promise<string[]>;
  putInput(item: FileOf, input: MediaInput): Promise<void>;
  putThumbnail(item: FileOf, thumbnail: Blob): Promise<void>;
  /** Removes an item, and its file unless another item uses it. */
  remove(item: FileOf): Promise<void>;
}

interface Schema extends DBSchema {
  items: { key: string; value: ItemRow; indexes: { file_of: string } };
  inputs: { key: string; value: { id: string; input: MediaInput } };
  thumbnails: { key: string; value: { id: string; blob: Blob } };
}

type Upgrading = IDBPTransaction<Schema, StoreNames<Schema>[], "versionchange">;

const NAMES = ["items", "inputs", "thumbnails"] as const;

// A browser copies a file that it stores. The page asks for a larger one again after a reload.
const STORED_BYTES = 268_435_456;

// Each entry upgrades the version before. A published entry never changes.
const UPGRADES: readonly ((db: IDBPDatabase<Schema>, transaction: Upgrading) => void)[] = [
  (db) => {
    for (const name of NAMES) db.createObjectStore(name, { keyPath: "id" });
  },
  (_, transaction) => {
    transaction.objectStore("items").createIndex("file_of", "file_of");
  },
];

export function openQueueStore(name: string): QueueStore {
  const opened = openDB<Schema>(name, UPGRADES.length, {
    upgrade(db, from, _, transaction) {
      for (const step of UPGRADES.slice(from)) step(db, transaction);
    },
    blocking: (_current, _next, event) => (event.target as IDBDatabase | null)?.close(),
  }).catch(() => null);

  // When the store is full, or closed by the browser, the only loss is what a reload would find.
  async function within<T>(fallback: T, work: (db: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    const db = await opened;
    return db ? work(db).catch(() => fallback) : fallback;
  }

  const putInput = (item: FileOf, input: MediaInput) =>
    within(undefined, async (db) => {
      if (isKept(input)) await db.put("inputs", { id: keyOf(item), input });
    });

  const hasInput = (item: FileOf) =>
    within(false, async (db) => (await db.getKey("inputs", keyOf(item))) !== undefined);

  return {
    all: () =>
      within<StoredItem[]>([], async (db) => {
        const [rows, inputs, thumbnails] = await Promise.all([
          db.getAll("items"),
          db.getAll("inputs"),
          db.getAll("thumbnails"),
        ]);
        const inputOf = new Map(inputs.map(({ id, input }) => [id, input]));
        const thumbnailOf = new Map(thumbnails.map(({ id, blob }) => [id, blob]));
        return rows.map((row) => ({
          ...row,
          input: inputOf.get(keyOf(row)) ?? null,
          thumbnail: thumbnailOf.get(keyOf(row)) ?? null,
        }));
      }),
    get: (id) => within<ItemRow | null>(null, async (db) => (await db.get("items", id)) ?? null),
    files: (item) =>
      within<StoredFiles>({ input: null, thumbnail: null }, async (db) => {
        const key = keyOf(item);
        const [input, thumbnail] = await Promise.all([db.get("inputs", key), db.get("thumbnails", key)]);
        return { input: input?.input ?? null, thumbnail: thumbnail?.blob ?? null };
      }),
    async add(row, input) {
      const kept = await within(false, async (db) => (await db.put("items", row)) === row.id);
      if (kept && input !== null && !(await hasInput(row))) await putInput(row, input);
      return kept;
    },
    put: (rows) =>
      within<string[]>([], async (db) => {
        const { store, done } = db.transaction("items", "readwrite");
        const put = async (row: ItemRow) => {
          if ((await store.getKey(row.id)) === undefined) return [row.id];
          await store.put(row);
          return [];
        };
        const [missing] = await Promise.all([Promise.all(rows.map(put)), done]);
        return missing.flat();
      }),
    putInput,
    putThumbnail: (item, blob) =>
      within(undefined, async (db) => void (await db.put("thumbnails", { id: keyOf(item), blob }))),
    remove: (item) =>
      within(undefined, async (db) => {
        const transaction = db.transaction(NAMES, "readwrite");
        const items = transaction.objectStore("items");
        const key = keyOf(item);
        await items.delete(item.id);
        const users = [await items.getKey(key), await items.index("file_of").getKey(key)];
        if (users.every((user) => user === undefined)) {
          const files = ["inputs", "thumbnails"] as const;
          await Promise.all(files.map((name) => transaction.objectStore(name).delete(key)));
        }
        await transaction.done;
      }),
  };
}

// Items recreated from one another share one file.
function keyOf({ id, file_of }: FileOf): string {
  return file_of ?? id;
}

function isKept(input: MediaInput): boolean {
  return typeof input === "string" || "getFile" in input || input.size <= STORED_BYTES;
}
