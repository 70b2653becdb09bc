import { expect, test } from "vitest";
import { createItem } from "./create-item.ts";
import { createItemList } from "./item-list.ts";
import type { ItemRow, QueueStore } from "./queue-store.ts";

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
