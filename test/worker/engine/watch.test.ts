import { expect, test } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import type { RunRow } from "../../../worker/run/run-row.ts";
import { judgeRun } from "../../../worker/run/watch.ts";
import { QUEUED, rowWith } from "./run-row.ts";

const finished: Task = { ...QUEUED, status: "succeeded" };

test.each<[string, Partial<RunRow>, string]>([
  ["heard and moving", { heard_at: 99_000, progressed_at: 99_000 }, "well"],
  ["heard, at the last moment before silence", { heard_at: 70_001, progressed_at: 70_001 }, "well"],
  ["not heard for the watch time", { heard_at: 70_000, progressed_at: 99_000 }, "silent"],
  ["heard, but not moving for the stall time", { heard_at: 99_000, progressed_at: -200_000 }, "stalled"],
  [
    "silent since a long stop of the service: woken, not given up",
    { heard_at: -9e9, progressed_at: -9e9 },
    "silent",
  ],
  ["woken for the whole stall time without an answer", { heard_at: 0, progressed_at: 0, wakes: 10 }, "lost"],
  ["woken once less than that", { heard_at: 0, progressed_at: 0, wakes: 9 }, "silent"],
  ["waiting for its turn", { started: 0, turn: "waits", heard_at: -9e9, progressed_at: -9e9 }, "well"],
  ["finished long ago", { record: finished, heard_at: -9e9, progressed_at: -9e9 }, "well"],
])("a run %s is found %s", (_, change, finding) => {
  expect(judgeRun(rowWith(change), { watch: 30_000, stall: 300_000 }, 100_000)).toBe(finding);
});
