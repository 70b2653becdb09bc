import type { Env } from "../env.ts";
import type { Limits } from "./enforce.ts";
import { QUEUE_NAME } from "./queue-name.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import { createRoom } from "./room.ts";
import { limitSetting, rateLimits, runLimits } from "./settings.ts";

/** Builds the limits over the bindings of the Worker; throws an Error that names a malformed setting. `goOn` lets a promise go on when the request is answered. */
export function createLimitsOf(
  env: Env,
  goOn: (promise: Promise<unknown>) => void,
  now: () => number,
): Limits {
  // Only to find a malformed setting at once: the queue reads its own.
  runLimits(env);
  return {
    rate: createRateLimiter({
      limits: rateLimits(env),
      home: (project) => env.PROJECT.getByName(project),
      later: (ms, work) => goOn(ms > 0 ? scheduler.wait(ms).then(work) : work()),
      now,
    }),
    room: createRoom(
      limitSetting("MAX_WAITING", env),
      (key_id) => env.QUEUE.getByName(QUEUE_NAME).waiting(key_id),
      now,
    ),
  };
}
