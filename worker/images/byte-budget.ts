import * as errors from "../errors.ts";

/** A memory budget that all pictures of an isolate share. */
export interface ByteBudget {
  /**
   * Runs work that holds `bytes` once they are free, in the order of the calls; more than the budget counts as the whole budget. Rejects
   * with the signal's reason when that aborts first, and with `service_unavailable` when the wait takes too long.
   */
  hold<T>(bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** Creates a budget of `max` bytes, for which work waits up to `waitMs` milliseconds. */
export function createByteBudget(max: number, waitMs: number): ByteBudget {
  let free = max;
  const waiting: { bytes: number; start: () => void }[] = [];

  function admit(): void {
    for (let [next] = waiting; next && next.bytes <= free; [next] = waiting) {
      waiting.shift();
      free -= next.bytes;
      next.start();
    }
  }

  return {
    async hold(amount, signal, work) {
      signal.throwIfAborted();
      const bytes = Math.min(amount, max);
      await new Promise<void>((resolve, reject) => {
        const leave = (reason: unknown) => {
          waiting.splice(waiting.indexOf(next), 1);
          reject(reason);
          stop();
          admit();
        };
        const gone = () => leave(signal.reason);
        const timer = setTimeout(() => leave(errors.imageMemoryTaken()), waitMs);
        const stop = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", gone);
        };
        const start = () => {
          stop();
          resolve();
        };
        const next = { bytes, start };
        signal.addEventListener("abort", gone, { once: true });
        waiting.push(next);
        admit();
      });
      try {
        return await work();
      } finally {
        free += bytes;
        admit();
      }
    },
  };
}
