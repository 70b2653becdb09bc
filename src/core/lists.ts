import { CONNECTION_KINDS } from "./connection.ts";
import { clip, invalid, MediaError, quote } from "./errors.ts";
import { ENCODE_KINDS, STEP_KINDS } from "./formats.ts";
import { isId } from "./ids.ts";
import { STEP_STATUSES } from "./step.ts";
import { TASK_STATUSES } from "./task.ts";
import { DELIVERY_STATUSES, ENDPOINT_STATUSES, EVENT_KINDS } from "./webhook.ts";

/** Records per page: the default, and the bounds of `limit`. */
export const LIST_LIMIT = { default: 20, min: 1, max: 100 } as const;

/** The query parameters of a list. */
export const LIST_PARAMETERS = ["limit", "after", "before", "order", "status", "kind"] as const;

/** Options of a list; `after` and `before` are ids. */
export interface ListQuery {
  limit: number;
  order: "asc" | "desc";
  after?: string;
  before?: string;
  status?: string;
  kind?: string;
}

/** A page of a list, and whether more follow in the same direction. */
export interface ListPage<T> {
  records: T[];
  more: boolean;
}

const CHOICES = {
  task: { statuses: TASK_STATUSES, kinds: ENCODE_KINDS },
  step: { statuses: STEP_STATUSES, kinds: STEP_KINDS },
  connection: { statuses: null, kinds: CONNECTION_KINDS },
  event: { statuses: null, kinds: EVENT_KINDS },
  endpoint: { statuses: ENDPOINT_STATUSES, kinds: null },
  delivery: { statuses: DELIVERY_STATUSES, kinds: EVENT_KINDS },
  key: { statuses: null, kinds: null },
} as const;

/** The types of records that have lists. */
export type ListSort = keyof typeof CHOICES;

/** Parses the query of a list; throws `request_invalid`, or `invalid_kind` for an unknown kind, with the parameter at fault. */
export function parseListQuery(sort: ListSort, given: ReadonlyMap<string, unknown>): ListQuery {
  const { statuses, kinds } = CHOICES[sort];
  const lacking = [statuses ? null : "status", kinds ? null : "kind"];
  const known = LIST_PARAMETERS.filter((name) => !lacking.includes(name));
  for (const name of given.keys()) {
    if (!(known as readonly string[]).includes(name)) {
      const message = `${quote(name)} is unknown here; the parameters are ${known.join(", ")}.`;
      throw new MediaError("request_invalid", message, { param: clip(name) });
    }
  }
  const limit = given.get("limit") ?? LIST_LIMIT.default;
  const order = given.get("order") ?? "desc";
  const { min, max } = LIST_LIMIT;
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < min || limit > max) {
    throw invalid("limit", `must be a whole number from ${min} to ${max}.`);
  }
  if (order !== "asc" && order !== "desc") throw invalid("order", "must be asc or desc.");
  const query: ListQuery = { limit, order };
  for (const name of ["after", "before"] as const) {
    const id = given.get(name);
    if (id === undefined) continue;
    if (typeof id !== "string" || !isId(sort, id)) throw invalid(name, `must be the id of a ${sort}.`);
    query[name] = id;
  }
  if (query.after !== undefined && query.before !== undefined) {
    throw invalid("before", "cannot be given together with after.");
  }
  const [status, kind] = [given.get("status"), given.get("kind")];
  if (status !== undefined && statuses) query.status = choose("status", status, statuses);
  if (kind !== undefined && kinds) query.kind = choose("kind", kind, kinds);
  return query;
}

function choose(name: "status" | "kind", value: unknown, choices: readonly string[]): string {
  if (typeof value === "string" && choices.includes(value)) return value;
  const message = `${name} must be one of ${choices.join(", ")}.`;
  throw new MediaError(name === "kind" ? "invalid_kind" : "request_invalid", message, { param: name });
}
