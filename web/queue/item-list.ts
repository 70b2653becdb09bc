import { type ReadonlySignal, signal } from "@preact/signals";
import type { Item } from "./item.ts";
import type { ItemRow, QueueStore, StoredItem } from "./queue-store.ts";
import { createFrames } from "./schedulers.ts";

/** The items of this tab, written to the store as they change and read from it as other tabs change them. */
export interface ItemList {
  /** The items as rendered, which follow changes made here within a few frames. */
  readonly items: ReadonlySignal<readonly Item[]>;
  readonly loaded: ReadonlySignal<boolean>;
  all(): Item[];
  find(id: string): Item | undefined;
  add(item: Item): void;
  /** Changes an item, unless it was removed. */
  change(id: string, changes: Partial<Item>): void;
  /** Renders an item now, not a few frames later. */
  show(id: string): void;
  /** Removes an item; returns it if it existed. */
  remove(id: string): Item | undefined;
  /** Reads what another tab may just have written about an item. */
  refresh(id: string): Promise<Item | undefined>;
  /** Resolves when an item's current state is stored, including its file. */
  saved(id: string): Promise<void>;
  /** Returns an item's file from the store; null when none is stored, as for a handle. */
  keptFile(id: string): Promise<Blob | null>;
}

/** Reports changes that come from elsewhere. */
export interface ItemListEvents {
  /** An item was read from the store: after a reload, or because another tab added or changed it. */
  read(item: Item): void;
  gone(id: string): void;
}

/**
 * Creates an {@link ItemList} on top of a store; tabs of one `name` notify each other of changes. `soon` runs work with one
 * of the next frames.
 */
export function createItemList(
  name: string,
  store: QueueStore,
  events: ItemListEvents,
  soon = createFrames(),
): ItemList {
  const current = new Map<string, Item>();
  const shown = createShownItems(current, soon);
  const loaded = signal(false);
  const channel = new BroadcastChannel(name);
  const dirty = new Set<string>();
  const adding = new Map<string, Promise<void>>();
  // An item never written, for lack of room, was not removed by another tab.
  const written = new Set<string>();
  let flushing: Promise<void> | null = null;
  const find = (id: string) => current.get(id);

  const put = (item: Item) => {
    current.set(item.id, item);
    shown.changed(item.id);
  };
  const drop = (id: string) => {
    if (current.delete(id)) shown.changed(id);
  };

  function take(stored: StoredItem): Item | null {
    const before = find(stored.id);
    written.add(stored.id);
    // What has changed here meanwhile is about to be written.
    if (before && dirty.has(stored.id)) return null;
    const item: Item = before
      ? {
          ...{ ...before, ...stored, task: newest(before, stored) },
          input: before.input ?? stored.input,
          thumbnail: before.thumbnail ?? stored.thumbnail,
        }
      : { ...stored, starting: null, pace: null, waiting: null };
    put(item);
    return item;
  }

  function takeAnew(stored: StoredItem): void {
    const item = take(stored);
    if (item) events.read(item);
  }

  async function load(): Promise<void> {
    for (const each of await store.all()) if (!find(each.id)) takeAnew(each);
    // Otherwise the page would be rendered for an empty queue.
    shown.show();
    loaded.value = true;
  }

  /** Reads an item, and its file and picture if they are not here yet. */
  async function read(id: string): Promise<StoredItem | null> {
    const row = await store.get(id);
    if (!row) return null;
    const { input = null, thumbnail = null } = find(id) ?? {};
    return { ...row, ...(input && thumbnail ? { input, thumbnail } : await store.files(row)) };
  }

  channel.onmessage = async ({ data }: MessageEvent<{ id: string; gone: boolean }>) => {
    const stored = data.gone ? null : await read(data.id);
    if (stored) return takeAnew(stored);
    drop(data.id);
    events.gone(data.id);
  };

  // A large file that is still being added delays only its own item.
  const unwritten = () => [...dirty].filter((id) => !adding.has(id));

  // One write at a time, of everything that has changed by then.
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
    items: shown.items,
    loaded,
    all: () => [...current.values()],
    find,
    add(item) {
      put(item);
      const added = store.add(rowOf(item), item.input).then((kept) => {
        adding.delete(item.id);
        write();
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
      put(item);
      if (item.input && item.input !== before.input) void store.putInput(item, item.input);
      if (item.thumbnail && item.thumbnail !== before.thumbnail)
        void store.putThumbnail(item, item.thumbnail);
      if (!isKept(before, item)) return;
      dirty.add(id);
      write();
    },
    show: shown.show,
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
      // No other tab knows an item that has not been added yet.
      const stored = adding.has(id) ? null : await read(id);
      if (stored && find(id)) take(stored);
      return find(id);
    },
    async saved(id) {
      await adding.get(id);
      await flushing;
    },
    async keptFile(id) {
      const item = find(id);
      const { input } = item ? await store.files(item) : { input: null };
      return input instanceof Blob ? input : null;
    },
  };
}

// This tab may know a newer state of a task than another one has written.
function newest(before: Item, stored: StoredItem): Item["task"] {
  const { task } = before;
  return task && task.id === stored.task?.id && task.updated_at > stored.task.updated_at ? task : stored.task;
}

// Frequent changes are not written: the executing client reports progress again.
function isKept(before: Item, after: Item): boolean {
  const names = ["source", "wishes", "service", "fault", "name", "size", "thumbnail"] as const;
  return (
    names.some((name) => before[name] !== after[name]) ||
    before.task?.id !== after.task?.id ||
    before.task?.status !== after.task?.status
  );
}

function rowOf(item: Item): ItemRow {
  const { id, name, size, file_of, source, wishes, task, service, fault } = item;
  return { id, name, size, file_of: file_of ?? null, source, wishes, task, service, fault };
}

/** Items as rendered. However many change at once, only a few are rendered per frame, so that the page stays responsive. */
export interface ShownItems {
  /** In the order in which their files were added; items of one file follow each other. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** Renders with one of the next frames that an item was added, changed or removed. */
  changed(id: string): void;
  /** Renders now: the given item, or the first changes of all. */
  show(id?: string): void;
}

// As many as a slow machine renders well within 50 ms.
const MOST = 8;

/** Creates {@link ShownItems} from the current items; `soon` runs work with one of the next frames. */
export function createShownItems(
  current: ReadonlyMap<string, Item>,
  soon: (work: () => void) => void,
): ShownItems {
  const items = signal<readonly Item[]>([]);
  const changes = new Set<string>();
  let scheduled = false;

  function draw(ids: readonly string[]): void {
    for (const id of ids) changes.delete(id);
    const drawn = new Set(ids);
    const before = items.peek().filter(({ id }) => !drawn.has(id));
    const after = ids.map((id) => current.get(id)).filter((item) => item !== undefined);
    items.value = [...before, ...after].sort(inOrder);
  }

  function schedule(): void {
    if (scheduled || changes.size === 0) return;
    scheduled = true;
    soon(() => {
      scheduled = false;
      if (changes.size > 0) draw([...changes].slice(0, MOST));
      schedule();
    });
  }

  return {
    items,
    changed(id) {
      changes.add(id);
      schedule();
    },
    show: (id) => draw(id === undefined ? [...changes].slice(0, MOST) : [id]),
  };
}

// Ids grow with time, and a file's first item has its id.
function inOrder(one: Item, other: Item): number {
  const [file, otherFile] = [one.file_of ?? one.id, other.file_of ?? other.id];
  if (file !== otherFile) return file < otherFile ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}
