import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import { isId } from "../../src/core/ids.ts";
import type { ListPage, ListQuery } from "../runs.ts";

/** Records on a page: the default, and the bounds of `limit`. */
export const LIMIT = { default: 20, min: 1, max: 100 } as const;
/** The query parameters of a list. */
export const LIST_PARAMETERS = ["limit", "after", "before", "order", "status", "kind"] as const;

/** What a list may be asked for. */
export interface ListRules {
  sort: "task" | "step";
  statuses: readonly string[];
  kinds: readonly string[];
}

/** Parses the query of a list; throws `request_invalid`, or `invalid_kind` for an unknown kind. */
export function parseListQuery(url: string, rules: ListRules): ListQuery {
  const given = new URL(url).searchParams;
  for (const name of new Set(given.keys())) {
    if (!(LIST_PARAMETERS as readonly string[]).includes(name)) {
      throw invalid(clip(name), `is unknown here; the parameters are ${LIST_PARAMETERS.join(", ")}.`);
    }
    if (given.getAll(name).length > 1) throw invalid(name, "must be given once.");
  }
  const read = (name: (typeof LIST_PARAMETERS)[number]) => given.get(name) ?? undefined;
  const query: ListQuery = { limit: parseLimit(read("limit")), order: parseOrder(read("order")) };
  const [after, before, status, kind] = [read("after"), read("before"), read("status"), read("kind")];
  if (after !== undefined) query.after = parseCursor("after", after, rules.sort);
  if (before !== undefined) query.before = parseCursor("before", before, rules.sort);
  if (after !== undefined && before !== undefined)
    throw invalid("before", "cannot be given together with after.");
  if (status !== undefined) query.status = parseChoice("status", status, rules.statuses);
  if (kind !== undefined) query.kind = parseChoice("kind", kind, rules.kinds);
  return query;
}

/** Answers a page as a bare array; `Link` names the pages beside it, `Has-More` tells whether any follow in the same direction. */
export function answerList<T extends { id: string }>(
  c: Context,
  base: string,
  query: ListQuery,
  page: ListPage<T>,
): Response {
  const { records, more } = page;
  const url = new URL(c.req.url);
  const link = (cursor: "after" | "before", id: string, rel: "next" | "prev") => {
    const parameters = new URLSearchParams(url.search);
    parameters.delete("after");
    parameters.delete("before");
    parameters.set(cursor, id);
    return `<${base}${url.pathname}?${parameters}>; rel="${rel}"`;
  };
  const [first, last] = [records[0], records.at(-1)];
  const backwards = query.before !== undefined;
  const links: string[] = [];
  // Going back, the page that was left is the next one; going on, the one that was left is the previous one.
  if (last && (backwards || more)) links.push(link("after", last.id, "next"));
  if (first && (backwards ? more : query.after !== undefined)) links.push(link("before", first.id, "prev"));
  if (links.length > 0) c.header("Link", links.join(", "));
  c.header("Has-More", String(more));
  return c.json(records);
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT.default;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= LIMIT.min && limit <= LIMIT.max) return limit;
  throw invalid("limit", `must be a whole number from ${LIMIT.min} to ${LIMIT.max}.`);
}

function parseOrder(text: string | undefined): "asc" | "desc" {
  if (text === undefined || text === "desc") return "desc";
  if (text === "asc") return "asc";
  throw invalid("order", "must be asc or desc.");
}

function parseCursor(name: string, text: string, sort: ListRules["sort"]): string {
  if (isId(sort, text)) return text;
  throw invalid(name, `must be the id of a ${sort}.`);
}

function parseChoice(name: "status" | "kind", text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text;
  const message = `${name} must be one of ${choices.join(", ")}.`;
  throw new MediaError(name === "kind" ? "invalid_kind" : "request_invalid", message, { param: name });
}

function invalid(param: string, fault: string): MediaError {
  return new MediaError("request_invalid", `${param} ${fault}`, { param });
}

function clip(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
