import { expect, test } from "vitest";
import { createIds, isId } from "../../src/runs/ids.ts";

test("an id is a prefix and a lower-case ULID of its time", () => {
  const id = createIds(() => 0);
  // The example of https://github.com/ulid/javascript
  expect(id("task", 1469918176385)).toBe("task_01aryz6s410000000000000000");
  expect(isId("task", createIds(Math.random)("task", 1795170600000))).toBe(true);
});

test("ids sort by time, and within a millisecond by creation order", () => {
  const id = createIds(Math.random);
  const ids = [1, 1, 1, 2, 2, 1000, 1795170600000, 1795170600000, 1795170600001].map((now) =>
    id("step", now),
  );
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("ids still sort when the clock steps back", () => {
  const id = createIds(Math.random);
  const ids = [5000, 4000, 4500].map((now) => id("task", now));
  expect(ids.toSorted()).toEqual(ids);
});

test("100,000 ids of one millisecond are unique", () => {
  const id = createIds(Math.random);
  const ids = new Set(Array.from({ length: 100_000 }, () => id("task", 1)));
  expect(ids.size).toBe(100_000);
});

const ulid = "01kbb1d3x4e8v0t6m9q2y5z7av";
test.each([
  { text: `task_${ulid}`, valid: true },
  { text: `step_${ulid}`, valid: false },
  { text: ulid, valid: false },
  { text: "task_", valid: false },
  { text: `task_${ulid.slice(1)}`, valid: false },
  { text: `task_${ulid}0`, valid: false },
  { text: `task_${ulid.toUpperCase()}`, valid: false },
  { text: `task_8${ulid.slice(1)}`, valid: false },
  { text: `task_${ulid.slice(0, 25)}i`, valid: false },
  { text: `task_${ulid.slice(0, 25)}l`, valid: false },
  { text: `task_${ulid.slice(0, 25)}o`, valid: false },
  { text: `task_${ulid.slice(0, 25)}u`, valid: false },
  { text: `task_${ulid}\n`, valid: false },
  { text: ` task_${ulid}`, valid: false },
  { text: `task_${ulid.slice(0, 22)}/../`, valid: false },
  { text: "", valid: false },
  { text: "__proto__", valid: false },
])("$text is a valid task id: $valid", ({ text, valid }) => {
  expect(isId("task", text)).toBe(valid);
});
