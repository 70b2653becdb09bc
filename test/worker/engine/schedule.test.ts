import { expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { nextAlarm, type RunRow } from "../../../worker/run/schedule.ts";
import { QUEUED, rowWith } from "./run-row.ts";

const NOW = 100_000;
const EXPIRES = 900_000;
const succeeded: Task = { ...QUEUED, status: "succeeded" };
const failed: Task = { ...QUEUED, status: "failed" };

test.for<[string, Partial<RunRow>, number | null]>([
  ["that is in progress is watched", {}, NOW + 30_000],
  ["that waits for heavy work is rarely looked at", { turn: "heavy_waits" }, NOW + 600_000],
  ["that has not started starts at once", { started: 0 }, NOW],
  ["that was just created enters the queue at once", { started: 0, turn: "none" }, NOW],
  [
    "that waits for its turn checks rarely",
    { started: 0, turn: "waits", heard_at: NOW - 1 },
    NOW - 1 + 600_000,
  ],
  [
    "that ended but could not leave the queue retries in a second",
    { record: failed, turn: "waits", cleanup_at: NOW + 1001 },
    NOW + 1000,
  ],
  ["that changed is mirrored a second after the last mirror", { version: 2, mirrored_at: 99_500 }, 100_500],
  ["whose mirror is overdue is mirrored at once", { version: 2, mirrored_at: 5 }, NOW],
  ["that ended is cleaned up when that is due", { record: failed, cleanup_at: 101_000 }, 101_000],
  [
    "that ended with an overdue mirror is mirrored first",
    { record: failed, version: 2, cleanup_at: 101_000 },
    NOW,
  ],
  ["that was cleaned up often enough needs no alarm", { record: failed, cleanups: 3 }, null],
  ["that succeeded keeps its output until it expires", { record: succeeded, cleanups: 3 }, EXPIRES],
  ["whose output has expired needs no alarm", { record: succeeded, cleanups: 4 }, null],
])("a run %s", ([, change, due]) => {
  expect(nextAlarm(rowWith(change), 30_000, EXPIRES, NOW)).toBe(due);
});
