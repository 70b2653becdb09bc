import { ENCODE_KINDS, type StepKind } from "../../core/formats.ts";
import type { Step } from "../../core/step.ts";
import type { Task } from "../../core/task.ts";
import { isFinished } from "../../core/transitions.ts";
import type { Update } from "../update.ts";
import { type Sample, timeLeft } from "./time-left.ts";

/** Measures the pace of a run from its records, passed one after the other. */
export type Pace = (record: Task | Step) => Pick<Update<Task | Step>, "speed" | "eta">;

const NONE = { speed: null, eta: null };
// A step seen within this many seconds of its start counts as watched from the start.
const FRESH = 30;

/**
 * Creates a {@link Pace} for the encode of a run. `since` says where it measures from: the start of the encode, or, when the
 * work may have been interrupted, the moment it is first seen.
 */
export function createPace(since: "start" | "sight" = "start"): Pace {
  let seen: { id: string; samples: Sample[] } | null = null;
  return (record) => {
    const step = isFinished(record) ? undefined : encodeOf(record);
    if (!step?.progress) return NONE;
    const sample = { at: step.updated_at / 1000, percent: step.progress };
    if (seen?.id !== step.id) {
      const began = (step.started_at ?? step.updated_at) / 1000;
      const watched = since === "start" || sample.at - began < FRESH;
      seen = { id: step.id, samples: watched ? [{ at: began, percent: 0 }] : [] };
    }
    const { samples } = seen;
    if (samples.at(-1)?.percent !== sample.percent) samples.push(sample);
    const measured = timeLeft(samples);
    if (measured === null) return NONE;
    // A task's step has its options at the task.
    const media = mediaSeconds(step, record.options);
    return { speed: media === null ? null : media * measured.rate, eta: measured.eta };
  };
}

export function isEncode(kind: StepKind): boolean {
  return (ENCODE_KINDS as readonly StepKind[]).includes(kind);
}

function encodeOf(record: Task | Step): Step | undefined {
  const steps = record.object === "task" ? record.steps : [record];
  return steps.find(({ kind, status }) => status === "processing" && isEncode(kind));
}

function mediaSeconds({ kind, input }: Step, { start, end }: Record<string, unknown>): number | null {
  const duration = input?.object === "source" ? input.duration : undefined;
  if (kind === "image" || duration === undefined) return null;
  const from = typeof start === "number" ? start : 0;
  const to = typeof end === "number" ? Math.min(end, duration) : duration;
  return to > from ? to - from : null;
}
