import { expect, test } from "vitest";
import { createItem } from "./create-item.ts";
import type { Item } from "./item.ts";
import { createShownItems } from "./shown-items.ts";

test("renders many changes over several frames, in order, each item in its latest state", () => {
  const frames: (() => void)[] = [];
  const current = new Map<string, Item>();
  const shown = createShownItems(current, (work) => frames.push(work));
  const put = (item: Item) => {
    current.set(item.id, item);
    shown.changed(item.id);
  };
  const names = () => shown.items.value.map(({ name }) => name);
  const made = Array.from({ length: 30 }, (_, n) => createItem(`https://a.example/${n}`));
  for (const item of made) put(item);
  expect([names().length, frames.length]).toEqual([0, 1]);
  frames.shift()?.();
  expect(names()).toEqual(made.slice(0, 8).map(({ name }) => name));

  const [first, second, , last = second] = [made[0], made[1], made[2], made[29]];
  if (!first || !second || !last) throw new Error("There are no items.");
  current.delete(first.id);
  shown.changed(first.id);
  put({ ...last, name: "last" });
  put({ ...second, name: "second" });
  shown.show(second.id);
  expect(names().slice(0, 3)).toEqual(["0", "second", "2"]);
  while (frames.length > 0) frames.shift()?.();
  expect(names()).toEqual(["second", ...made.slice(2, 29).map(({ name }) => name), "last"]);
});

test("another output of a file stands beside the first, also when that is gone", () => {
  const current = new Map<string, Item>();
  const shown = createShownItems(current, (work) => work());
  const put = (item: Item) => {
    current.set(item.id, item);
    shown.changed(item.id);
  };
  const names = () => shown.items.value.map(({ name }) => name);
  const [first, second] = ["first.mp4", "second.mp4"].map((name) => createItem(`https://a.example/${name}`));
  const [again, more] = [createItem("again"), createItem("more")];
  if (!first || !second) throw new Error("There are no items.");
  for (const item of [first, second]) put(item);
  put({ ...again, name: "again", file_of: first.id });
  put({ ...more, name: "more", file_of: first.id });
  expect(names()).toEqual(["first.mp4", "again", "more", "second.mp4"]);
  current.delete(first.id);
  shown.changed(first.id);
  expect(names()).toEqual(["again", "more", "second.mp4"]);
});
