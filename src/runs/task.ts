import { z } from "zod";
import { withoutKey } from "../media/features/encryption.ts";
import { ENCODE_KINDS, type StepKind } from "../media/formats.ts";
import type { EncodeRequest } from "../media/options.ts";
import type { CreateId } from "./ids.ts";
import type { TaskRequest } from "./requests.ts";
import { createStep, RunError, Step } from "./step.ts";

/** The states of a task; the last three are terminal. */
export const TASK_STATUSES = ["queued", "processing", "succeeded", "failed", "cancelled"] as const;
/** The state of a task. */
export type TaskStatus = (typeof TASK_STATUSES)[number];

const record = z
  .object({
    id: z.string().meta({ example: "task_01kbb1d3x4e8v0t6m9q2y5z7av" }),
    object: z.literal("task"),
    kind: z.enum(ENCODE_KINDS),
    input: z.string().meta({ example: "https://example.com/clip.mov" }),
    output: z.string().nullable().meta({
      description:
        "The destination of the request. If it has none, null until the task succeeds, then the URL in managed storage.",
    }),
    options: z.record(z.string(), z.unknown()),
    metadata: z.record(z.string(), z.unknown()),
    status: z.enum(TASK_STATUSES),
    error: RunError.nullable(),
    steps: z.array(Step),
    job: z
      .object({
        id: z.string(),
        name: z.string().optional(),
        after: z.string().optional().meta({
          description:
            "The task whose output is the input: until it has succeeded, `input` is the job's, then the output.",
        }),
      })
      .optional()
      .meta({ description: "The job that the task belongs to; absent if it belongs to none." }),
    created_at: z.int(),
    started_at: z.int().nullable(),
    finished_at: z.int().nullable(),
    updated_at: z.int(),
  })
  .meta({ id: "Task" });
type AnyTask = z.infer<typeof record>;

/** A pipeline of steps over one media file. The options are validated on creation, not when a record is read back. */
export const Task = record as unknown as z.ZodType<Task>;
/** A pipeline of steps over one media file: probe, ingest, encode, upload. The kind determines the options. */
export type Task = Omit<AnyTask, "steps" | keyof EncodeRequest> & { steps: Step[] } & EncodeRequest;

/** Creates a queued task with its four waiting steps; its record omits any encryption key in the options. */
export function createTask(request: TaskRequest, id: CreateId, now: number): Task {
  const { webhook_url: _, output, ...stored } = withoutKey(request);
  const kinds: StepKind[] = ["probe", "ingest", stored.kind, "upload"];
  return {
    id: id("task", now),
    object: "task",
    ...stored,
    output: output ?? null,
    status: "queued",
    error: null,
    steps: kinds.map((kind) => createStep({ kind, input: null, options: {} }, id, now)),
    created_at: now,
    started_at: null,
    finished_at: null,
    updated_at: now,
  };
}

/** Returns the request from which a task was created, to create it again. */
export function requestOf(task: Task): TaskRequest {
  const { id, object, status, error, steps, job, output, ...rest } = task;
  const { created_at, started_at, finished_at, updated_at, ...request } = rest;
  return output?.startsWith("s3://") ? { ...request, output } : request;
}
