import { expect, test } from "vitest";
import type { Source } from "../../src/media/source.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createStep, type Step, type StepStatus } from "../../src/runs/step.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import {
  applyToStep,
  applyToTask,
  failOpenStep,
  isFinished,
  type RunEvent,
} from "../../src/runs/transitions.ts";
import { faultOf } from "./fault.ts";

const id = createIds(() => 0.5);
const input = { object: "external_file" as const, url: "https://example.com/a" };
const output: Source = { object: "source", url: "https://media/out.mp4", kind: "video", format: "mp4" };
const error = { kind: "encode_failed" as const, message: "no", retryable: false };

const fresh = createStep({ kind: "probe", input, options: {} }, id, 100);
const STEPS: Record<StepStatus, Step> = {
  waiting: fresh,
  processing: { ...fresh, status: "processing", progress: 40, started_at: 150, updated_at: 160 },
  succeeded: { ...fresh, status: "succeeded", progress: 100, output, finished_at: 170, updated_at: 170 },
  failed: { ...fresh, status: "failed", error, finished_at: 170, updated_at: 170 },
  cancelled: { ...fresh, status: "cancelled", finished_at: 170, updated_at: 170 },
};
const EVENTS: Record<string, RunEvent> = {
  started: { type: "step_started", step_id: fresh.id, input },
  progressed: { type: "step_progressed", step_id: fresh.id, progress: 50.9 },
  chosen: { type: "encoder_chosen", step_id: fresh.id, choice: { encoder: "light", reason: "it is small" } },
  succeeded: { type: "step_succeeded", step_id: fresh.id, output },
  failed: { type: "step_failed", step_id: fresh.id, error },
  cancelled: { type: "cancelled" },
};

test.each([
  { status: "waiting", event: "started", change: { status: "processing", input, started_at: 200 } },
  { status: "waiting", event: "progressed", change: null },
  { status: "waiting", event: "chosen", change: null },
  { status: "waiting", event: "succeeded", change: null },
  { status: "waiting", event: "failed", change: { status: "failed", error, finished_at: 200 } },
  { status: "waiting", event: "cancelled", change: { status: "cancelled", finished_at: 200 } },
  { status: "processing", event: "started", change: null },
  { status: "processing", event: "progressed", change: { progress: 50 } },
  { status: "processing", event: "chosen", change: null },
  {
    status: "processing",
    event: "succeeded",
    change: { status: "succeeded", progress: 100, output, finished_at: 200 },
  },
  { status: "processing", event: "failed", change: { status: "failed", error, finished_at: 200 } },
  { status: "processing", event: "cancelled", change: { status: "cancelled", finished_at: 200 } },
] as const)("a $status step, event: $event", ({ status, event, change }) => {
  const before = STEPS[status];
  const after = applyToStep(before, EVENTS[event] as RunEvent, 200);
  if (change === null) expect(after).toBe(before);
  else expect(after).toEqual({ ...before, ...change, updated_at: 200 });
});

test("a finished step never changes", () => {
  for (const status of ["succeeded", "failed", "cancelled"] as const) {
    for (const event of Object.values(EVENTS)) {
      expect(applyToStep(STEPS[status], event, 200)).toBe(STEPS[status]);
    }
  }
});

test("progress is a whole number from 0 to 100 that never decreases", () => {
  let step = { ...STEPS.processing, progress: null as number | null };
  const states = [0.4, -5, 10.9, 3, Number.NaN, 10.99, 99.999, 250, Number.POSITIVE_INFINITY, 50].map(
    (progress) => {
      step = applyToStep(step, { type: "step_progressed", step_id: step.id, progress }, 200);
      return step.progress;
    },
  );
  expect(states).toEqual([0, 0, 10, 10, 10, 10, 99, 100, 100, 100]);
});

test("a progress of NaN leaves an unmeasured progress null", () => {
  const unmeasured = { ...STEPS.processing, progress: null };
  const event = { type: "step_progressed", step_id: fresh.id, progress: Number.NaN } as const;
  expect(applyToStep(unmeasured, event, 200)).toBe(unmeasured);
});

const request = { input: input.url, kind: "video" as const, options: {}, metadata: {} };
const queued = createTask(request, id, 100);
const [probe, ingest, encode, upload] = queued.steps.map((step) => step.id) as [
  string,
  string,
  string,
  string,
];
const start = (step_id: string): RunEvent => ({ type: "step_started", step_id, input });
const succeed = (step_id: string): RunEvent => ({ type: "step_succeeded", step_id, output });
const statuses = (task: Task) => [task.status, ...task.steps.map((step) => step.status)];
function play(task: Task, ...events: RunEvent[]): Task {
  return events.reduce((before, event, index) => applyToTask(before, event, 200 + index), task);
}

