/** Room in memory for pictures that are being made, shared by all of an isolate. */
export interface ByteBudget {
  /** Runs work that holds so many bytes as soon as there is room, in the order of the calls; more than all of it waits for all of it. */
  hold<T>(bytes: number, work: () => Promise<T>): Promise<T>;
}

/** Creates a budget of so many bytes. */
export function createByteBudget(most: number): ByteBudget {
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
    async hold(asked, work) {
      const bytes = Math.min(asked, most);
      await new Promise<void>((start) => {
        waiting.push({ bytes, start });
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
