import type { Principal } from "../auth/key-ring.ts";

/** What is limited of a key. */
export type Limited = keyof Use;

/** How a key stands with one limit. */
export interface Standing {
  /** False when it would exceed the limit: then the request is refused, and does not count. */
  allowed: boolean;
  limit: number;
  /** How many more there may be until the minute is over. */
  left: number;
  /** Whole seconds until the minute is over. */
  seconds: number;
}

/** Counts what keys use and says when it is enough. */
export interface RateLimiter {
  /** How much a key may use a minute. */
  readonly limits: Use;
  /** Counts so many uses, one by default: all of them or, beyond the limit, none. */
  take(principal: Pick<Principal, "id" | "project">, what: Limited, count?: number): Standing;
}

/** What a rate limiter is built on. */
export interface RateLimiterTools {
  limits: Use;
  /** Adds up what a key of a project uses in all places. */
  home(project: string): { countUse(key_id: string, use: Use): Promise<KeyWindow> };
  /** Does work after so many milliseconds, when the request may be answered long since. */
  later(ms: number, work: () => Promise<void>): void;
  now(): number;
}

/** Milliseconds between two messages of what was counted here. */
export const TELL_MS = 1000;
// A message that has not come back by then is lost.
const LOST_MS = 30_000;
const MOST_KEYS = 10_000;

interface Window {
  until: number;
  used: Use;
  untold: Use;
  /** False until the counts of the other places have arrived. */
  heard: boolean;
  telling_until: number;
}

/**
 * Creates a rate limiter that adds no latency: it counts in memory and, about once a second in the background, reports to the
 * key's project, which adds up the counts of all instances of the Worker. Within that second, an instance does not see the
 * requests that the others admit.
 */
export function createRateLimiter({ limits, home, later, now }: RateLimiterTools): RateLimiter {
  const windows = new Map<string, Window>();

  function windowOf(key_id: string): Window {
    const found = windows.get(key_id);
    if (found && now() < found.until) return found;
    if (windows.size >= MOST_KEYS) windows.clear();
    const window = {
      until: now() + WINDOW_MS,
      ...{ used: none(), untold: none() },
      ...{ heard: false, telling_until: 0 },
    };
    windows.set(key_id, window);
    return window;
  }

  function tell({ id, project }: Pick<Principal, "id" | "project">, window: Window): void {
    if (now() < window.telling_until) return;
    window.telling_until = now() + LOST_MS;
    // The first is reported at once: use elsewhere counts from the second request on.
    later(window.heard ? TELL_MS : 0, async () => {
      const told = window.untold;
      window.untold = none();
      try {
        const all = await home(project).countUse(id, told);
        window.until = now() + all.ms_left;
        window.used = plus(all, window.untold);
        window.heard = true;
      } catch {
        window.untold = plus(window.untold, told);
      } finally {
        window.telling_until = 0;
      }
    });
  }

  return {
    limits,
    take(principal, what, count = 1) {
      const window = windowOf(principal.id);
      const allowed = window.used[what] + count <= limits[what];
      if (allowed) {
        window.used[what] += count;
        window.untold[what] += count;
        tell(principal, window);
      }
      const left = Math.max(0, limits[what] - window.used[what]);
      const seconds = Math.max(1, Math.ceil((window.until - now()) / 1000));
      return { allowed, limit: limits[what], left, seconds };
    },
  };
}

function none(): Use {
  return { requests: 0, creations: 0 };
}

function plus(a: Use, b: Use): Use {
  return { requests: a.requests + b.requests, creations: a.creations + b.creations };
}

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
