import type { TaskEnd } from "../../src/runs/job.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { patiently } from "../network/retry-object-call.ts";
import { logFault, nameRun } from "../observability/log.ts";

/** Reports the end of a task to its job, if it has one. A job that misses the report asks the task itself. */
export async function reportEnd(
  env: Bindings,
  record: Task | Step,
  ended = record.status as TaskEnd,
): Promise<void> {
  if (record.object !== "task" || !record.job) return;
  try {
    const { id } = record.job;
    await patiently(() => env.JOB.getByName(id).ended(record.id, ended, record.output));
  } catch (thrown) {
    logFault("end of a task not reported", thrown, nameRun(record.id));
  }
}
