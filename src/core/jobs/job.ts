import { z } from "zod";
import type { CreateId } from "../ids.ts";
import { createTask, TASK_STATUSES, Task, type TaskStatus } from "../task.ts";
import { isFinished } from "../transitions.ts";
import type { JobRequest } from "./job-request.ts";

const milliseconds = z
  .int()
  .meta({ description: "Milliseconds since the Unix epoch.", example: 1795170600000 });

/** Several outputs of one input: a task for each, in the order of the request. */
export const Job = z
  .object({
    id: z.string().meta({ example: "job_01kbb1d3x4e8v0t6m9q2y5z7av" }),
    object: z.literal("job"),
    input: z.string().meta({ example: "https://example.com/clip.mov" }),
    status: z.enum(TASK_STATUSES).meta({
      description:
        "queued until a task starts; at the end, succeeded when every task has, failed when one has, else cancelled.",
    }),
    tasks: z.array(Task).meta({ description: "A task for each output, in their order; less those deleted." }),
    created_at: milliseconds,
    started_at: milliseconds.nullable(),
    finished_at: milliseconds.nullable(),
    updated_at: milliseconds,
  })
  .meta({ id: "Job" });
/** Several outputs of one input: a task for each, in the order of the request. */
export type Job = z.infer<typeof Job>;

/** What is stored of a job: its state is that of its tasks. */
export interface JobHead {
  id: string;
  input: string;
  created_at: number;
}

/** Creates the queued tasks of a job, in the order of its outputs. */
export function createJobTasks({ id, created_at }: JobHead, { outputs }: JobRequest, ids: CreateId): Task[] {
  const made = outputs.map(({ request }) => createTask(request, ids, created_at));
  return made.map((task, index) => {
    const { name, after = null } = outputs[index] ?? {};
    const before = after === null ? undefined : made[after]?.id;
    return { ...task, job: { id, ...(name !== undefined && { name }), ...(before && { after: before }) } };
  });
}

/** Returns a job as its tasks stand. */
export function describeJob({ id, input, created_at }: JobHead, tasks: readonly Task[]): Job {
  const status = statusOf(tasks);
  const started = tasks.flatMap(({ started_at }) => started_at ?? []);
  const finished = tasks.flatMap(({ finished_at }) => finished_at ?? []);
  return {
    ...{ id, object: "job", input, status, tasks: [...tasks], created_at },
    started_at: started.length > 0 ? Math.min(...started) : null,
    finished_at: isFinished({ status }) && finished.length > 0 ? Math.max(...finished) : null,
    updated_at: Math.max(created_at, ...tasks.map(({ updated_at }) => updated_at)),
  };
}

function statusOf(tasks: readonly Task[]): TaskStatus {
  const all = new Set(tasks.map(({ status }) => status));
  if (!tasks.every(isFinished)) return all.size === 1 && all.has("queued") ? "queued" : "processing";
  return all.has("failed") ? "failed" : all.has("cancelled") ? "cancelled" : "succeeded";
}
