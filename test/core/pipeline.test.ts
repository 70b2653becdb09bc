import { expect, test } from "vitest";
import { MediaError } from "../../src/media/errors.ts";
import type { Source } from "../../src/media/source.ts";
import { createIds } from "../../src/runs/ids.ts";
import { RunOver, runTask } from "../../src/runs/pipeline.ts";
import type { Durably, StepWork } from "../../src/runs/ports.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { applyToTask, type RunEvent } from "../../src/runs/transitions.ts";

const request = {
  input: "https://example.com/a.mp4",
  kind: "audio" as const,
  options: { format: "mp3" as const },
  metadata: {},
};
const source = (url: string): Source => ({ object: "source", url, kind: "video", format: "mp4" });
const durably: Durably = (_, work) => work(new AbortController().signal);

const work: StepWork = {
  probe: async (input) => source(input),
  ingest: async () => source("work"),
  encode: async (_, __, { reportChoice, progress }) => {
    await reportChoice({ encoder: "light", reason: "it is small" });
    await progress(40);
    return source("encoded");
  },
  upload: async () => source("https://media/out"),
};

async function run(overrides: Partial<StepWork>, accepts: (event: RunEvent) => boolean = () => true) {
  let task: Task = createTask(
    request,
    createIds(() => 0.5),
    1000,
  );
  const events: string[] = [];
  let now = 1000;
  await runTask(
    task,
    { ...work, ...overrides },
    async (event) => {
      events.push(event.type);
      if (!accepts(event)) return false;
      now += 1;
      task = applyToTask(task, event, now);
      return true;
    },
    durably,
  );
  return { task, events };
}

test("a stored Source with `mirrored`, the former name of `flipped`, is encoded as flipped", async () => {
  const encoded: Source[] = [];
  const stored = { ...source("work"), mirrored: true };
  await run({
    ingest: async () => stored,
    encode: async (input) => {
      encoded.push(input);
      return source("encoded");
    },
  });
  expect(encoded).toEqual([{ ...source("work"), flipped: true }]);
});

test("steps run in order, each on the output of the one before; the last sets the task's output", async () => {
  const options: Record<string, unknown>[] = [];
  const { task, events } = await run({
    encode: async (_, request) => {
      options.push(request.options);
      return source("encoded");
    },
  });
  const step = ["step_started", "step_succeeded"];
  expect(events).toEqual([...step, ...step, ...step, ...step]);
  expect(task.steps.map(({ kind, status, progress, input }) => [kind, status, progress, input?.url])).toEqual(
    [
      ["probe", "succeeded", 100, "https://example.com/a.mp4"],
      ["ingest", "succeeded", 100, "https://example.com/a.mp4"],
      ["audio", "succeeded", 100, "work"],
      ["upload", "succeeded", 100, "encoded"],
    ],
  );
  expect(options).toEqual([{ format: "mp3" }]);
  expect([task.status, task.output, task.started_at, task.finished_at]).toEqual([
    "succeeded",
    "https://media/out",
    1001,
    1008,
  ]);
});

test("a failed step fails the task with its error and cancels the later steps", async () => {
  const { task, events } = await run({
    encode: async () => {
      throw new MediaError("input_no_audio", "There is no sound.");
    },
  });
  expect(events.at(-1)).toBe("step_failed");
  expect(task.status).toBe("failed");
  expect(task.error).toEqual({
    kind: "input_no_audio",
    message: "There is no sound.",
    retryable: false,
    step_id: task.steps[2]?.id,
  });
  expect(task.steps.map((step) => step.status)).toEqual(["succeeded", "succeeded", "failed", "cancelled"]);
});

test("a thrown value other than a MediaError becomes internal_error and leaks no text", async () => {
  const { task } = await run({
    probe: async () => {
      throw new Error("secret detail");
    },
  });
  expect(task.error?.kind).toBe("internal_error");
  expect(JSON.stringify(task)).not.toContain("secret detail");
});

test("a run stops at the first report that is declined", async () => {
  const before = ["step_started", "step_succeeded", "step_started", "step_succeeded", "step_started"];
  for (const [last, reported] of [
    ["encoder_chosen", []],
    ["step_progressed", ["encoder_chosen"]],
  ] as const) {
    const { events } = await run({}, (event) => event.type !== last);
    expect(events).toEqual([...before, ...reported, last]);
  }
});

test("a lost report of finished work does not fail the run", async () => {
  const reported: string[] = [];
  const lost = run({}, (event) => {
    reported.push(event.type);
    if (event.type === "step_succeeded") throw new Error("The object is away.");
    return true;
  });
  await expect(lost).rejects.toThrow("The object is away.");
  expect(reported).toEqual(["step_started", "step_succeeded"]);
});

test("work that throws RunOver ends without an error", async () => {
  const { events } = await run({
    probe: async () => {
      throw new RunOver();
    },
  });
  expect(events).toEqual(["step_started"]);
});
