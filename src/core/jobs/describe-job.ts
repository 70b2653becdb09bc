import type { Task, TaskStatus } from "../task.ts";
import { isFinished } from "../transitions.ts";
import type { Job, JobHead } from "./job.ts";

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
