const MAX_LISTEN_MS = 30_000;

/** The callers that wait for a run's order to stop. */
export interface RunListeners {
  /** Resolves to true after `ms`, at most half a minute; to false as soon as the run has ended. */
  listen(ms: number): Promise<boolean>;
  /** Notifies all listeners that the run is over. */
  end(): void;
}

/** Creates {@link RunListeners}. */
export function createRunListeners(): RunListeners {
  const listeners = new Set<(goes_on: boolean) => void>();
  return {
    async listen(ms) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(true), Math.min(ms, MAX_LISTEN_MS));
      listeners.add(resolve);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        listeners.delete(resolve);
      }
    },
    end() {
      for (const over of listeners) over(false);
    },
  };
}
