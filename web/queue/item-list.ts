import { type ReadonlySignal, signal } from "@preact/signals";
import type { Item } from "./item.ts";
import type { ItemRow, QueueStore, StoredItem } from "./queue-store.ts";

/** The items of this tab, written to the store as they change and read from it as other tabs change them. */
export interface ItemList {
  readonly items: ReadonlySignal<readonly Item[]>;
  readonly loaded: ReadonlySignal<boolean>;
  find(id: string): Item | undefined;
  add(item: Item): void;
  /** Changes an item, unless it was removed. */
  change(id: string, changes: Partial<Item>): void;
  /** Takes an item away; gives it back where there was one. */
  remove(id: string): Item | undefined;
  /** Reads what another tab may just have written of an item. */
  refresh(id: string): Promise<Item | undefined>;
  /** Resolves when all changes are written. */
  saved(): Promise<void>;
}

/** What a list tells of what came from elsewhere. */
export interface ItemListEvents {
  /** An item was read from the store: after a reload, or as another tab added or changed it. */
  read(item: Item): void;
  /** Another tab removed an item. */
  gone(id: string): void;
}

/** Builds an {@link ItemList} over a store; tabs of one `name` tell each other of their changes. */
export function createItemList(name: string, store: QueueStore, events: ItemListEvents): ItemList {
  const items = signal<readonly Item[]>([]);
  const loaded = signal(false);
  const channel = new BroadcastChannel(name);
  const dirty = new Set<string>();
  const adding = new Map<string, Promise<void>>();
  // What was never written, for want of room, was not removed by another tab.
  const written = new Set<string>();
  let flushing: Promise<void> | null = null;
  const find = (id: string) => items.value.find((item) => item.id === id);

  const drop = (id: string) => {
    items.value = items.value.filter((item) => item.id !== id);
  };

  function take(stored: StoredItem): void {
    const before = find(stored.id);
    written.add(stored.id);
    // What changed here meanwhile is about to be written.
    if (before && dirty.has(stored.id)) return;
    const item: Item = before
      ? {
          ...{ ...before, ...stored, task: newest(before, stored) },
          input: before.input ?? stored.input,
          thumbnail: before.thumbnail ?? stored.thumbnail,
        }
      : { ...stored, starting: null, pace: null, waiting: null };
    if (before) items.value = items.value.map((each) => (each === before ? item : each));
    else items.value = [...items.value, item].sort((a, b) => (a.id < b.id ? -1 : 1));
    events.read(item);
  }

  async function load(): Promise<void> {
    const stored = await store.all();
    const known = new Set(items.value.map(({ id }) => id));
    for (const each of stored) if (!known.has(each.id)) take(each);
    loaded.value = true;
  }

  channel.onmessage = async ({ data }: MessageEvent<{ id: string; gone: boolean }>) => {
    const stored = data.gone ? null : await store.get(data.id);
    if (stored) return take(stored);
    drop(data.id);
    events.gone(data.id);
  };

  // One write at a time, of whatever has changed by then.
  async function flush(): Promise<void> {
    while (dirty.size > 0) {
      const ids = [...dirty];
      dirty.clear();
      await Promise.all(ids.map((id) => adding.get(id)));
      const rows = ids.map(find).filter((item) => item !== undefined);
      const missing = new Set(await store.put(rows.map(rowOf)));
      const gone = missing.intersection(written);
      for (const id of gone) {
        drop(id);
        events.gone(id);
      }
      for (const { id } of rows) if (!missing.has(id)) channel.postMessage({ id, gone: false });
    }
    flushing = null;
  }

  void load();

  return {
    items,
    loaded,
    find,
    add(item) {
      items.value = [...items.value, item];
      const added = store.add(rowOf(item), item.input).then((kept) => {
        adding.delete(item.id);
        if (!kept) return;
        written.add(item.id);
        channel.postMessage({ id: item.id, gone: false });
      });
      adding.set(item.id, added);
    },
    change(id, changes) {
      const before = find(id);
      if (!before) return;
      const item = { ...before, ...changes };
      items.value = items.value.map((each) => (each === before ? item : each));
      if (item.input && item.input !== before.input) void store.putInput(id, item.input);
      if (item.thumbnail && item.thumbnail !== before.thumbnail) void store.putThumbnail(id, item.thumbnail);
      if (!isKept(before, item)) return;
      dirty.add(id);
      flushing ??= flush();
    },
    remove(id) {
      const item = find(id);
      if (!item) return;
      drop(id);
      const removed = (adding.get(id) ?? Promise.resolve()).then(() => store.remove(id));
      void removed.then(() => channel.postMessage({ id, gone: true }));
      return item;
    },
    async refresh(id) {
      await flushing;
      const stored = await store.get(id);
      if (stored && find(id)) take(stored);
      return find(id);
    },
    saved: async () => void (await flushing),
  };
}

// What this tab sees of a task may be newer than what another one wrote of it.
function newest(before: Item, stored: StoredItem): Item["task"] {
  const { task } = before;
  return task && task.id === stored.task?.id && task.updated_at > stored.task.updated_at ? task : stored.task;
}

// What changes many times a second is not written: progress is told again by whoever does the work.
function isKept(before: Item, after: Item): boolean {
  const names = ["source", "wishes", "service", "fault", "name", "size", "thumbnail"] as const;
  return (
    names.some((name) => before[name] !== after[name]) ||
    before.task?.id !== after.task?.id ||
    before.task?.status !== after.task?.status
  );
}

function rowOf(item: Item): ItemRow {
  const { id, name, size, source, wishes, task, service, fault } = item;
  return { id, name, size, source, wishes, task, service, fault };
}
