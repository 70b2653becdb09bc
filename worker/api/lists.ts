import type { Context } from "hono";
import { invalid } from "../../src/media/errors.ts";
import {
  LIST_LIMIT,
  LIST_PARAMETERS,
  type ListPage,
  type ListQuery,
  type ListType,
  parseListQuery,
} from "../../src/runs/lists.ts";
import type { Parameter } from "./openapi.ts";

/** The query parameters of a list. */
export function listParameters(
  sort: ListType,
  statuses: readonly string[] | null,
  kinds: readonly string[] | null,
  example: string,
): Parameter[] {
  const query = (name: string, description: string, schema: object) =>
    ({ name, in: "query", required: false, description, schema }) as const;
  // Examples go into the schema: the reference page would fill in those of the parameter.
  const cursor = { type: "string", examples: [example] };
  return [
    query("limit", "Records on the page.", {
      type: "integer",
      minimum: LIST_LIMIT.min,
      maximum: LIST_LIMIT.max,
      default: LIST_LIMIT.default,
    }),
    query("after", `Id of a ${sort}: the page starts after it. Not together with \`before\`.`, cursor),
    query("before", `Id of a ${sort}: the page ends before it.`, cursor),
    query("order", "By time of creation.", { type: "string", enum: ["asc", "desc"], default: "desc" }),
    ...(statuses
      ? [query("status", "Only records in this state.", { type: "string", enum: [...statuses] })]
      : []),
    ...(kinds ? [query("kind", "Only records of this kind.", { type: "string", enum: [...kinds] })] : []),
  ];
}

/** Reads the query of a list; throws `request_invalid`, or `invalid_kind` for an unknown kind. */
export function readListQuery(url: string, sort: ListType): ListQuery {
  const { searchParams } = new URL(url);
  const values = new Map<string, unknown>(searchParams);
  for (const param of LIST_PARAMETERS)
    if (searchParams.getAll(param).length > 1) throw invalid(param, "must be given once.");
  const limit = searchParams.get("limit");
  if (limit !== null && /^\d{1,4}$/.test(limit)) values.set("limit", Number(limit));
  return parseListQuery(sort, values);
}

/**
 * Answers with a page as a bare array. `Link` has the URLs of the pages before and after it, `Has-More` says whether more records
 * follow in the same direction.
 */
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
  // A page read backwards always has a next one, from which the client came.
  if (last && (backwards || more)) links.push(link("after", last.id, "next"));
  if (first && (backwards ? more : query.after !== undefined)) links.push(link("before", first.id, "prev"));
  if (links.length > 0) c.header("Link", links.join(", "));
  c.header("Has-More", String(more));
  return c.json(records);
}
