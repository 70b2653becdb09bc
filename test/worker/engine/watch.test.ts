import { expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { assessRun, countWake, type RunRow } from "../../../worker/run/schedule.ts";
import { QUEUED, rowWith } from "./run-row.ts";

const finished: Task = { ...QUEUED, status: "succeeded" };

test.each<{ name: string; change: Partial<RunRow>; finding: string }>([
  { name: "heard from and moving", change: { heard_at: 99_000, progressed_at: 99_000 }, finding: "well" },
  {
    name: "heard from just within the watch time",
    change: { heard_at: 70_001, progressed_at: 70_001 },
    finding: "well",
  },
  {
    name: "not heard from for the watch time",
    change: { heard_at: 70_000, progressed_at: 99_000 },
    finding: "silent",
  },
  {
    name: "heard from, but not moving for the stall time",
    change: { heard_at: 99_000, progressed_at: -200_000 },
    finding: "stalled",
  },
  {
    name: "silent since a long stop of the service, which is woken and not given up",
    change: { heard_at: -9e9, progressed_at: -9e9 },
    finding: "silent",
  },
  {
    name: "woken for the whole stall time without an answer",
    change: { heard_at: 0, progressed_at: 0, wakes: 10 },
    finding: "lost",
  },
  { name: "woken one time fewer", change: { heard_at: 0, progressed_at: 0, wakes: 9 }, finding: "silent" },
  {
    name: "waiting for its turn",
    change: { started: 0, turn: "waits", heard_at: -9e9, progressed_at: -9e9 },
    finding: "well",
  },
  {
    name: "waiting for heavy work, asleep since nine minutes",
    change: { turn: "heavy_waits", heard_at: -440_000, progressed_at: -9e9 },
    finding: "well",
  },
  {
    name: "waiting for heavy work for ten minutes",
    change: { turn: "heavy_waits", heard_at: -500_000 },
    finding: "silent",
  },
  {
    name: "finished long ago",
    change: { record: finished, heard_at: -9e9, progressed_at: -9e9 },
    finding: "well",
  },
])("judges a run $name: $change", ({ change, finding }) => {
  expect(assessRun(rowWith(change), { watch: 30_000, stall: 300_000 }, 100_000)).toBe(finding);
});

test.each([
  { name: "three times the watch time", stall: 90_000, wakes: 3 },
  { name: "the watch time", stall: 30_000, wakes: 1 },
  { name: "a second", stall: 1000, wakes: 1 },
])(
  "with a stall time of $name, a run that was queued for long is woken $wakes times before it is lost",
  ({ stall, wakes: expected }) => {
    const verdict = (wakes: number) => assessRun(rowWith({ wakes }), { watch: 30_000, stall }, 100_000);
    let wakes = 0;
    for (let check = 0; check < 5; check++) {
      expect(verdict(wakes)).toBe("silent");
      wakes = countWake(wakes, true);
    }
    expect(wakes).toBe(-3);
    for (let check = 0; check < expected; check++) {
      expect(verdict(wakes)).toBe("silent");
      wakes = countWake(wakes, false);
    }
    expect(verdict(wakes)).toBe("lost");
  },
);
