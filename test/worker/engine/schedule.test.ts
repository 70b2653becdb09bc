import { expect, test } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import type { RunRow } from "../../../worker/run/run-row.ts";
import { nextAlarm } from "../../../worker/run/schedule.ts";
import { QUEUED, rowWith } from "./run-row.ts";

const NOW = 100_000;
const EXPIRES = 900_000;
const succeeded: Task = { ...QUEUED, status: "succeeded" };
const failed: Task = { ...QUEUED, status: "failed" };

test.for<[string, Partial<RunRow>, number | null]>([
  ["that runs is looked after", {}, NOW + 30_000],
  ["that has not begun begins at once", { started: 0 }, NOW],
  ["that was just made enters the queue at once", { started: 0, turn: "none" }, NOW],
  [
    "that waits for its turn asks for it seldom",
    { started: 0, turn: "waits", heard_at: NOW - 1 },
    NOW - 1 + 600_000,
  ],
  [
    "that is over and could not leave the queue does so in a second",
    { record: failed, turn: "waits", cleanup_at: NOW + 1001 },
    NOW + 1000,
  ],
  [
    "that has changed is mirrored a second after the last mirror",
    { version: 2, mirrored_at: 99_500 },
    100_500,
  ],
  ["whose mirror is overdue is mirrored at once", { version: 2, mirrored_at: 5 }, NOW],
  ["that is over is cleared when that is due", { record: failed, cleanup_at: 101_000 }, 101_000],
  ["that is over and mirrored late has both", { record: failed, version: 2, cleanup_at: 101_000 }, NOW],
  ["that was cleared often enough needs nothing more", { record: failed, cleanups: 3 }, null],
  ["that succeeded keeps its output until that expires", { record: succeeded, cleanups: 3 }, EXPIRES],
  ["whose output has expired needs nothing more", { record: succeeded, cleanups: 4 }, null],
])("a run %s", ([, change, due]) => {
  expect(nextAlarm(rowWith(change), 30_000, EXPIRES, NOW)).toBe(due);
});
