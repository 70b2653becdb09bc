/** Limits how many operations run at once, in order of arrival. */
export interface Lanes {
  /** Runs the work when its turn comes, or at once when the signal aborts. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Creates {@link Lanes}; `most` is at least 1. */
export function createLanes(most: number): Lanes {
  const waiting = new Set<() => void>();
  let free = most;

  function takeLane(signal?: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const enter = () => {
      waiting.delete(enter);
      signal?.removeEventListener("abort", giveUp);
      resolve(true);
    };
    const giveUp = () => {
      waiting.delete(enter);
      resolve(false);
    };
    if (signal?.aborted) giveUp();
    else if (free > 0) {
      free--;
      enter();
    } else {
      waiting.add(enter);
      signal?.addEventListener("abort", giveUp, { once: true });
    }
    return promise;
  }

  function leave(): void {
    const [next] = waiting;
    if (next) next();
    else free++;
  }

  return {
    async run(work, signal) {
      const inLane = await takeLane(signal);
      try {
        return await work();
      } finally {
        if (inLane) leave();
      }
    },
  };
}
