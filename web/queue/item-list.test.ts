import { expect, test } from "vitest";
import { createItem, type Item } from "./item.ts";
import { createItemList, createShownItems, type ItemRow, type QueueStore } from "./item-list.ts";

/** A memory store that accepts only what `isKept` allows, as a full one would. */
function memoryStore(isKept: (row: ItemRow) => boolean): QueueStore {
  const rows = new Map<string, ItemRow>();
  const none = { input: null, thumbnail: null };
  return {
    all: async () => [...rows.values()].map((row) => ({ ...row, ...none })),
    get: async (id) => rows.get(id) ?? null,
    files: async () => none,
    async add(row) {
      if (isKept(row)) rows.set(row.id, row);
      return isKept(row);
    },
    async put(changed) {
      for (const row of changed) if (rows.has(row.id)) rows.set(row.id, row);
      return changed.filter(({ id }) => !rows.has(id)).map(({ id }) => id);
    },
    putInput: async () => {},
    putThumbnail: async () => {},
    remove: async ({ id }) => void rows.delete(id),
  };
}

// Renders synchronously.
const now = (work: () => void) => work();
const deaf = { read() {}, gone() {} };
const fault = { kind: "probe_failed", message: "No." };

test("keeps items that could not be stored, and drops those that another tab removed", async () => {
  const store = memoryStore(({ name }) => name === "kept.mp4");
  const list = createItemList(`list ${crypto.randomUUID()}`, store, deaf, now);
  const [kept, lost] = ["kept.mp4", "lost.mp4"].map((name) => createItem(`https://a.example/${name}`));
  if (!kept || !lost) throw new Error("There are no items.");
  list.add(kept);
  list.add(lost);
  for (const { id } of [kept, lost]) list.change(id, { fault });
  for (const { id } of [kept, lost]) await list.saved(id);
  expect(list.items.value.map(({ name, fault }) => [name, fault?.kind])).toEqual([
    ["kept.mp4", "probe_failed"],
    ["lost.mp4", "probe_failed"],
  ]);
  await store.remove(kept);
  for (const { id } of [kept, lost]) list.change(id, { fault: null });
  for (const { id } of [kept, lost]) await list.saved(id);
  expect(list.items.value.map(({ name }) => name)).toEqual(["lost.mp4"]);
});

test("a refresh does not undo changes that are not yet written", async () => {
  const store = memoryStore(() => true);
  const list = createItemList(`list ${crypto.randomUUID()}`, store, deaf, now);
  const item = createItem("https://a.example/clip.mp4");
  list.add(item);
  list.change(item.id, { fault });
  list.change(item.id, { name: "other.mp4" });
  const fresh = await list.refresh(item.id);
  expect([fresh?.name, fresh?.fault, fresh?.input]).toEqual(["other.mp4", fault, item.input]);
});

test("renders many changes over several frames, in order, each item in its latest state", () => {
  const frames: (() => void)[] = [];
  const current = new Map<string, Item>();
  const visibleItems = createShownItems(current, (work) => frames.push(work));
  const put = (item: Item) => {
    current.set(item.id, item);
    visibleItems.changed(item.id);
  };
  const names = () => visibleItems.items.value.map(({ name }) => name);
  const items = Array.from({ length: 30 }, (_, n) => createItem(`https://a.example/${n}`));
  for (const item of items) put(item);
  expect([names().length, frames.length]).toEqual([0, 1]);
  frames.shift()?.();
  expect(names()).toEqual(items.slice(0, 8).map(({ name }) => name));

  const [first, second, , last = second] = [items[0], items[1], items[2], items[29]];
  if (!first || !second || !last) throw new Error("There are no items.");
  current.delete(first.id);
  visibleItems.changed(first.id);
  put({ ...last, name: "last" });
  put({ ...second, name: "second" });
  visibleItems.show(second.id);
  expect(names().slice(0, 3)).toEqual(["0", "second", "2"]);
  while (frames.length > 0) frames.shift()?.();
  expect(names()).toEqual(["second", ...items.slice(2, 29).map(({ name }) => name), "last"]);
});

test("another output of a file stands beside the first, also when that is gone", () => {
  const current = new Map<string, Item>();
  const visibleItems = createShownItems(current, (work) => work());
  const put = (item: Item) => {
    current.set(item.id, item);
    visibleItems.changed(item.id);
  };
  const names = () => visibleItems.items.value.map(({ name }) => name);
  const [first, second] = ["first.mp4", "second.mp4"].map((name) => createItem(`https://a.example/${name}`));
  const [again, more] = [createItem("again"), createItem("more")];
  if (!first || !second) throw new Error("There are no items.");
  for (const item of [first, second]) put(item);
  put({ ...again, name: "again", file_of: first.id });
  put({ ...more, name: "more", file_of: first.id });
  expect(names()).toEqual(["first.mp4", "again", "more", "second.mp4"]);
  current.delete(first.id);
  visibleItems.changed(first.id);
  expect(names()).toEqual(["again", "more", "second.mp4"]);
});
