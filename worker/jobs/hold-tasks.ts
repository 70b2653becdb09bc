import { errorFor } from "../../src/media/reasons.ts";
import { runErrorOf } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { QUEUE_NAME } from "../limits/queue-name.ts";
import { patiently } from "../network/retry-object-call.ts";
import { logFault } from "../observability/log.ts";
import type { NewJob, Release } from "./job-state.ts";

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

/** Lets a task run with its input, or fails it by how the one before it ended. */
export async function releaseTask(env: Bindings, release: Release): Promise<void> {
  const held = () => env.TASK.getByName(release.id).held;
  if ("input" in release) {
    await patiently(() => held().release(release.input));
    return;
  }
  const { after, ended } = release;
  const error = runErrorOf(errorFor("input_not_found", { code: "after", task: after, ended }));
  await patiently(() => held().fail(error));
}
