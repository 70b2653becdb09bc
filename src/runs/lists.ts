import { z } from "zod";
import { closed, oneOf, wholeWithin } from "../media/fields.ts";
import { ENCODE_KINDS, STEP_KINDS } from "../media/formats.ts";
import { parseBody } from "../media/parse-body.ts";
import { CONNECTION_KINDS } from "./connection.ts";
import { type IdType, isId } from "./ids.ts";
import { STEP_STATUSES } from "./step.ts";
import { TASK_STATUSES } from "./task.ts";
import { DELIVERY_STATUSES, ENDPOINT_STATUSES, EVENT_KINDS } from "./webhook-events.ts";

/** Records per page: the default, and the bounds of `limit`. */
export const LIST_LIMIT = { default: 20, min: 1, max: 100 } as const;

/** The query parameters of a list. */
export const LIST_PARAMETERS = ["limit", "after", "before", "order", "status", "kind"] as const;

/** Options of a list; `after` and `before` are ids. */
export interface ListQuery {
  limit: number;
  order: "asc" | "desc";
  after?: string | undefined;
  before?: string | undefined;
  status?: string | undefined;
  kind?: string | undefined;
}

/** A page of a list, and whether more records follow in the same direction. */
export interface ListPage<T> {
  records: T[];
  more: boolean;
}

function pages(type: IdType) {
  const id = z
    .string(`must be the id of a ${type}.`)
    .refine((text) => isId(type, text))
    .optional();
  return {
    limit: wholeWithin(LIST_LIMIT).default(LIST_LIMIT.default),
    order: z.enum(["asc", "desc"], "must be asc or desc.").default("desc"),
    after: id,
    before: id,
  };
}

const statusOf = <const S extends readonly string[]>(statuses: S) => ({ status: oneOf(statuses).optional() });

const kindOf = <const K extends readonly string[]>(kinds: K) => ({
  kind: z.enum(kinds, `kind must be one of ${kinds.join(", ")}.`).optional(),
});

function oneCursor({ after, before }: Pick<ListQuery, "after" | "before">, ctx: z.RefinementCtx): void {
  if (after === undefined || before === undefined) return;
  ctx.addIssue({ code: "custom", path: ["before"], message: "cannot be given together with after." });
}

const listQuery = (schema: z.ZodType<ListQuery>) => schema.superRefine(oneCursor);
const parameters = <const S extends z.core.$ZodLooseShape>(shape: S) => closed(shape, "parameter");

const QUERIES = {
  task: listQuery(parameters({ ...pages("task"), ...statusOf(TASK_STATUSES), ...kindOf(ENCODE_KINDS) })),
  job: listQuery(parameters(pages("job"))),
  step: listQuery(parameters({ ...pages("step"), ...statusOf(STEP_STATUSES), ...kindOf(STEP_KINDS) })),
  connection: listQuery(parameters({ ...pages("connection"), ...kindOf(CONNECTION_KINDS) })),
  event: listQuery(parameters({ ...pages("event"), ...kindOf(EVENT_KINDS) })),
  endpoint: listQuery(parameters({ ...pages("endpoint"), ...statusOf(ENDPOINT_STATUSES) })),
  delivery: listQuery(
    parameters({ ...pages("delivery"), ...statusOf(DELIVERY_STATUSES), ...kindOf(EVENT_KINDS) }),
  ),
  key: listQuery(parameters(pages("key"))),
} satisfies Partial<Record<IdType, z.ZodType<ListQuery>>>;

/** The types of records that have lists. */
export type ListType = keyof typeof QUERIES;

/** Parses the query of a list; throws `request_invalid`, or `invalid_kind` for an unknown kind, with the parameter at fault. */
export function parseListQuery(type: ListType, query: ReadonlyMap<string, unknown>): ListQuery {
  return parseBody(QUERIES[type], Object.fromEntries(query));
}
