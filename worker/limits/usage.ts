/** What is counted of a key. */
export interface Use {
  requests: number;
  /** Those of them that make a record. */
  creations: number;
}

/** What a key has used in its running minute, in all places together. */
export interface KeyWindow extends Use {
  /** Milliseconds until the minute is over. */
  ms_left: number;
}

/** Counts the use of the keys of one project, in memory alone: after a restart a key starts a new minute. */
export interface Usage {
  /** Adds the use of a key in one place, and returns all its use. */
  add(key_id: string, use: Use, now: number): KeyWindow;
  /** Returns when each key was last used, in milliseconds since the Unix epoch. */
  lastUses(): ReadonlyMap<string, number>;
}

/** The time that limits are counted over, in milliseconds. A key's minute starts with its first request. */
export const WINDOW_MS = 60_000;

/** Creates a {@link Usage}. */
export function createUsage(): Usage {
  const windows = new Map<string, Use & { until: number }>();
  const last = new Map<string, number>();
  return {
    add(key_id, { requests, creations }, now) {
      let window = windows.get(key_id);
      if (!window || now >= window.until) {
        window = { requests: 0, creations: 0, until: now + WINDOW_MS };
        windows.set(key_id, window);
      }
      window.requests += requests;
      window.creations += creations;
      last.set(key_id, now);
      return { requests: window.requests, creations: window.creations, ms_left: window.until - now };
    },
    lastUses: () => last,
  };
}
