import type { Context } from "hono";
import { errors } from "../errors.ts";
import type { ApiEnv } from "../http/context.ts";
import { type Limited, type RateLimiter, type Standing, type Use, WINDOW_MS } from "./rate-limiter.ts";

/** The limits on requests and on waiting runs. */
export interface Limits {
  rate: RateLimiter;
  room: Room;
}

// A guess: nobody knows when the next run ends.
const ROOM_SECONDS = 10;

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
export async function takeRoom(c: Context<ApiEnv>, { room }: Limits, count = 1): Promise<void> {
  if (await room.take(c.get("principal").project, count)) return;
  c.header("Retry-After", String(ROOM_SECONDS));
  throw errors.tooManyWaiting({ max: room.most });
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

function writeStanding(what: Limited, { left, seconds }: Standing): string {
  return `"${what}";r=${left};t=${seconds}`;
}

function writePolicy(limits: Use): string {
  const window = WINDOW_MS / 1000;
  return `"requests";q=${limits.requests};w=${window}, "creations";q=${limits.creations};w=${window}`;
}

/** Limits how many runs of a project may wait in the queue. */
interface Room {
  /** Most runs of a project that may wait. */
  readonly most: number;
  /** Reserves `count` positions, one by default, all or none; false when there are too few. */
  take(project: string, count?: number): Promise<boolean>;
}

// A cached quota is valid this long; subtract what was spent locally.
const GOOD_MS = 5000;
const MOST_PROJECTS = 10_000;

/** Creates a {@link Room} with a cached count: for up to five seconds, runs that other instances add go unseen. */
export function createRoom(
  most: number,
  waiting: (project: string) => Promise<number>,
  now: () => number,
): Room {
  const cache = new Map<string, { left: number; until: number }>();
  return {
    most,
    async take(project, count = 1) {
      let quota = cache.get(project);
      if (!quota || quota.left < count || now() >= quota.until) {
        quota = { left: most - (await waiting(project)), until: now() + GOOD_MS };
        if (cache.size >= MOST_PROJECTS) cache.clear();
        cache.set(project, quota);
      }
      if (quota.left < count) return false;
      quota.left -= count;
      return true;
    },
  };
}
