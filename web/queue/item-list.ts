import { type ReadonlySignal, signal } from "@preact/signals";
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from "idb";
import type { MediaInput } from "../../src/index.ts";
import { createFrames } from "../ui/schedule.ts";
import { ID_TIME_LENGTH, type Item, type Settings } from "./item.ts";

/** The fields of an item that outlive the page, without its file and thumbnail, which are written once. */
export type ItemRow = Omit<Item, "input" | "thumbnail" | "starting" | "pace" | "waiting" | "settings"> & {
  /** The settings; tabs of earlier versions of the page share this name. */
  wishes: Settings;
};

export type StoredFiles = Pick<Item, "input" | "thumbnail">;

type StoredItem = ItemRow & StoredFiles;

/** Determines the key under which an item's file is stored. */
type FileOf = Pick<Item, "id" | "file_of">;

/** The queue stored in this browser, shared by all tabs. Never rejects: without a database it stores nothing. */
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

// Browsers copy a file that they store; the page asks for a larger one again after a reload.
const STORED_BYTES = 268_435_456;

// Never change a published entry; add a new one.
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

  async function within<T>(fallback: T, work: (db: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    const db = await opened;
    return db ? work(db).catch(() => fallback) : fallback;
  }

  const putInput = (item: FileOf, input: MediaInput) =>
    within(undefined, async (db) => {
      if (isStorable(input)) await db.put("inputs", { id: keyOf(item), input });
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
      const isStored = await within(false, async (db) => (await db.put("items", row)) === row.id);
      if (isStored && input !== null && !(await hasInput(row))) await putInput(row, input);
      return isStored;
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

function keyOf({ id, file_of }: FileOf): string {
  return file_of ?? id;
}

function isStorable(input: MediaInput): boolean {
  return typeof input === "string" || "getFile" in input || input.size <= STORED_BYTES;
}

/** The items of this tab, which writes its changes to the store and reads those of other tabs. */
export interface ItemList {
  /** The items as rendered, which follow changes made here within a few frames. */
  readonly items: ReadonlySignal<readonly Item[]>;
  readonly loaded: ReadonlySignal<boolean>;
  all(): Item[];
  find(id: string): Item | undefined;
  add(item: Item): void;
  /** Changes an item, unless it was removed. */
  change(id: string, changes: Partial<Item>): void;
  /** Renders items now, not a few frames later. */
  show(...ids: readonly string[]): void;
  /** Removes an item; returns it if it existed. */
  remove(id: string): Item | undefined;
  /** Reads an item again, which another tab may just have written. */
  refresh(id: string): Promise<Item | undefined>;
  /** Resolves when an item's current state is stored, including its file. */
  saved(id: string): Promise<void>;
  /** Returns an item's file from the store; null when none is stored, as for a handle. */
  storedFile(id: string): Promise<Blob | null>;
}

/** Reports changes that come from elsewhere. */
export interface ItemListEvents {
  /** An item was read from the store: after a reload, or because another tab added or changed it. */
  read(item: Item): void;
  gone(id: string): void;
}

/** Creates an {@link ItemList} on top of a store; tabs of one `name` notify each other of changes. */
export function createItemList(
  name: string,
  store: QueueStore,
  events: ItemListEvents,
  nextFrame = createFrames(),
): ItemList {
  const current = new Map<string, Item>();
  const visibleItems = createShownItems(current, nextFrame);
  const loaded = signal(false);
  const channel = new BroadcastChannel(name);
  const dirty = new Set<string>();
  const adding = new Map<string, Promise<void>>();
  // Another tab cannot have removed an item that was never written, for lack of space.
  const written = new Set<string>();
  let flushing: Promise<void> | null = null;
  const find = (id: string) => current.get(id);

  const put = (item: Item) => {
    current.set(item.id, item);
    visibleItems.changed(item.id);
  };
  const drop = (id: string) => {
    if (current.delete(id)) visibleItems.changed(id);
  };

  function merge(stored: StoredItem): Item | null {
    const before = find(stored.id);
    written.add(stored.id);
    // The pending write here is newer than the stored row.
    if (before && dirty.has(stored.id)) return null;
    const { wishes: settings, ...row } = stored;
    const item: Item = before
      ? {
          ...{ ...before, ...row, settings, task: newest(before, stored) },
          input: before.input ?? stored.input,
          thumbnail: before.thumbnail ?? stored.thumbnail,
        }
      : { ...row, settings, starting: null, pace: null, waiting: null };
    put(item);
    return item;
  }

  function receive(stored: StoredItem): void {
    const item = merge(stored);
    if (item) events.read(item);
  }

  async function load(): Promise<void> {
    for (const each of await store.all()) if (!find(each.id)) receive(each);
    visibleItems.show();
    loaded.value = true;
  }

  async function read(id: string): Promise<StoredItem | null> {
    const row = await store.get(id);
    if (!row) return null;
    const { input = null, thumbnail = null } = find(id) ?? {};
    return { ...row, ...(input && thumbnail ? { input, thumbnail } : await store.files(row)) };
  }

  channel.onmessage = async ({ data }: MessageEvent<{ id: string; gone: boolean }>) => {
    const stored = data.gone ? null : await read(data.id);
    if (stored) return receive(stored);
    drop(data.id);
    events.gone(data.id);
  };

  const unwritten = () => [...dirty].filter((id) => !adding.has(id));

  async function flush(): Promise<void> {
    for (let ids = unwritten(); ids.length > 0; ids = unwritten()) {
      for (const id of ids) dirty.delete(id);
      const rows = ids.map(find).filter((item) => item !== undefined);
      const missing = new Set(await store.put(rows.map(rowOf)));
      const removed = missing.intersection(written);
      for (const id of removed) {
        drop(id);
        events.gone(id);
      }
      for (const { id } of rows) if (!missing.has(id)) channel.postMessage({ id, gone: false });
    }
    flushing = null;
  }

  const write = () => {
    if (unwritten().length > 0) flushing ??= flush();
  };

  void load();

  return {
    items: visibleItems.items,
    loaded,
    all: () => [...current.values()],
    find,
    add(item) {
      put(item);
      const added = store.add(rowOf(item), item.input).then((isStored) => {
        adding.delete(item.id);
        write();
        if (!isStored) return;
        written.add(item.id);
        channel.postMessage({ id: item.id, gone: false });
      });
      adding.set(item.id, added);
    },
    change(id, changes) {
      const before = find(id);
      if (!before) return;
      const item = { ...before, ...changes };
      put(item);
      if (item.input && item.input !== before.input) void store.putInput(item, item.input);
      if (item.thumbnail && item.thumbnail !== before.thumbnail)
        void store.putThumbnail(item, item.thumbnail);
      if (!isSaved(before, item)) return;
      dirty.add(id);
      write();
    },
    show: visibleItems.show,
    remove(id) {
      const item = find(id);
      if (!item) return;
      drop(id);
      const removed = (adding.get(id) ?? Promise.resolve()).then(() => store.remove(item));
      void removed.then(() => channel.postMessage({ id, gone: true }));
      return item;
    },
    async refresh(id) {
      await flushing;
      const stored = adding.has(id) ? null : await read(id);
      if (stored && find(id)) merge(stored);
      return find(id);
    },
    async saved(id) {
      await adding.get(id);
      await flushing;
    },
    async storedFile(id) {
      const item = find(id);
      const { input } = item ? await store.files(item) : { input: null };
      return input instanceof Blob ? input : null;
    },
  };
}

function newest(before: Item, stored: StoredItem): Item["task"] {
  const { task } = before;
  return task && task.id === stored.task?.id && task.updated_at > stored.task.updated_at ? task : stored.task;
}

function isSaved(before: Item, after: Item): boolean {
  const names = [
    ...(["source", "settings", "service", "fault", "name", "size", "thumbnail"] as const),
    ...(["naming", "rank"] as const),
  ];
  return (
    names.some((name) => before[name] !== after[name]) ||
    before.task?.id !== after.task?.id ||
    before.task?.status !== after.task?.status
  );
}

function rowOf(item: Item): ItemRow {
  const { id, name, size, file_of = null, naming = null, rank = null } = item;
  const { source, settings, task, service, fault } = item;
  return { id, name, size, file_of, naming, rank, source, wishes: settings, task, service, fault };
}

/** Items as rendered. However many change at once, only a few are rendered per frame, so that the page stays responsive. */
export interface ShownItems {
  /** The items in order of rank, which is at first the order in which files were added; items of one file are neighbors. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** Renders with one of the next frames that an item was added, changed or removed. */
  changed(id: string): void;
  /** Renders these items now; without ids, the first changes of all items. */
  show(...ids: readonly string[]): void;
}

// A slow machine renders this many well within 50 ms.
const MAX_PER_FRAME = 8;

/** Creates {@link ShownItems} from the current items; `soon` runs work with one of the next frames. */
export function createShownItems(
  current: ReadonlyMap<string, Item>,
  nextFrame: (work: () => void) => void,
): ShownItems {
  const items = signal<readonly Item[]>([]);
  const changes = new Set<string>();
  let scheduled = false;

  function draw(ids: readonly string[]): void {
    for (const id of ids) changes.delete(id);
    const drawnIds = new Set(ids);
    const before = items.peek().filter(({ id }) => !drawnIds.has(id));
    const after = ids.map((id) => current.get(id)).filter((item) => item !== undefined);
    items.value = [...before, ...after].sort(inOrder);
  }

  function schedule(): void {
    if (scheduled || changes.size === 0) return;
    scheduled = true;
    nextFrame(() => {
      scheduled = false;
      if (changes.size > 0) draw([...changes].slice(0, MAX_PER_FRAME));
      schedule();
    });
  }

  return {
    items,
    changed(id) {
      changes.add(id);
      schedule();
    },
    show: (...ids) => draw(ids.length === 0 ? [...changes].slice(0, MAX_PER_FRAME) : ids),
  };
}

function inOrder(one: Item, other: Item): number {
  const [rank, otherRank] = [rankOf(one), rankOf(other)];
  if (rank !== otherRank) return rank - otherRank;
  return one.id < other.id ? -1 : 1;
}

// Ids begin with the time, and a file's first item has its id.
function rankOf({ id, file_of, rank }: Item): number {
  return rank ?? Number.parseInt((file_of ?? id).slice(0, ID_TIME_LENGTH), 36);
}

/** The smallest difference of two ranks; a number as large as the time still resolves it. */
const RANK_STEP = 0.5;

/** Returns the new ranks of the items whose place changes when one of them moves to an index. */
export function ranksAfterMove(items: readonly Item[], id: string, to: number): Map<string, number> {
  const moved = items.filter((item) => item.id === id);
  const others = items.filter((item) => item.id !== id);
  let last = Number.NEGATIVE_INFINITY;
  const ranks = items.map((item) => {
    last = Math.max(rankOf(item), last + RANK_STEP);
    return last;
  });
  const after = others.toSpliced(to, 0, ...moved);
  return new Map(
    after.flatMap((item, index) => {
      const rank = ranks[index] ?? 0;
      return rankOf(item) === rank ? [] : [[item.id, rank] as const];
    }),
  );
}
