import type { Context } from "hono";
import * as errors from "../errors.ts";
import type { ApiEnv } from "../http/context.ts";
import { type Limited, type RateLimiter, type RateState, type Use, WINDOW_MS } from "./rate-limiter.ts";

/** The limits on requests and on waiting runs. */
export interface Limits {
  rate: RateLimiter;
  waiting: WaitQuota;
}

const RETRY_SECONDS = 10;

/** Counts a request of a key and sets the headers of its limits; throws `rate_limited` beyond them. */
export function countRequest(c: Context<ApiEnv>, { rate }: Limits): void {
  c.header("RateLimit-Policy", writePolicy(rate.limits));
  take(c, rate, "requests");
}

/** Counts the records that a request creates, all or none; throws `rate_limited` beyond the limit. */
export function countCreation(c: Context<ApiEnv>, { rate }: Limits, count = 1): void {
  take(c, rate, "creations", count);
}

/** Reserves waiting positions for `count` runs; throws `rate_limited` when too many of the project's runs would wait. */
export async function takeWaitQuota(c: Context<ApiEnv>, { waiting }: Limits, count = 1): Promise<void> {
  if (await waiting.take(c.get("principal").project, count)) return;
  c.header("Retry-After", String(RETRY_SECONDS));
  throw errors.tooManyWaiting({ max: waiting.max });
}

// https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/11/
function take(c: Context<ApiEnv>, rate: RateLimiter, what: Limited, count = 1): void {
  const standing = rate.take(c.get("principal"), what, count);
  const standings = { ...c.get("standings"), [what]: writeStanding(what, standing) };
  c.set("standings", standings);
  c.header("RateLimit", Object.values(standings).join(", "));
  if (standing.allowed) return;
  const { limit, seconds } = standing;
  c.header("Retry-After", String(seconds));
  throw errors.tooManyRequests({ limit, counted: what, seconds });
}

function writeStanding(what: Limited, { remaining, seconds }: RateState): string {
  return `"${what}";r=${remaining};t=${seconds}`;
}

function writePolicy(limits: Use): string {
  const window = WINDOW_MS / 1000;
  return `"requests";q=${limits.requests};w=${window}, "creations";q=${limits.creations};w=${window}`;
}

/** Limits how many runs of a project may wait in the queue. */
interface WaitQuota {
  /** How many runs of a project may wait. */
  readonly max: number;
  /** Reserves `count` positions, one by default, all or none; false when there are too few. */
  take(project: string, count?: number): Promise<boolean>;
}

const CACHE_MS = 5000;
const MAX_PROJECTS = 10_000;

/** Creates a {@link WaitQuota} with a cached count: for up to five seconds, runs that other instances add go unseen. */
export function createWaitQuota(
  max: number,
  waiting: (project: string) => Promise<number>,
  now: () => number,
): WaitQuota {
  const cache = new Map<string, { remaining: number; until: number }>();
  return {
    max,
    async take(project, count = 1) {
      let quota = cache.get(project);
      if (!quota || quota.remaining < count || now() >= quota.until) {
        quota = { remaining: max - (await waiting(project)), until: now() + CACHE_MS };
        if (cache.size >= MAX_PROJECTS) cache.clear();
        cache.set(project, quota);
      }
      if (quota.remaining < count) return false;
      quota.remaining -= count;
      return true;
    },
  };
}
