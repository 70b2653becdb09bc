import type { Task } from "../../src/core/task.ts";
import { QUEUE_NAME } from "../limits/queue-name.ts";
import { patiently } from "../network/retry-object-call.ts";
import { logFault } from "../observability/log.ts";
import type { NewJob } from "./job-state.ts";

/**
 * Publishes the tasks of a job that stands and waits for an output of its own, and counts them as waiting in the queue. Never
 * rejects: an event that fails here goes out when its task is released.
 */
export async function holdTasks(
  env: Bindings,
  project: string,
  tasks: readonly Task[],
  made: NewJob["made"],
): Promise<void> {
  const held = tasks.filter(({ job }) => job?.after !== undefined);
  if (held.length === 0) return;
  const { key_id } = made;
  const outcomes = await Promise.allSettled([
    patiently(() =>
      env.QUEUE.getByName(QUEUE_NAME).hold(held.map(({ id }) => ({ run_id: id, project, key_id }))),
    ),
    ...held.map(({ id }) => patiently(() => env.TASK.getByName(id).held.announce())),
  ]);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") logFault("task not held", outcome.reason, { project });
}
