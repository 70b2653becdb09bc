import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import type { ApiEnv } from "../http/context.ts";
import type { Limited, RateLimiter, Standing } from "./rate-limiter.ts";
import type { Room } from "./room.ts";
import { type Use, WINDOW_MS } from "./usage.ts";

/** The limits of keys. */
export interface Limits {
  rate: RateLimiter;
  room: Room;
}

// Runs end all the time; more than a guess would promise too much.
const ROOM_SECONDS = 10;

/** Counts a request of a key and sets the headers of its limits; throws `rate_limited` beyond them. */
export function countRequest(c: Context<ApiEnv>, { rate }: Limits): void {
  c.header("RateLimit-Policy", writePolicy(rate.limits));
  take(c, rate, "requests");
}

/** Counts a request that makes a record; throws `rate_limited` when it is too much. */
export function countCreation(c: Context<ApiEnv>, { rate }: Limits): void {
  take(c, rate, "creations");
}

/** Takes room for one more run to wait; throws `rate_limited` where too many of the project's wait already. */
export async function takeRoom(c: Context<ApiEnv>, { room }: Limits): Promise<void> {
  if (await room.take(c.get("principal").project)) return;
  c.header("Retry-After", String(ROOM_SECONDS));
  throw new MediaError(
    "rate_limited",
    `${room.most} tasks and steps of this project wait for their turn, which is the most; try again when some are done.`,
  );
}

// https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/11/
function take(c: Context<ApiEnv>, rate: RateLimiter, what: Limited): void {
  const standing = rate.take(c.get("principal"), what);
  // A request that creates several records counts several times; the last standing holds.
  const before = c.res.headers.get("RateLimit")?.split(", ") ?? [];
  const others = before.filter((part) => !part.startsWith(`"${what}"`));
  c.header("RateLimit", [...others, writeStanding(what, standing)].join(", "));
  if (standing.allowed) return;
  const { limit, seconds } = standing;
  c.header("Retry-After", String(seconds));
  throw new MediaError(
    "rate_limited",
    `A key may make ${limit} ${what} a minute; try again in ${seconds} seconds.`,
  );
}

function writeStanding(what: Limited, { left, seconds }: Standing): string {
  return `"${what}";r=${left};t=${seconds}`;
}

function writePolicy(limits: Use): string {
  const window = WINDOW_MS / 1000;
  return `"requests";q=${limits.requests};w=${window}, "creations";q=${limits.creations};w=${window}`;
}
