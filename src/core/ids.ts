import { monotonicFactory } from "ulid";

/** The prefix of each sort of id. */
export const ID_PREFIX = {
  task: "task_",
  step: "step_",
  connection: "conn_",
  event: "evt_",
  endpoint: "we_",
  delivery: "dlv_",
  upload: "upload_",
  request: "req_",
  key: "key_",
} as const;
/** What an id may name. */
export type IdSort = keyof typeof ID_PREFIX;

/** Makes an id of a sort at a time in milliseconds: a prefix and a lower-case ULID, so that ids sort by time. */
export type CreateId = (sort: IdSort, now: number) => string;

/** Builds a {@link CreateId} over a source of random numbers from 0 to 1 (exclusive); within one millisecond its ids keep their order. */
export function createIds(random: () => number): CreateId {
  const ulid = monotonicFactory(random);
  return (sort, now) => ID_PREFIX[sort] + ulid(now).toLowerCase();
}

/** True when a text has the shape of an id of that sort; hostile paths are turned away here. */
export function isId(sort: IdSort, text: string): boolean {
  return (
    text.startsWith(ID_PREFIX[sort]) &&
    /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(ID_PREFIX[sort].length))
  );
}
