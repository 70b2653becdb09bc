const MAX_LISTEN_MS = 30_000;

/** The callers that wait for an event of a run: its end, or its turn. */
export interface RunListeners {
  /** Resolves to true after `ms`, at most half a minute; to false as soon as the event happens. */
  listen(ms: number): Promise<boolean>;
  /** Notifies all listeners of the event. */
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
