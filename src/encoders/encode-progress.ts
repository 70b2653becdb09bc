import type { Chunk, Plan } from "../plan/plan.ts";

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

// Of a second of pictures: to encode sound takes far less.
const SOUND = 0.1;

/** Creates the progress of a plan's chunks; `report` is told at most once a second, one word at a time. */
export function createEncodeProgress(
  plan: Plan,
  report: (percent: number | null) => Promise<void>,
): EncodeProgress {
  const weights = plan.chunks.map((chunk) => weigh(chunk, plan));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = plan.chunks.map(() => 0);
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
      const place = plan.chunks.indexOf(chunk);
      shares[place] = Math.max(shares[place] ?? 0, Math.min(1, share || 0));
      const done = shares.reduce((sum, each, index) => sum + each * (weights[index] ?? 0), 0);
      told = Math.max(told, Math.floor((done / total) * ENCODED_PERCENT));
      tell(told);
    },
    waits: () => tell(null),
    finish: () => report(ENCODED_PERCENT),
  };
}

function weigh({ track, start, end }: Chunk, plan: Plan): number {
  const last = end ?? plan.start + (plan.duration ?? 0);
  const seconds = Math.max(0.001, last - start);
  return track === "audio" ? seconds * SOUND : seconds;
}
