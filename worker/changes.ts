/** Lets many wait for the next change of one thing. */
export interface Changes {
  /** Resolves at the next change, or after `ms`. */
  wait(ms: number): Promise<void>;
  /** Tells all that wait. */
  tell(): void;
}

/** Builds {@link Changes}: all that wait share one promise. */
export function createChanges(): Changes {
  let next = Promise.withResolvers<void>();
  return {
    async wait(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      await Promise.race([next.promise, promise]);
      clearTimeout(timer);
    },
    tell() {
      next.resolve();
      next = Promise.withResolvers<void>();
    },
  };
}
