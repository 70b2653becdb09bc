import type { Principal } from "../auth/key-ring.ts";

/** A limited use of a key. */
export type Limited = keyof Use;

/** The state of one limit of a key. */
export interface RateState {
  /** Whether the request is within the limit; one that exceeds it does not count. */
  allowed: boolean;
  limit: number;
  /** Remaining uses in this minute. */
  remaining: number;
  /** Whole seconds until the minute ends. */
  seconds: number;
}

/** Counts the uses of keys and limits them per minute. */
export interface RateLimiter {
  /** Uses of a key allowed per minute. */
  readonly limits: Use;
  /** Counts uses, one by default; beyond the limit it counts none of them. */
  take(principal: Pick<Principal, "id" | "project">, what: Limited, count?: number): RateState;
}

/** Dependencies of {@link createRateLimiter}. */
export interface RateLimiterTools {
  limits: Use;
  /** The project's object, which adds up the uses of a key in all instances of the Worker. */
  home(project: string): { countUse(key_id: string, use: Use): Promise<KeyWindow> };
  /** Runs work after `ms` milliseconds, even after the response. */
  later(ms: number, work: () => Promise<void>): void;
  now(): number;
}

/** Milliseconds between two reports of local uses. */
export const REPORT_MS = 1000;
const LOST_MS = 30_000;
const MAX_KEYS = 10_000;

interface Window {
  until: number;
  used: Use;
  unreported: Use;
  /** Whether the counts of other instances have arrived. */
  synced: boolean;
  reporting_until: number;
}

/**
 * Creates a rate limiter that adds no latency: it counts in memory and, about once a second in the background, reports to the
 * key's project, which adds up the counts of all instances of the Worker. Within that second, an instance does not see the
 * requests that the others admit.
 */
export function createRateLimiter({ limits, home, later, now }: RateLimiterTools): RateLimiter {
  const windows = new Map<string, Window>();

  function windowOf(key_id: string): Window {
    const current = windows.get(key_id);
    if (current && now() < current.until) return current;
    if (windows.size >= MAX_KEYS) windows.clear();
    const window = {
      until: now() + WINDOW_MS,
      used: none(),
      unreported: none(),
      synced: false,
      reporting_until: 0,
    };
    windows.set(key_id, window);
    return window;
  }

  function report({ id, project }: Pick<Principal, "id" | "project">, window: Window): void {
    if (now() < window.reporting_until) return;
    window.reporting_until = now() + LOST_MS;
    later(window.synced ? REPORT_MS : 0, async () => {
      const uses = window.unreported;
      window.unreported = none();
      try {
        const all = await home(project).countUse(id, uses);
        window.until = now() + all.ms_left;
        window.used = addUses(all, window.unreported);
        window.synced = true;
      } catch {
        window.unreported = addUses(window.unreported, uses);
      } finally {
        window.reporting_until = 0;
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
        window.unreported[what] += count;
        report(principal, window);
      }
      const remaining = Math.max(0, limits[what] - window.used[what]);
      const seconds = Math.max(1, Math.ceil((window.until - now()) / 1000));
      return { allowed, limit: limits[what], remaining, seconds };
    },
  };
}

function none(): Use {
  return { requests: 0, creations: 0 };
}

function addUses(a: Use, b: Use): Use {
  return { requests: a.requests + b.requests, creations: a.creations + b.creations };
}

/** The counted uses of a key. */
export interface Use {
  requests: number;
  /** Requests that create a record. */
  creations: number;
}

/** The uses of a key in its current minute, in all instances together. */
export interface KeyWindow extends Use {
  /** Milliseconds until the minute ends. */
  ms_left: number;
}

/** Counts the uses of one project's keys, in memory only: after a restart, a key starts a new minute. */
export interface Usage {
  /** Adds uses that one instance reports, and returns the key's total. */
  add(key_id: string, use: Use, now: number): KeyWindow;
  /** Returns when each key was last used, in milliseconds since the Unix epoch. */
  lastUses(): ReadonlyMap<string, number>;
}

/** The window of the limits, in milliseconds. It starts with a key's first request. */
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
