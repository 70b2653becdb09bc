import type { EncoderChoice } from "../media/refusal.ts";
import type { Source } from "../media/source.ts";
import * as errors from "./errors.ts";
import type { Job, JobHead } from "./job.ts";
import type { RunError, Step } from "./step.ts";
import type { Task, TaskStatus } from "./task.ts";

/** The events of a running task or standalone step; the record does not contain the chosen encoder. */
export type RunEvent =
  | { type: "step_started"; step_id: string; input: Step["input"] }
  | { type: "step_progressed"; step_id: string; progress: number | null }
  | { type: "encoder_chosen"; step_id: string; choice: EncoderChoice }
  | { type: "step_succeeded"; step_id: string; output: Source }
  | { type: "step_failed"; step_id: string; error: Omit<RunError, "step_id"> }
  | { type: "cancelled" };

const TERMINAL: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** Whether the state is terminal. */
export function isFinished(record: Pick<Task | Step, "status">): boolean {
  return TERMINAL.has(record.status);
}

/** Returns the event that fails a run at its current step. */
export function failOpenStep(record: Task | Step, error: Omit<RunError, "step_id">): RunEvent {
  const open = record.object === "step" ? record : record.steps.find((step) => !isFinished(step));
  return { type: "step_failed", step_id: open?.id ?? record.id, error };
}

/** Returns the step after one of its events; unchanged (the same object) when the event no longer applies. */
export function applyToStep(step: Step, event: RunEvent, now: number): Step {
  if (isFinished(step)) return step;
  switch (event.type) {
    case "step_started":
      if (step.status === "processing") return step;
      return {
        ...step,
        status: "processing",
        input: event.input ?? step.input,
        started_at: now,
        updated_at: now,
      };
    case "step_progressed": {
      if (event.progress === null) return step;
      if (step.status !== "processing" || Number.isNaN(event.progress)) return step;
      const progress = Math.min(100, Math.max(step.progress ?? 0, Math.floor(event.progress)));
      if (progress === step.progress) return step;
      return { ...step, progress, updated_at: now };
    }
    case "encoder_chosen":
      return step;
    case "step_succeeded":
      if (step.status !== "processing") return step;
      return {
        ...step,
        status: "succeeded",
        progress: 100,
        output: event.output,
        finished_at: now,
        updated_at: now,
      };
    case "step_failed":
      return { ...step, status: "failed", error: event.error, finished_at: now, updated_at: now };
    case "cancelled":
      return { ...step, status: "cancelled", finished_at: now, updated_at: now };
    default:
      return event satisfies never;
  }
}

/** Returns the task after an event; unchanged (the same object) when the event no longer applies. */
export function applyToTask(task: Task, event: RunEvent, now: number): Task {
  if (isFinished(task)) return task;
  if (event.type === "cancelled") {
    const steps = task.steps.map((step) => applyToStep(step, event, now));
    return { ...task, status: "cancelled", steps, finished_at: now, updated_at: now };
  }
  const index = task.steps.findIndex((step) => step.id === event.step_id);
  const before = task.steps[index];
  if (!before) throw errors.stepNotFound({ task: task.id, step: event.step_id });
  const after = applyToStep(before, event, now);
  if (after === before) return task;
  const steps = task.steps.with(index, after);
  const changed: Task = { ...task, steps, updated_at: now };
  switch (event.type) {
    case "step_started":
      return { ...changed, status: "processing", started_at: task.started_at ?? now };
    case "step_failed":
      return {
        ...changed,
        status: "failed",
        error: { ...event.error, step_id: event.step_id },
        steps: steps.map((step) => applyToStep(step, { type: "cancelled" }, now)),
        finished_at: now,
      };
    case "step_succeeded":
      if (index < steps.length - 1) return changed;
      return { ...changed, status: "succeeded", output: task.output ?? event.output.url, finished_at: now };
    case "step_progressed":
    case "encoder_chosen":
      return changed;
    default:
      return event satisfies never;
  }
}

/** The way in which an awaited task ended. */
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
