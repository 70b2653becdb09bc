import { z } from "zod";
import { timestamp } from "../media/fields.ts";
import type { CreateId } from "./ids.ts";
import type { JobRequest } from "./job-request.ts";
import { createTask, TASK_STATUSES, Task } from "./task.ts";

/** Several outputs of one input: a task for each, in the order of the request. */
export const Job = z
  .object({
    id: z.string().meta({ example: "job_01kbb1d3x4e8v0t6m9q2y5z7av" }),
    object: z.literal("job"),
    input: z.string().meta({ example: "https://example.com/clip.mov" }),
    status: z.enum(TASK_STATUSES).meta({
      description:
        "`queued` until a task starts; at the end `succeeded` if every task has, `failed` if one has, otherwise `cancelled`.",
    }),
    tasks: z.array(Task).meta({
      description: "A task for each output, in the order of the request, without those that were deleted.",
    }),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    updated_at: timestamp,
  })
  .meta({ id: "Job" });
/** Several outputs of one input: a task for each, in the order of the request. */
export type Job = z.infer<typeof Job>;

/** The data of an event of `GET /jobs/{id}/events`. */
export const JobUpdate = z
  .object({
    record: Job,
    progress: z.int().min(0).max(100).nullable().meta({
      description: "Percentage of all tasks together, 0 to 100; null until it can be measured.",
    }),
    eta: z.number().nullable().meta({
      description:
        "Seconds until the last task ends; null until the estimate of every unfinished task is known.",
    }),
  })
  .meta({ id: "JobUpdate" });
/** A change of a job. */
export type JobUpdate = z.infer<typeof JobUpdate>;

/** The stored part of a job; its state follows from its tasks. */
export interface JobHead {
  id: string;
  input: string;
  created_at: number;
}

/** Creates the queued tasks of a job, in the order of its outputs. */
export function createJobTasks({ id, created_at }: JobHead, { outputs }: JobRequest, ids: CreateId): Task[] {
  const tasks = outputs.map(({ request }) => createTask(request, ids, created_at));
  return tasks.map((task, index) => {
    const { name, after = null } = outputs[index] ?? {};
    const before = after === null ? undefined : tasks[after]?.id;
    return { ...task, job: { id, ...(name !== undefined && { name }), ...(before && { after: before }) } };
  });
}
