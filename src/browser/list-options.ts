import { MediaError } from "../core/errors.ts";
import { ENCODE_KINDS, STEP_KINDS } from "../core/formats.ts";
import { isId } from "../core/ids.ts";
import { STEP_STATUSES } from "../core/step.ts";
import { TASK_STATUSES } from "../core/task.ts";
import type { ListQuery } from "../stores/indexeddb-records.ts";
import type { Sort } from "./media-api.ts";

const LIMIT = { default: 20, min: 1, max: 100 } as const;
const NAMES = ["limit", "after", "before", "order", "status", "kind"] as const;
const RULES = {
  task: { statuses: TASK_STATUSES, kinds: ENCODE_KINDS },
  step: { statuses: STEP_STATUSES, kinds: STEP_KINDS },
} as const;

/** Parses the options of a list; throws `request_invalid`, or `invalid_kind` for an unknown kind, as the service does. */
export function parseListOptions(sort: Sort, given: unknown): ListQuery {
  const options = new Map(Object.entries(given ?? {}).filter(([, value]) => value !== undefined));
  for (const name of options.keys()) {
    if (!(NAMES as readonly string[]).includes(name)) {
      throw invalid(name.slice(0, 64), `is unknown here; the parameters are ${NAMES.join(", ")}.`);
    }
  }
  const { statuses, kinds } = RULES[sort];
  const limit = options.get("limit") ?? LIMIT.default;
  const order = options.get("order") ?? "desc";
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < LIMIT.min || limit > LIMIT.max) {
    throw invalid("limit", `must be a whole number from ${LIMIT.min} to ${LIMIT.max}.`);
  }
  if (order !== "asc" && order !== "desc") throw invalid("order", "must be asc or desc.");
  const query: ListQuery = { limit, order };
  for (const name of ["after", "before"] as const) {
    const id = options.get(name);
    if (id === undefined) continue;
    if (typeof id !== "string" || !isId(sort, id)) throw invalid(name, `must be the id of a ${sort}.`);
    query[name] = id;
  }
  if (query.after !== undefined && query.before !== undefined) {
    throw invalid("before", "cannot be given together with after.");
  }
  const status = options.get("status");
  if (status !== undefined) query.status = choice("status", status, statuses);
  const kind = options.get("kind");
  if (kind !== undefined) query.kind = choice("kind", kind, kinds);
  return query;
}

function choice(name: "status" | "kind", value: unknown, choices: readonly string[]): string {
  if (typeof value === "string" && choices.includes(value)) return value;
  const message = `${name} must be one of ${choices.join(", ")}.`;
  throw new MediaError(name === "kind" ? "invalid_kind" : "request_invalid", message, { param: name });
}

function invalid(param: string, fault: string): MediaError {
  return new MediaError("request_invalid", `${param} ${fault}`, { param });
}
