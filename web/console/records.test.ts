import { expect, test } from "vitest";
import { MediaError } from "../../src/index.ts";
import { createPaged, type ListRecord } from "./records.tsx";
import { toFault } from "./service.ts";

/** A list of a service, newest first; its answers wait for `answer`. */
function listOf(all: ListRecord[], answer?: () => Promise<void>) {
  return createPaged<ListRecord>(async ({ limit = 20, after }) => {
    const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const page = { records: all.slice(from, from + limit), more: all.length > from + limit };
    await answer?.();
    return page;
  }, toFault);
}

const numbered = (from: number, to: number): ListRecord[] =>
  Array.from({ length: from - to + 1 }, (_, index) => ({ id: String(from - index).padStart(4, "0") }));
const idsOf = (list: ReturnType<typeof listOf>) => list.records.value?.map(({ id }) => id);

test("loads a list page by page, and refreshes what is shown", async () => {
  const all = numbered(150, 1);
  const list = listOf(all);
  expect(list.records.value).toBeNull();
  await list.refresh();
  expect(idsOf(list)).toEqual(numbered(150, 131).map(({ id }) => id));
  for (let page = 0; page < 5; page++) await list.next();
  expect(list.records.value).toHaveLength(120);
  all.unshift({ id: "0151" });
  all.splice(3, 1);
  await list.refresh();
  // The new record appears, the deleted one of the newest hundred is gone, and those beyond that page stay.
  expect(idsOf(list)).toEqual(
    ["0151", ...numbered(150, 31).map(({ id }) => id)].filter((id) => id !== "0148"),
  );
  expect(list.more.value).toBe(true);
  for (let page = 0; page < 2; page++) await list.next();
  expect(list.more.value).toBe(false);
  expect(list.records.value).toHaveLength(150);
});

test("a pending answer does not undo later puts and drops", async () => {
  const gate = Promise.withResolvers<void>();
  const all = [{ id: "0003", updated_at: 1 }, { id: "0002" }, { id: "0001" }];
  const list = listOf(all, () => gate.promise);
  const refresh = list.refresh();
  list.put({ id: "0004" });
  list.put({ id: "0003", updated_at: 2 });
  list.drop("0002");
  gate.resolve();
  await refresh;
  expect(list.records.value).toEqual([{ id: "0004" }, { id: "0003", updated_at: 2 }, { id: "0001" }]);
  // Nothing was put since, so the service's records win again.
  await list.refresh();
  expect(list.records.value).toEqual([{ id: "0003", updated_at: 2 }, { id: "0001" }]);
});

test("reports a fault with its field, and clears it with the next answer", async () => {
  let fails = true;
  const list = createPaged<ListRecord>(async () => {
    if (fails) throw new MediaError("forbidden", "The key lacks the scope read.", { param: "key" });
    return { records: [], more: false };
  }, toFault);
  await list.refresh();
  expect(list.fault.value).toEqual({
    kind: "forbidden",
    message: "The key lacks the scope read.",
    param: "key",
  });
  expect(list.records.value).toBeNull();
  fails = false;
  await list.refresh();
  expect(list.fault.value).toBeNull();
  expect(list.records.value).toEqual([]);
});
