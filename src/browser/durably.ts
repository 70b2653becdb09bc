import { MediaError, toMediaError } from "../core/errors.ts";
import { RunOver } from "../core/pipeline.ts";
import type { Durably } from "../core/ports.ts";
import { sleep } from "../storage/sleep.ts";
import type { PieceStore } from "../stores/indexeddb.ts";

// First try and two more, for faults of the network and of encoders; between them one and two seconds.
const ATTEMPTS = 3;
const PAUSE_MS = 1000;

/**
 * Builds the {@link Durably} of a run: what a piece of work gave is stored, and given again after a reload. An error that may pass is tried
 * again; when the signal aborts the run is over.
 */
export function createDurably(pieces: PieceStore, run_id: string, signal: AbortSignal): Durably {
  return async <T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const known = await pieces.get(run_id, name);
    if (known) return known.value as T;
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) throw new RunOver();
      try {
        const value = await work(signal);
        // What ended after the run was over is not remembered: its files are being cleared.
        if (signal.aborted) throw new RunOver();
        await pieces.put(run_id, name, value);
        return value;
      } catch (thrown) {
        if (signal.aborted || thrown instanceof RunOver) throw new RunOver();
        const error = named(thrown);
        if (!error.retryable || attempt === ATTEMPTS) throw error;
        // Of a run that is over, the next round tells.
        await sleep(PAUSE_MS * attempt, signal).catch(() => {});
      }
    }
  };
}

// What browsers throw themselves where there is no room.
function named(thrown: unknown): MediaError {
  if (thrown instanceof Error && thrown.name === "QuotaExceededError") {
    return new MediaError("storage_full", "The browser has no room left for the files of this task.", {
      cause: thrown,
    });
  }
  const error = toMediaError(thrown);
  if (error.cause !== undefined && error.kind === "internal_error") console.error(error.cause);
  return error;
}
