import { expect, test } from "vitest";
import { progressOf, updateOf } from "../../src/client/progress.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createStep } from "../../src/runs/step.ts";
import { applyToTask } from "../../src/runs/transitions.ts";
import { EVENTS, finish, history, move, NOW, QUEUED, SOURCE } from "./records.ts";

test("a task's percent weights its steps, and is 100 only on success", () => {
  expect(history().map(progressOf)).toEqual([null, null, 2, 2, 10, 10, 18, 52, 95, 95, 100]);
  const nearly = history([...EVENTS.slice(0, -1), move(3, 100)]).at(-1);
  expect(nearly?.status).toBe("processing");
  expect(nearly && progressOf(nearly)).toBe(99);
});

test("a cancelled task keeps its percent", () => {
  const half = history()[7];
  if (!half) throw new Error("no such state");
  expect(progressOf(applyToTask(half, { type: "cancelled" }, NOW + 9000))).toBe(52);
  expect(progressOf(applyToTask(QUEUED, { type: "cancelled" }, NOW))).toBe(null);
});

test("a step reports its own percent", () => {
  const step = createStep({ kind: "probe", input: null, options: {} }, createIds(Math.random), NOW);
  expect([null, 0, 47, 100].map((progress) => progressOf({ ...step, progress }))).toEqual([null, 0, 47, 100]);
});

const UNKNOWN = { speed: null, eta: null, error: null, choice: null };

test("progress never falls from one update to the next", () => {
  const half = history()[7];
  if (!half) throw new Error("no such state");
  expect(updateOf(QUEUED, null)).toEqual({ record: QUEUED, progress: null, ...UNKNOWN });
  const update = updateOf(half, null);
  expect(update).toEqual({
    record: half,
    progress: 52,
    speed: expect.closeTo(20 / 3.8),
    eta: expect.closeTo(1.8),
    error: null,
    choice: null,
  });
  expect(updateOf(QUEUED, update).progress).toBe(52);
  expect(updateOf(QUEUED, updateOf(QUEUED, null)).progress).toBe(null);
});

test("an update names the encoder: from the output, else the latest choice, else the previous update", () => {
  const [light, native] = [
    { encoder: "light", reason: "it is small" },
    { encoder: "native", reason: "it is large" },
  ];
  const first = updateOf(QUEUED, null, light);
  expect(first.choice).toEqual(light);
  expect(updateOf(QUEUED, first).choice).toEqual(light);
  expect(updateOf(QUEUED, first, native).choice).toEqual(native);
  expect(updateOf(QUEUED, first, null).choice).toBe(null);
  const done = history([...EVENTS.slice(0, 7), finish(2, { ...SOURCE, ...native })]).at(-1) ?? QUEUED;
  expect(updateOf(done, first).choice).toEqual(native);
  // The encoder of a step's input is not the encoder of its output.
  const input = { ...SOURCE, ...light };
  const step = createStep({ kind: "upload", input, options: {} }, createIds(Math.random), NOW);
  expect(updateOf({ ...step, output: input }, null).choice).toBe(null);
});
