import { z } from "zod";
import { ENCODE_KINDS, type StepKind } from "./formats.ts";
import type { CreateId } from "./ids.ts";
import type { TaskRequest } from "./requests.ts";
import { createStep, RunError, Step } from "./step.ts";

/** The states of a task; the last three are terminal. */
export const TASK_STATUSES = ["queued", "processing", "succeeded", "failed", "cancelled"] as const;
/** The state of a task. */
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** A pipeline of steps over one media file: probe, ingest, encode, upload. */
export const Task = z
  .object({
    id: z.string().meta({ example: "task_01kbb1d3x4e8v0t6m9q2y5z7av" }),
    object: z.literal("task"),
    kind: z.enum(ENCODE_KINDS),
    input: z.string().meta({ example: "https://example.com/clip.mov" }),
    output: z
      .string()
      .nullable()
      .meta({ description: "The destination given; without one null, then the managed URL on success." }),
    options: z.record(z.string(), z.unknown()),
    metadata: z.record(z.string(), z.unknown()),
    status: z.enum(TASK_STATUSES),
    error: RunError.nullable(),
    steps: z.array(Step),
    created_at: z.int(),
    started_at: z.int().nullable(),
    finished_at: z.int().nullable(),
    updated_at: z.int(),
  })
  .meta({ id: "Task" });
/** A pipeline of steps over one media file: probe, ingest, encode, upload. */
export type Task = z.infer<typeof Task>;

/** Creates a queued task with its four waiting steps. */
export function createTask(request: TaskRequest, id: CreateId, now: number): Task {
  const kinds: StepKind[] = ["probe", "ingest", request.kind, "upload"];
  return {
    id: id("task", now),
    object: "task",
    kind: request.kind,
    input: request.input,
    output: request.output ?? null,
    options: request.options,
    metadata: request.metadata,
    status: "queued",
    error: null,
    steps: kinds.map((kind) => createStep(kind, id, now)),
    created_at: now,
    started_at: null,
    finished_at: null,
    updated_at: now,
  };
}

/** Returns the request that a task was created from, for another like it. */
export function requestOf({ input, kind, options, output, metadata }: Task): TaskRequest {
  // A managed URL is a result, not part of the request.
  const destination = output?.startsWith("s3://") ? { output } : {};
  return { input, kind, options, metadata, ...destination };
}
