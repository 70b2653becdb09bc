import { expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { assessRun, type RunRow } from "../../../worker/run/schedule.ts";
import { QUEUED, rowWith } from "./run-row.ts";

const finished: Task = { ...QUEUED, status: "succeeded" };

test.each<[string, Partial<RunRow>, string]>([
  ["heard from and moving", { heard_at: 99_000, progressed_at: 99_000 }, "well"],
  ["heard from just within the watch time", { heard_at: 70_001, progressed_at: 70_001 }, "well"],
  ["not heard from for the watch time", { heard_at: 70_000, progressed_at: 99_000 }, "silent"],
  ["heard from, but not moving for the stall time", { heard_at: 99_000, progressed_at: -200_000 }, "stalled"],
  [
    "silent since a long stop of the service, which is woken and not given up",
    { heard_at: -9e9, progressed_at: -9e9 },
    "silent",
  ],
  ["woken for the whole stall time without an answer", { heard_at: 0, progressed_at: 0, wakes: 10 }, "lost"],
  ["woken one time fewer", { heard_at: 0, progressed_at: 0, wakes: 9 }, "silent"],
  ["waiting for its turn", { started: 0, turn: "waits", heard_at: -9e9, progressed_at: -9e9 }, "well"],
  [
    "waiting for heavy work, asleep since nine minutes",
    { turn: "heavy_waits", heard_at: -440_000, progressed_at: -9e9 },
    "well",
  ],
  ["waiting for heavy work for ten minutes", { turn: "heavy_waits", heard_at: -500_000 }, "silent"],
  ["finished long ago", { record: finished, heard_at: -9e9, progressed_at: -9e9 }, "well"],
])("judges a run %s: %s", (_, change, finding) => {
  expect(assessRun(rowWith(change), { watch: 30_000, stall: 300_000 }, 100_000)).toBe(finding);
});