test("a task runs from queued to succeeded", () => {
  const states = [queued];
  for (const event of [probe, ingest, encode, upload].flatMap((step) => [start(step), succeed(step)])) {
    states.push(applyToTask(states.at(-1) ?? queued, event, 200 + states.length));
  }
  expect(states.map(statuses)).toEqual([
    ["queued", "waiting", "waiting", "waiting", "waiting"],
    ["processing", "processing", "waiting", "waiting", "waiting"],
    ["processing", "succeeded", "waiting", "waiting", "waiting"],
    ["processing", "succeeded", "processing", "waiting", "waiting"],
    ["processing", "succeeded", "succeeded", "waiting", "waiting"],
    ["processing", "succeeded", "succeeded", "processing", "waiting"],
    ["processing", "succeeded", "succeeded", "succeeded", "waiting"],
    ["processing", "succeeded", "succeeded", "succeeded", "processing"],
    ["succeeded", "succeeded", "succeeded", "succeeded", "succeeded"],
  ]);
  expect(states.map((task) => task.started_at)).toEqual([null, ...Array(8).fill(201)]);
  expect(states.map((task) => task.finished_at)).toEqual([...Array(8).fill(null), 208]);
  expect(states.map((task) => task.updated_at)).toEqual([100, 201, 202, 203, 204, 205, 206, 207, 208]);
  expect(states.at(-1)).toMatchObject({ output: output.url, error: null });
});

test("a requested destination stays the output", () => {
  const all = [probe, ingest, encode, upload].flatMap((step) => [start(step), succeed(step)]);
  expect(play({ ...queued, output: "s3://bucket/key" }, ...all).output).toBe("s3://bucket/key");
});

test("a failed step cancels the later ones and fails the task with its error", () => {
  const task = play(queued, start(probe), succeed(probe), start(ingest), {
    type: "step_failed",
    step_id: ingest,
    error,
  });
  expect(statuses(task)).toEqual(["failed", "succeeded", "failed", "cancelled", "cancelled"]);
  expect(task.error).toEqual({ ...error, step_id: ingest });
  expect(task.steps.map((step) => step.error)).toEqual([null, error, null, null]);
  expect(task).toMatchObject({ output: null, finished_at: 203, updated_at: 203 });
});

test.each([
  { name: "queued", events: [], after: ["cancelled", "cancelled", "cancelled", "cancelled", "cancelled"] },
  {
    name: "running",
    events: [start(probe), succeed(probe), start(ingest)],
    after: ["cancelled", "succeeded", "cancelled", "cancelled", "cancelled"],
  },
])("a $name task can be cancelled", ({ events, after }) => {
  const task = applyToTask(play(queued, ...events), { type: "cancelled" }, 300);
  expect(statuses(task)).toEqual(after);
  expect(task).toMatchObject({ finished_at: 300, updated_at: 300, error: null, output: null });
});

test("a finished task never changes", () => {
  const all = [probe, ingest, encode, upload].flatMap((step) => [start(step), succeed(step)]);
  const ends = [
    play(queued, ...all),
    play(queued, start(probe), { type: "step_failed", step_id: probe, error }),
    play(queued, { type: "cancelled" }),
  ];
  expect(ends.map((task) => task.status)).toEqual(["succeeded", "failed", "cancelled"]);
  for (const task of ends) {
    for (const step_id of [probe, ingest, encode, upload]) {
      for (const event of Object.values(EVENTS)) {
        expect(applyToTask(task, event.type === "cancelled" ? event : { ...event, step_id }, 900)).toBe(task);
      }
    }
  }
});

test("returns the same object for an event that changes nothing", () => {
  const task = play(queued, start(probe));
  expect(applyToTask(task, start(probe), 900)).toBe(task);
  expect(applyToTask(task, { type: "step_progressed", step_id: ingest, progress: 5 }, 900)).toBe(task);
  expect(applyToTask(task, succeed(upload), 900)).toBe(task);
});

test("throws for an event of an unknown step", () => {
  expect(faultOf(() => applyToTask(queued, start("step_unknown"), 200))).toEqual(["step_not_found"]);
});

test("a run fails at its first unfinished step", () => {
  const begun = play(queued, start(probe), succeed(probe), start(ingest));
  expect(failOpenStep(begun, error)).toEqual({ type: "step_failed", step_id: ingest, error });
  expect(failOpenStep(queued, error)).toEqual({ type: "step_failed", step_id: probe, error });
  expect(failOpenStep(fresh, error)).toEqual({ type: "step_failed", step_id: fresh.id, error });
});

test("succeeded, failed and cancelled are the finished states", () => {
  expect(
    ["queued", "waiting", "processing", "succeeded", "failed", "cancelled"].filter((status) =>
      isFinished({ status: status as StepStatus }),
    ),
  ).toEqual(["succeeded", "failed", "cancelled"]);
});
