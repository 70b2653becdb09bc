import type { Env } from "../env.ts";
import type { Limits } from "./enforce.ts";
import { QUEUE_NAME } from "./queue-name.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import { createRoom } from "./room.ts";

/** Creates the limits from the bindings and settings of the Worker. `goOn` keeps a promise alive after the request is answered. */
export function createLimitsOf(
  env: Env,
  goOn: (promise: Promise<unknown>) => void,
  now: () => number,
): Limits {
  const { MAX_REQUESTS: requests, MAX_CREATIONS: creations, MAX_WAITING } = env.settings;
  return {
    rate: createRateLimiter({
      limits: { requests, creations },
      home: (project) => env.PROJECT.getByName(project),
      later: (ms, work) => goOn(ms > 0 ? scheduler.wait(ms).then(work) : work()),
      now,
    }),
    room: createRoom(MAX_WAITING, (key_id) => env.QUEUE.getByName(QUEUE_NAME).waiting(key_id), now),
  };
}
