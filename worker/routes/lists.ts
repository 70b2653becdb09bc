import type { Context } from "hono";
import { invalid } from "../../src/core/errors.ts";
import {
  LIST_PARAMETERS,
  type ListPage,
  type ListQuery,
  type ListSort,
  parseListQuery,
} from "../../src/core/lists.ts";

/** Reads the query of a list; throws `request_invalid`, or `invalid_kind` for an unknown kind. */
export function readListQuery(url: string, sort: ListSort): ListQuery {
  const { searchParams } = new URL(url);
  const given = new Map<string, unknown>(searchParams);
  for (const param of LIST_PARAMETERS) {
    if (searchParams.getAll(param).length <= 1) continue;
    throw invalid(param, "must be given once.");
  }
  const limit = searchParams.get("limit");
  if (limit !== null && /^\d{1,4}$/.test(limit)) given.set("limit", Number(limit));
  return parseListQuery(sort, given);
}

/** Answers with a page as a bare array; `Link` has its neighbors, `Has-More` whether more follow in the same direction. */
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
