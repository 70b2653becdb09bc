import type { Refusal } from "../../core/refusal.ts";
import type { Step } from "../../core/step.ts";
import type { Task } from "../../core/task.ts";
import { isFinished } from "../../core/transitions.ts";

/**
 * Copies the state of the fallback's task to its own task, which keeps its ids and creation times and adds why the work is
 * not done here. Nothing moves backwards: a task or step that is further along here stays until the other catches up.
 */
export function mirror(task: Task, other: Task, refusals: readonly Refusal[]): Task {
  const steps = task.steps.map((step, index) => follow(step, other.steps[index], refusals));
  const { output, started_at, finished_at } = other;
  const updated_at = Math.max(other.updated_at, task.updated_at + 1);
  const times = { started_at: task.started_at ?? started_at, finished_at, updated_at };
  const status = other.status === "queued" ? task.status : other.status;
  if (!other.error) return { ...task, ...times, status, output, error: null, steps };
  const failed = other.steps.findIndex(({ id }) => id === other.error?.step_id);
  const { step_id: _, ...error } = other.error;
  // A step that succeeded here may fail there; the failure then goes to the step open here.
  const open = task.steps[failed] && !isFinished(task.steps[failed]) ? failed : task.steps.findIndex(isOpen);
  const own = steps[open];
  if (!own) return { ...task, ...times, status, output, error, steps };
  return {
    ...{ ...task, ...times, status, output },
    error: { ...error, step_id: own.id },
    steps: steps.with(open, { ...own, status: "failed", error, finished_at }),
  };
}

function follow(step: Step, there: Step | undefined, refusals: readonly Refusal[]): Step {
  if (!there || isFinished(step) || (step.status === "processing" && there.status === "waiting")) return step;
  const { id, created_at } = step;
  const output = there.output?.encoder
    ? { ...there.output, refusals: [...refusals, ...(there.output.refusals ?? [])] }
    : there.output;
  const progress =
    step.progress === null ? there.progress : Math.max(step.progress, there.progress ?? step.progress);
  return { ...there, id, created_at, output, progress, started_at: step.started_at ?? there.started_at };
}

function isOpen(step: Step): boolean {
  return !isFinished(step);
}
