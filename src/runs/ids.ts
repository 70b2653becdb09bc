import { monotonicFactory } from "ulid";

/** The prefix of each type of id. */
export const ID_PREFIX = {
  task: "task_",
  job: "job_",
  step: "step_",
  connection: "conn_",
  event: "evt_",
  endpoint: "we_",
  delivery: "dlv_",
  upload: "upload_",
  request: "req_",
  key: "key_",
} as const;
/** The maximum length of an idempotency key, in characters; the keys that a client derives from it for files are no longer. */
export const IDEMPOTENCY_KEY_MAX = 255;

/** The types of ids. */
export type IdType = keyof typeof ID_PREFIX;

/** Creates an id of a type for a time in milliseconds: a prefix and a lowercase ULID, so that ids sort by time. */
export type CreateId = (type: IdType, now: number) => string;

/** Creates a {@link CreateId} from a source of random numbers in [0, 1); ids of one millisecond sort in order of creation. */
export function createIds(random: () => number): CreateId {
  const ulid = monotonicFactory(random);
  return (type, now) => ID_PREFIX[type] + ulid(now).toLowerCase();
}

/** Whether a text has the shape of an id of that type; guards against hostile paths. */
export function isId(type: IdType, text: string): boolean {
  const prefix = ID_PREFIX[type];
  return text.startsWith(prefix) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(prefix.length));
}
