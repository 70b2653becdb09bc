import type { Source } from "../../core/source.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import { secondsOf, X264_AMPLE } from "../light/light-cost.ts";

/** Turns how far the chunks are into one percent that never goes down. */
export interface EncodeProgress {
  /** Takes the share of a chunk that is done, 0 to 1. */
  share(chunk: Chunk, share: number): void;
  /** Takes that a chunk waits for a free encoder. */
  waits(): void;
  /** Ends when the chunks' part is told in full; rejects when the run is over. */
  finish(): Promise<void>;
}

/** Percent of the work that are done when all chunks are encoded; to put them together copies, and takes the rest. */
export const ENCODED_PERCENT = 95;

const EVERY_MS = 1000;

/**
 * Creates the progress of a plan's chunks, in percent of the time that they take together: a last chunk that is encoded alone takes as long
 * as several that are encoded at once. `report` is called at most once a second, and not before the last call has ended.
 */
export function createEncodeProgress(
  plan: Plan,
  source: Source,
  report: (percent: number | null) => Promise<void>,
): EncodeProgress {
  const works = weigh(plan, source).map((weight) => ({ weight, share: 0 }));
  let lanes = 1;
  let told = 0;
  let last = Number.NEGATIVE_INFINITY;
  let telling = false;

  function tell(percent: number | null): void {
    const now = Date.now();
    if (telling || now - last < EVERY_MS) return;
    last = now;
    telling = true;
    const done = () => {
      telling = false;
    };
    // A run that is over hears so by its signal.
    report(percent).then(done, done);
  }

  return {
    share(chunk, share) {
      const work = works[plan.chunks.findIndex(({ index }) => index === chunk.index)];
      if (work) work.share = Math.max(work.share, Math.min(1, share || 0));
      const begun = works.filter((each) => each.share > 0 && each.share < 1);
      // Other jobs may hold encoders that this one was promised, so what counts is how many chunks have been seen at work at once.
      lanes = Math.max(lanes, begun.length);
      const waiting = works.filter((each) => each.share === 0);
      const left = timeOf(
        [...begun, ...waiting].map((each) => each.weight * (1 - each.share)),
        lanes,
      );
      const whole = timeOf(
        works.map(({ weight }) => weight),
        lanes,
      );
      told = Math.max(told, Math.floor((1 - left / whole) * ENCODED_PERCENT));
      tell(told);
    },
    waits: () => tell(null),
    finish: () => report(ENCODED_PERCENT),
  };
}

// When the last of the lanes is done, each of which takes up the next piece as soon as it is free.
function timeOf(pieces: readonly number[], lanes: number): number {
  const ends = Array.from({ length: lanes }, () => 0);
  for (const piece of pieces) {
    const next = ends.indexOf(Math.min(...ends));
    ends[next] = (ends[next] ?? 0) + piece;
  }
  return Math.max(...ends);
}

// Sound takes far less than pictures, but not less than very small ones.
function weigh(plan: Plan, source: Source): number[] {
  const time = secondsOf(plan, source, X264_AMPLE);
  return plan.chunks.map(({ track, start, end }) => {
    if (!time || !plan.duration) return 1;
    if (track === "audio") return time.sound + 0.001;
    return (time.pictures * ((end ?? plan.start + plan.duration) - start)) / plan.duration + 0.001;
  });
}
