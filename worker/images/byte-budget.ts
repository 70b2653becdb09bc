import { errors } from "../errors.ts";

/** Room in memory for pictures that are being made, shared by all of an isolate. */
export interface ByteBudget {
  /**
   * Runs work that holds so many bytes as soon as there is room, in the order of the calls; more than all of it waits for all of it. Rejects
   * with the signal's reason when that aborts first, and with `service_unavailable` when there is no room in time.
   */
  hold<T>(bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** Creates a budget of so many bytes, for which work waits so many milliseconds. */
export function createByteBudget(most: number, waitMs: number): ByteBudget {
  let free = most;
  const waiting: { bytes: number; start: () => void }[] = [];

  function admit(): void {
    for (let [next] = waiting; next && next.bytes <= free; [next] = waiting) {
      waiting.shift();
      free -= next.bytes;
      next.start();
    }
  }

  return {
    async hold(asked, signal, work) {
      signal.throwIfAborted();
      const bytes = Math.min(asked, most);
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
