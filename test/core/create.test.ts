import { expect, test } from "vitest";
import { createStep } from "../../src/runs/step.ts";
import { createTask } from "../../src/runs/task.ts";

const ids = () => {
  let count = 0;
  return (prefix: string, now: number) => `${prefix}_${now}_${++count}`;
};
const step = (id: string, kind: string) => ({
  id,
  object: "step",
  kind,
  input: null,
  output: null,
  options: {},
  status: "waiting",
  progress: null,
  error: null,
  created_at: 1000,
  started_at: null,
  finished_at: null,
  updated_at: 1000,
});

test.each(["video", "audio", "image", "adaptive_video"] as const)(
  "creates a queued task of kind %s with four waiting steps",
  (kind) => {
    const request = {
      input: "https://example.com/a",
      kind,
      options: { quality: "low" as const },
      metadata: { a: 1 },
    };
    expect(createTask(request, ids(), 1000)).toEqual({
      id: "task_1000_1",
      object: "task",
      kind,
      input: "https://example.com/a",
      output: null,
      options: { quality: "low" },
      metadata: { a: 1 },
      status: "queued",
      error: null,
      steps: [
        step("step_1000_2", "probe"),
        step("step_1000_3", "ingest"),
        step("step_1000_4", kind),
        step("step_1000_5", "upload"),
      ],
      created_at: 1000,
      started_at: null,
      finished_at: null,
      updated_at: 1000,
    });
  },
);

test("a task keeps the requested destination", () => {
  const request = {
    input: "https://e.org/a",
    kind: "audio" as const,
    options: {},
    metadata: {},
    output: "s3://b/k",
  };
  expect(createTask(request, ids(), 1).output).toBe("s3://b/k");
});

test("creates a waiting standalone step with its input and options", () => {
  const input = { object: "external_file" as const, url: "https://example.com/a" };
  expect(createStep({ kind: "probe", input, options: {} }, ids(), 1000)).toEqual({
    ...step("step_1000_1", "probe"),
    input,
  });
});
