import { expect, test } from "vitest";
import { createIdempotencyTable } from "../../../worker/http/idempotency.ts";
import { createMemorySql } from "../api/memory-connections.ts";

const DAY = 86_400_000;

test("runs a request once and repeats its answer for a day", () => {
  const table = createIdempotencyTable(createMemorySql());
  expect(table.begin("key", "digest", "task_1", 0)).toEqual({ state: "new", id: "task_1" });
  expect(table.begin("key", "digest", "task_2", 10)).toEqual({ state: "running" });
  expect(table.begin("key", "another", "task_2", 10)).toEqual({ state: "other" });
  table.end("key", { answer: "{}" });
  expect(table.begin("key", "digest", "task_2", DAY - 1)).toEqual({ state: "done", answer: "{}" });
  expect(table.begin("key", "another", "task_2", DAY - 1)).toEqual({ state: "other" });
  expect(table.begin("key", "another", "task_2", DAY)).toEqual({ state: "new", id: "task_2" });
});

test("a rejected request frees its key for any other request", () => {
  const table = createIdempotencyTable(createMemorySql());
  table.begin("key", "digest", "task_1", 0);
  table.end("key", "refused");
  expect(table.begin("key", "another", "task_2", 1)).toEqual({ state: "new", id: "task_2" });
});

test("a request whose answer was lost creates the same record, one attempt at a time", () => {
  const table = createIdempotencyTable(createMemorySql());
  table.begin("key", "digest", "task_1", 0);
  expect(table.begin("key", "digest", "task_2", 59_999)).toEqual({ state: "running" });
  expect(table.begin("key", "digest", "task_2", 60_000)).toEqual({ state: "again", id: "task_1" });
  expect(table.begin("key", "digest", "task_3", 60_001)).toEqual({ state: "running" });
  table.end("key", { answer: "{}" });
  // A late failure does not undo it.
  table.end("key", "refused");
  table.end("key", "lost");
  expect(table.begin("key", "digest", "task_3", 60_002)).toEqual({ state: "done", answer: "{}" });
});

test("a request that failed midway may be repeated at once, unchanged, and creates the same record", () => {
  const table = createIdempotencyTable(createMemorySql());
  table.begin("key", "digest", "task_1", 0);
  // A begin whose own answer was lost is repeated.
  expect(table.begin("key", "digest", "task_1", 50)).toEqual({ state: "new", id: "task_1" });
  table.end("key", "lost");
  expect(table.begin("key", "another", "task_2", 60)).toEqual({ state: "other" });
  expect(table.begin("key", "digest", "task_2", 60)).toEqual({ state: "again", id: "task_1" });
  expect(table.begin("key", "digest", "task_3", 70)).toEqual({ state: "running" });
});
