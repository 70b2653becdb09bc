import type { EncoderChoice } from "../../core/choice.ts";
import type { StepKind } from "../../core/formats.ts";
import type { Step } from "../../core/step.ts";
import type { Task } from "../../core/task.ts";
import type { Update } from "../update.ts";
import { createPace, isEncode, type Pace } from "./pace.ts";

// Each step's share of its task in percent: nearly all for the encode, and enough for the others to be seen moving.
const WEIGHTS: Readonly<Record<StepKind, number>> = {
  probe: 2,
  ingest: 8,
  video: 85,
  audio: 85,
  image: 85,
  animation: 85,
  storyboard: 85,
  waveform: 85,
  adaptive_video: 85,
  upload: 5,
};

/**
 * Returns the progress of a task or step in percent, which never falls while it runs; a task reaches 100 only by succeeding.
 * Null until anything is measured.
 */
export function progressOf(record: Task | Step): number | null {
  if (record.object === "step") return record.progress;
  if (record.status === "succeeded") return 100;
  if (record.steps.every((step) => step.progress === null)) return null;
  const done = record.steps.reduce((sum, step) => sum + WEIGHTS[step.kind] * (step.progress ?? 0), 0);
  return Math.min(99, Math.floor(done / 100));
}

/**
 * Creates the update for a record, with at least the progress of the previous update. The encoder is the one in the encode's
 * output, or else `chosen`, or else that of the previous update.
 */
export function updateOf<T extends Task | Step>(
  record: T,
  before: Update<T> | null,
  chosen: EncoderChoice | null = before?.choice ?? null,
  pace: Pace = createPace(),
): Update<T> {
  const known = [progressOf(record), before?.progress ?? null].filter((each) => each !== null);
  const progress = known.length > 0 ? Math.max(...known) : null;
  return { record, progress, ...pace(record), error: record.error, choice: choiceOf(record) ?? chosen };
}

function choiceOf(record: Task | Step): EncoderChoice | null {
  const steps = record.object === "task" ? record.steps : [record];
  const { encoder, reason = "", refusals } = steps.find(({ kind }) => isEncode(kind))?.output ?? {};
  return encoder === undefined ? null : { encoder, reason, ...(refusals && { refusals }) };
}
