import { expect, test } from "vitest";
import { createPace } from "../../src/browser/pace.ts";
import { createIds } from "../../src/core/ids.ts";
import { createTask, type Task } from "../../src/core/task.ts";
import { applyToTask } from "../../src/core/transitions.ts";

const START = 1_000_000;
const source = { object: "source", url: "file:a", kind: "video", format: "mp4", duration: 100 } as const;

function encoding(options: Record<string, unknown> = {}): Task {
  const request = { input: "file:a", kind: "video", options, metadata: {} } as const;
  let task = createTask(
    request,
    createIds(() => 0.5),
    START,
  );
  for (const { id } of task.steps.slice(0, 2)) {
    task = applyToTask(task, { type: "step_started", step_id: id, input: source }, START);
    task = applyToTask(task, { type: "step_succeeded", step_id: id, output: source }, START);
  }
  return applyToTask(task, { type: "step_started", step_id: encodeOf(task), input: source }, START);
}

const encodeOf = (task: Task) => task.steps[2]?.id ?? "";
const at = (task: Task, seconds: number, progress: number) =>
  applyToTask(task, { type: "step_progressed", step_id: encodeOf(task), progress }, START + seconds * 1000);

test("a steady encode is told its speed and its end", () => {
  const pace = createPace();
  let task = encoding({ start: 20 });
  expect(pace(task)).toEqual({ speed: null, eta: null });
  for (const [seconds, percent] of [
    [1, 10],
    [2, 20],
    [5, 50],
  ] as const) {
    task = at(task, seconds, percent);
    const { speed, eta } = pace(task);
    // 80 of 100 seconds are encoded, in 10 s.
    expect(speed).toBeCloseTo(8);
    expect(eta).toBeCloseTo(10 - seconds);
  }
});

test("a chunk that ends in one go does not make the figures jump", () => {
  const pace = createPace();
  let task = encoding();
  const etas = [10, 11, 12, 13, 40, 41].map((percent, index) => {
    task = at(task, index + 10, percent);
    return pace(task).eta ?? 0;
  });
  expect(etas[3]).toBeCloseTo(87, 0);
  // By the chunk alone it would be 21.
  expect(etas[4]).toBeGreaterThan(30);
  expect(etas[4]).toBeLessThan(45);
});

test("the time that a page was closed counts for nothing", () => {
  const pace = createPace();
  let task = at(encoding(), 5, 50);
  task = at(task, 1000, 51);
  expect(pace(task)).toEqual({ speed: null, eta: null });
  task = at(task, 1001, 61);
  expect(pace(task).speed).toBeCloseTo(10);
  expect(pace(task).eta).toBeCloseTo(3.9);
});
