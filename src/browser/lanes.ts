/** Lets so many pieces of work run at once, in the order in which they come. */
export interface Lanes {
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Builds {@link Lanes}; `most` is at least 1. */
export function createLanes(most: number): Lanes {
  const waiting: (() => void)[] = [];
  let free = most;
  return {
    async run(work) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    },
  };
}
