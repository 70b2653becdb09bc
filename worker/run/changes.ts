/** Lets many wait for the next change of one thing. */
export interface Changes {
  /** Resolves at the next change, or after `ms`. */
  wait(ms: number): Promise<void>;
  /** Wakes all waiters. */
  tell(): void;
}

/** Creates {@link Changes}; a waiter that times out leaves nothing behind. */
export function createChanges(): Changes {
  const waiting = new Set<() => void>();
  return {
    wait(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = () => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      waiting.add(end);
      return promise;
    },
    tell() {
      for (const end of [...waiting]) end();
    },
  };
}
