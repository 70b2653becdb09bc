import type { Job, JobHead } from "./job.ts";
import type { Task, TaskStatus } from "./task.ts";
import { isFinished } from "./transitions.ts";

/** How a task ended that another task waits for. */
export type TaskEnd = "succeeded" | "failed" | "cancelled" | "deleted";

/** The end of a wait: the input, or how the task that should have produced it ended. */
export type Release = { input: string | null } | { ended: Exclude<TaskEnd, "succeeded"> };

/** Returns how the wait for a task ends; null while that task runs. */
export function releaseAfter(
  before: { ended: TaskEnd | null; output: string | null } | null | undefined,
): Release | null {
  if (!before) return { ended: "deleted" };
  if (before.ended === null) return null;
  return before.ended === "succeeded" ? { input: before.output } : { ended: before.ended };
}

/** Returns the id of the task whose output an unstarted task waits for; null when it waits for none. */
export function awaitedTask({ job, started_at }: Task): string | null {
  return started_at === null ? (job?.after ?? null) : null;
}

/** Returns a job with the state that follows from its tasks. */
export function describeJob({ id, input, created_at }: JobHead, tasks: readonly Task[]): Job {
  const status = statusOf(tasks);
  const started = tasks.flatMap(({ started_at }) => started_at ?? []);
  const finished = tasks.flatMap(({ finished_at }) => finished_at ?? []);
  return {
    id,
    object: "job",
    input,
    status,
    tasks: [...tasks],
    created_at,
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
