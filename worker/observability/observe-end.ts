import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import type { Observation } from "./metrics.ts";

/** Returns the measurements of a finished task or standalone step, its steps included. */
export function observeEnd(record: Task | Step): Observation[] {
  const { object, error } = record;
  const errors: Observation[] = error
    ? [{ metric: "framewright_errors_total", labels: [object, error.kind], value: 1 }]
    : [];
  if (object === "step") return [...observeStep(record), ...errors];
  const labels = [record.kind, record.status];
  const value = secondsBetween(record.created_at, record.finished_at);
  return [
    { metric: "framewright_task_seconds", labels, value },
    ...record.steps.flatMap(observeStep),
    ...errors,
  ];
}

function observeStep({ kind, status, output, started_at, finished_at }: Step): Observation[] {
  if (started_at === null) return [];
  const encoder = encoderOf({ kind, output });
  const value = secondsBetween(started_at, finished_at);
  const ended: Observation = { metric: "framewright_step_seconds", labels: [kind, status, encoder], value };
  const media = encoder === "" ? 0 : (output?.duration ?? 0);
  if (media === 0) return [ended];
  return [ended, { metric: "framewright_encoded_media_seconds_total", labels: [encoder], value: media }];
}

/** Returns the name of the encoder that made a step's output; empty when none did. */
export function encoderOf({ kind, output }: Pick<Step, "kind" | "output">): string {
  // What a probe finds, and what an upload carries on, is not their own work.
  if (kind === "probe" || kind === "ingest" || kind === "upload") return "";
  const name = (output as { encoder?: unknown } | null)?.encoder;
  return typeof name === "string" ? name : "";
}

function secondsBetween(from: number, to: number | null): number {
  return Math.max(0, ((to ?? from) - from) / 1000);
}
