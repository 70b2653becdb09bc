import type { Context } from "hono";
import { errors } from "../errors.ts";
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

/** Counts records that a request makes, all or none; throws `rate_limited` when they are too many. */
export function countCreation(c: Context<ApiEnv>, { rate }: Limits, count = 1): void {
  take(c, rate, "creations", count);
}

/** Takes room for more runs to wait; throws `rate_limited` where too many of the project's would wait. */
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
