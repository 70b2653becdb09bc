import { expect, test } from "vitest";
import { createPace } from "../../src/client/progress.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { applyToTask } from "../../src/runs/transitions.ts";
import { finish, history, move, SOURCE, start } from "./records.ts";

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

test("reports the speed and ETA of a steady encode", () => {
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
    // 80 of 100 seconds are encoded at 95 %, after 9.5 s.
    expect(speed).toBeCloseTo(80 / 9.5);
    expect(eta).toBeCloseTo(9.5 - seconds);
  }
});

test("a chunk that finishes at once does not make the ETA jump", () => {
  const pace = createPace();
  let task = encoding();
  const etas = [10, 11, 12, 13, 40, 41].map((percent, index) => {
    task = at(task, index + 10, percent);
    return pace(task).eta ?? 0;
  });
  expect(etas[3]).toBeCloseTo(82, 0);
  // From the chunk alone it would be 2.
  expect(etas[4]).toBeGreaterThan(4);
  expect(etas[5]).toBeGreaterThan(4);
});

test("ignores the time while the page was closed", () => {
  const pace = createPace("sight");
  let task = at(encoding(), 5, 50);
  task = at(task, 1000, 51);
  expect(pace(task)).toEqual({ speed: null, eta: null });
  task = at(task, 1001, 61);
  expect(pace(task).speed).toBeCloseTo(1000 / 95);
  expect(pace(task).eta).toBeCloseTo(3.4);
});

test("a first update late in an encode yields the pace since its start, but not for work that pauses unseen", () => {
  const task = at(encoding(), 500, 50);
  expect(createPace("sight")(task)).toEqual({ speed: null, eta: null });
  expect(createPace()(task)).toEqual({ speed: expect.closeTo(100 / 950), eta: expect.closeTo(450) });
});

test("only encodes have a pace; without a duration there is an ETA but no speed", () => {
  const none = { speed: null, eta: null };
  const paces = history().map((state) => createPace()(state));
  // The states of the encode; those before and after belong to other steps.
  expect([paces[6], paces[7]]).toEqual([
    { speed: expect.closeTo(20 / 9.5), eta: expect.closeTo(8.5) },
    { speed: expect.closeTo(20 / 3.8), eta: expect.closeTo(1.8) },
  ]);
  for (const index of [0, 1, 2, 3, 4, 5, 8, 9, 10]) expect([index, paces[index]]).toEqual([index, none]);
  const { duration: _, ...endless } = SOURCE;
  const task = history([start(0), finish(0), start(1), finish(1), start(2, endless), move(2, 25)]).at(-1);
  expect(task && createPace()(task)).toEqual({ speed: null, eta: expect.closeTo(2.8) });
});
