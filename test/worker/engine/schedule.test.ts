import { expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { nextAlarm, type RunRow } from "../../../worker/run/schedule.ts";
import { QUEUED, rowWith } from "./run-row.ts";

const NOW = 100_000;
const EXPIRES = 900_000;
const succeeded: Task = { ...QUEUED, status: "succeeded" };
const failed: Task = { ...QUEUED, status: "failed" };

test.for<{ name: string; change: Partial<RunRow>; due: number | null }>([
  { name: "that is in progress is watched", change: {}, due: NOW + 30_000 },
  {
    name: "that waits for heavy work is rarely looked at",
    change: { turn: "heavy_waits" },
    due: NOW + 600_000,
  },
  { name: "that has not started starts at once", change: { started: 0 }, due: NOW },
  { name: "that was just created enters the queue at once", change: { started: 0, turn: "none" }, due: NOW },
  {
    name: "that waits for its turn checks rarely",
    change: { started: 0, turn: "waits", heard_at: NOW - 1 },
    due: NOW - 1 + 600_000,
  },
  {
    name: "that ended but could not leave the queue retries in a second",
    change: { record: failed, turn: "waits", cleanup_at: NOW + 1001 },
    due: NOW + 1000,
  },
  {
    name: "that changed is mirrored a second after the last mirror",
    change: { version: 2, mirrored_at: 99_500 },
    due: 100_500,
  },
  { name: "whose mirror is overdue is mirrored at once", change: { version: 2, mirrored_at: 5 }, due: NOW },
  {
    name: "that ended is cleaned up when that is due",
    change: { record: failed, cleanup_at: 101_000 },
    due: 101_000,
  },
  {
    name: "that ended with an overdue mirror is mirrored first",
    change: { record: failed, version: 2, cleanup_at: 101_000 },
    due: NOW,
  },
  {
    name: "that was cleaned up often enough needs no alarm",
    change: { record: failed, cleanups: 3 },
    due: null,
  },
  {
    name: "that succeeded keeps its output until it expires",
    change: { record: succeeded, cleanups: 3 },
    due: EXPIRES,
  },
  { name: "whose output has expired needs no alarm", change: { record: succeeded, cleanups: 4 }, due: null },
])("a run $name", ({ change, due }) => {
  expect(nextAlarm(rowWith(change), 30_000, EXPIRES, NOW)).toBe(due);
});
