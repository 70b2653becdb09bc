import { expect, test } from "vitest";
import { mirror } from "../../src/browser/media-worker/delegate.ts";
import { progressOf } from "../../src/client/progress.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { applyToTask, type RunEvent } from "../../src/runs/transitions.ts";

const newId = createIds(Math.random);
const REFUSALS = [{ encoder: "wasm", code: "output_codec", codec: "h265" }] as const;
const SOURCE = { object: "source", url: "https://example.com/a.mp4", kind: "video", format: "mp4" } as const;
const ENCODED = { ...SOURCE, encoder: "native", reason: "About 9 s of work." };

/** A task and functions that advance it. */
function begin() {
  let task = createTask(
    { input: SOURCE.url, kind: "video", options: { codec: "h265" }, metadata: {} },
    newId,
    1,
  );
  let now = 1;
  const go = (make: (step_id: string) => RunEvent, index: number) => {
    task = applyToTask(task, make(task.steps[index]?.id ?? ""), ++now);
    return task;
  };
  return {
    now: () => task,
    start: (index: number) => go((step_id) => ({ type: "step_started", step_id, input: SOURCE }), index),
    progress: (index: number, progress: number) =>
      go((step_id) => ({ type: "step_progressed", step_id, progress }), index),
    succeed: (index: number, output = SOURCE) =>
      go((step_id) => ({ type: "step_succeeded", step_id, output }), index),
    fail: (index: number) =>
      go((step_id) => {
        const error = { kind: "input_unreachable", message: "It is not reached.", retryable: true } as const;
        return { type: "step_failed", step_id, error };
      }, index),
  };
}

/** A local task that has reached the encode. */
function beginHere(): Task {
  const { start, succeed } = begin();
  for (const index of [0, 1]) {
    start(index);
    succeed(index);
  }
  return start(2);
}

const statuses = ({ status, steps }: Task) => [status, ...steps.map((step) => step.status)];

test("no status or percent goes back while the remote task catches up", () => {
  const there = begin();
  let task = beginHere();
  const seen = [task];
  const follow = (other: Task) => {
    task = mirror(task, other, REFUSALS);
    seen.push(task);
  };
  follow(there.now());
  for (const index of [0, 1, 2, 3]) {
    follow(there.start(index));
    if (index < 3) follow(there.progress(index, 40));
    follow(there.succeed(index, index < 2 ? SOURCE : ENCODED));
  }
  const order = ["waiting", "queued", "processing", "succeeded"];
  for (const [n, after] of seen.entries()) {
    const before = seen[n - 1];
    if (!before) continue;
    const [then, now] = [statuses(before), statuses(after)].map((all) =>
      all.map((each) => order.indexOf(each)),
    );
    expect(now?.every((each, index) => each >= (then?.[index] ?? 0))).toBe(true);
    expect(progressOf(after) ?? 0).toBeGreaterThanOrEqual(progressOf(before) ?? 0);
    expect(after.updated_at).toBeGreaterThan(before.updated_at);
    expect(after.steps.map(({ id }) => id)).toEqual(before.steps.map(({ id }) => id));
  }
  expect(statuses(task)).toEqual(Array(5).fill("succeeded"));
  expect(task.steps[2]?.output).toMatchObject({ reason: "About 9 s of work.", refusals: REFUSALS });
});

test("keeps the local percent until the remote one is greater", () => {
  const here = begin();
  here.start(0);
  const task = here.progress(0, 60);
  const there = begin();
  there.start(0);
  expect(mirror(task, there.progress(0, 20), REFUSALS).steps[0]?.progress).toBe(60);
  expect(mirror(task, there.progress(0, 80), REFUSALS).steps[0]?.progress).toBe(80);
});

test("a remote failure of a step that succeeded locally fails the step that was running locally", () => {
  const there = begin();
  there.start(0);
  const before = beginHere();
  const task = mirror(before, there.fail(0), REFUSALS);
  expect(statuses(task)).toEqual(["failed", "succeeded", "succeeded", "failed", "cancelled"]);
  expect(task.error).toEqual({
    ...{ kind: "input_unreachable", message: "It is not reached.", retryable: true },
    step_id: before.steps[2]?.id,
  });
  const { step_id: _, ...error } = task.error ?? {};
  expect(task.steps[2]?.error).toEqual(error);
});

test("fails the local step that corresponds to the failed remote step", () => {
  const there = begin();
  there.start(0);
  there.succeed(0);
  there.start(1);
  const before = begin().start(0);
  const task = mirror(before, there.fail(1), REFUSALS);
  expect(statuses(task)).toEqual(["failed", "succeeded", "failed", "cancelled", "cancelled"]);
  expect(task.error?.step_id).toBe(before.steps[1]?.id);
});
