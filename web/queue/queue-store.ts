import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { MediaInput } from "../../src/index.ts";
import type { Item } from "./item.ts";

/** What of an item outlives the page, without its file and its picture, which are written once. */
export type ItemRow = Omit<Item, "input" | "thumbnail" | "starting" | "pace" | "waiting">;

/** An item as it was stored; its input is null where that could not be kept. */
export type StoredItem = ItemRow & Pick<Item, "input" | "thumbnail">;

/** The queue as it is kept in this browser, shared by all tabs. Nothing rejects: without a database it keeps nothing. */
export interface QueueStore {
  /** All items, in the order in which they were added. */
  all(): Promise<StoredItem[]>;
  get(id: string): Promise<StoredItem | null>;
  /** Adds an item with its file, which is left out where it is too large; false where the item could not be kept. */
  add(row: ItemRow, input: MediaInput | null): Promise<boolean>;
  /** Writes items anew; gives the ids of those that are not there, which stay away. */
  put(rows: readonly ItemRow[]): Promise<string[]>;
  putInput(id: string, input: MediaInput): Promise<void>;
  putThumbnail(id: string, thumbnail: Blob): Promise<void>;
  remove(id: string): Promise<void>;
}

interface Schema extends DBSchema {
  items: { key: string; value: ItemRow };
  inputs: { key: string; value: { id: string; input: MediaInput } };
  thumbnails: { key: string; value: { id: string; blob: Blob } };
}

// A browser copies a file that it stores; the local client has the same bound.
const STORED_BYTES = 268_435_456;

// From each version of the database to the next. What is published is never edited.
const UPGRADES: readonly ((db: IDBPDatabase<Schema>) => void)[] = [
  (db) => {
    for (const name of ["items", "inputs", "thumbnails"] as const)
      db.createObjectStore(name, { keyPath: "id" });
  },
];

/** Opens the store of a queue. */
export function openQueueStore(name: string): QueueStore {
  const opened = openDB<Schema>(name, UPGRADES.length, {
    upgrade(db, from) {
      for (const step of UPGRADES.slice(from)) step(db);
    },
    blocking: (_current, _next, event) => (event.target as IDBDatabase | null)?.close(),
  }).catch(() => null);

  // A store that is full, or closed by the browser, costs what a reload would find, and nothing else.
  async function within<T>(fallback: T, work: (db: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    const db = await opened;
    return db ? work(db).catch(() => fallback) : fallback;
  }

  const putInput = (id: string, input: MediaInput) =>
    within(undefined, async (db) => {
      if (isKept(input)) await db.put("inputs", { id, input });
    });

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
          input: inputOf.get(row.id) ?? null,
          thumbnail: thumbnailOf.get(row.id) ?? null,
        }));
      }),
    get: (id) =>
      within<StoredItem | null>(null, async (db) => {
        const row = await db.get("items", id);
        if (!row) return null;
        const [input, thumbnail] = await Promise.all([db.get("inputs", id), db.get("thumbnails", id)]);
        return { ...row, input: input?.input ?? null, thumbnail: thumbnail?.blob ?? null };
      }),
    async add(row, input) {
      const kept = await within(false, async (db) => (await db.put("items", row)) === row.id);
      if (kept && input !== null) await putInput(row.id, input);
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
        const [gone] = await Promise.all([Promise.all(rows.map(put)), done]);
        return gone.flat();
      }),
    putInput,
    putThumbnail: (id, blob) =>
      within(undefined, async (db) => void (await db.put("thumbnails", { id, blob }))),
    remove: (id) =>
      within(undefined, async (db) => {
        const names = ["items", "inputs", "thumbnails"] as const;
        const transaction = db.transaction(names, "readwrite");
        await Promise.all([
          ...names.map((name) => transaction.objectStore(name).delete(id)),
          transaction.done,
        ]);
      }),
  };
}

function isKept(input: MediaInput): boolean {
  return typeof input === "string" || "getFile" in input || input.size <= STORED_BYTES;
}
