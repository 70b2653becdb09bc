import type { Context } from "hono";
import { errors } from "../errors.ts";
import type { ApiEnv } from "../http/context.ts";
import { type Limited, type RateLimiter, type Standing, type Use, WINDOW_MS } from "./rate-limiter.ts";

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

/** Decides whether more runs of a project may wait for their turn. */
interface Room {
  /** How many runs of a project may wait. */
  readonly most: number;
  /** True when there is room for so many more, one by default, which is then taken: for all of them or none. */
  take(project: string, count?: number): Promise<boolean>;
}

// What was asked is good for so long, less what was taken here since.
const GOOD_MS = 5000;
const MOST_PROJECTS = 10_000;

/** Creates a {@link Room} that rarely asks how many wait: others may add unseen runs for up to five seconds. */
export function createRoom(
  most: number,
  waiting: (project: string) => Promise<number>,
  now: () => number,
): Room {
  const known = new Map<string, { left: number; until: number }>();
  return {
    most,
    async take(project, count = 1) {
      let room = known.get(project);
      if (!room || room.left < count || now() >= room.until) {
        room = { left: most - (await waiting(project)), until: now() + GOOD_MS };
        if (known.size >= MOST_PROJECTS) known.clear();
        known.set(project, room);
      }
      if (room.left < count) return false;
      room.left -= count;
      return true;
    },
  };
}
