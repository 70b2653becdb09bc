import { MediaError } from "../errors.ts";
import type { Task } from "../task.ts";

/** How a task ended that another waits for, or that it is gone. */
export type TaskEnd = "succeeded" | "failed" | "cancelled" | "deleted";

/** The end of a wait: the input that was waited for, or how the task ended that should have made it. */
export type Release = { input: string | null } | { ended: Exclude<TaskEnd, "succeeded"> };

/** Returns what ends the wait for a task; null while it runs. */
export function releaseAfter(
  before: { ended: TaskEnd | null; output: string | null } | null | undefined,
): Release | null {
  if (!before) return { ended: "deleted" };
  if (before.ended === null) return null;
  return before.ended === "succeeded" ? { input: before.output } : { ended: before.ended };
}

/** Returns the id of the task whose output a task that did not start may still wait for; null when it waits for none. */
export function awaitedBy({ job, started_at }: Task): string | null {
  return started_at === null ? (job?.after ?? null) : null;
}

/** Creates the error of a retry whose input would have been the output of another task. */
export function neverMade(after: string): MediaError {
  const message = `The input is the output of ${after}, which was never made; create the task again with an input of its own.`;
  return new MediaError("invalid_input", message, { param: "input" });
}
