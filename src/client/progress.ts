import type { EncoderChoice } from "../core/choice.ts";
import { ENCODE_KINDS, type StepKind } from "../core/formats.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";
import type { Update } from "./update.ts";

// What each step takes of the hundred percent of its task: an encode is nearly all, and the others are still seen to move.
const WEIGHTS: Readonly<Record<StepKind, number>> = {
  probe: 2,
  ingest: 8,
  video: 85,
  audio: 85,
  image: 85,
  adaptive_video: 85,
  upload: 5,
};

/** Gives a task or step as one percent, 0 to 100, which never goes down while it runs; a task has 100 only when it succeeded. Null until anything is measured. */
export function progressOf(record: Task | Step): number | null {
  if (record.object === "step") return record.progress;
  if (record.status === "succeeded") return 100;
  if (record.steps.every((step) => step.progress === null)) return null;
  const done = record.steps.reduce((sum, step) => sum + WEIGHTS[step.kind] * (step.progress ?? 0), 0);
  return Math.min(99, Math.floor(done / 100));
}

/** Gives the pace of a running encode, of a task or alone: seconds of media in a second, and seconds until its end. Both are null where none runs or nothing of it is done yet. */
export function paceOf(record: Task | Step): Pick<Update<Task | Step>, "speed" | "eta"> {
  const steps = record.object === "task" ? record.steps : [record];
  const step = steps.find(({ kind, status }) => status === "processing" && isEncode(kind));
  const seconds = step ? (step.updated_at - (step.started_at ?? step.updated_at)) / 1000 : 0;
  if (!step?.progress || seconds <= 0) return { speed: null, eta: null };
  const share = step.progress / 100;
  // A step of a task has its wishes at the task.
  const media = mediaSeconds(step, record.options);
  return { speed: media === null ? null : (media * share) / seconds, eta: (seconds * (1 - share)) / share };
}

/**
 * Builds the update that tells of a record; its progress is no less than that of the update before it. Which encoder its encode was given to
 * is what its output says, else what was `chosen` by now, else what the update before said.
 */
export function updateOf<T extends Task | Step>(
  record: T,
  before: Update<T> | null,
  chosen: EncoderChoice | null = before?.choice ?? null,
): Update<T> {
  const known = [progressOf(record), before?.progress ?? null].filter((each) => each !== null);
  const progress = known.length > 0 ? Math.max(...known) : null;
  return { record, progress, ...paceOf(record), choice: choiceOf(record) ?? chosen };
}

function choiceOf(record: Task | Step): EncoderChoice | null {
  const steps = record.object === "task" ? record.steps : [record];
  const { encoder, reason = "" } = steps.find(({ kind }) => isEncode(kind))?.output ?? {};
  return encoder === undefined ? null : { encoder, reason };
}

function isEncode(kind: StepKind): boolean {
  return (ENCODE_KINDS as readonly StepKind[]).includes(kind);
}

function mediaSeconds({ kind, input }: Step, { start, end }: Record<string, unknown>): number | null {
  const duration = input?.object === "source" ? input.duration : undefined;
  if (kind === "image" || duration === undefined) return null;
  const from = typeof start === "number" ? start : 0;
  const to = typeof end === "number" ? Math.min(end, duration) : duration;
  return to > from ? to - from : null;
}
