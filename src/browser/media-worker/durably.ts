import { MediaError, toMediaError } from "../../core/errors.ts";
import { RunOver } from "../../core/pipeline.ts";
import type { Durably } from "../../core/ports.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import { sleep } from "../../util/async.ts";

// For failures of the network and of encoders; one and two seconds apart.
const ATTEMPTS = 3;
const PAUSE_MS = 1000;

/**
 * Creates the {@link Durably} of a run: the result of a step is stored, and returned again after a reload. A retryable error
 * is retried; when the signal aborts, the run is over.
 */
export function createDurably(pieces: PieceStore, run_id: string, signal: AbortSignal): Durably {
  return async <T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const known = await pieces.get(run_id, name);
    if (known) return known.value as T;
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) throw new RunOver();
      try {
        const value = await work(signal);
        // Results that arrive after the end of the run are not stored: its files are being deleted.
        if (signal.aborted) throw new RunOver();
        await pieces.put(run_id, name, value);
        return value;
      } catch (thrown) {
        if (signal.aborted || thrown instanceof RunOver) throw new RunOver();
        const error = named(thrown);
        if (!error.retryable || attempt === ATTEMPTS) throw error;
        // The next iteration notices the end of the run.
        await sleep(PAUSE_MS * attempt, signal).catch(() => {});
      }
    }
  };
}

// Converts the browsers' error when storage is full.
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
