import type { ListPage, ListQuery } from "../../src/core/lists.ts";

/** Returns the requested page of a list of records in memory, in any order; ids sort by time. */
export function pageOf<T extends { id: string }>(all: readonly T[], query: ListQuery): ListPage<T> {
  const { limit, order, after, before } = query;
  const sign = order === "asc" ? 1 : -1;
  const compare = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0);
  const found = all
    .filter(({ id }) => after === undefined || compare(id, after) > 0)
    .filter(({ id }) => before === undefined || compare(id, before) < 0)
    .toSorted((a, b) => compare(a.id, b.id));
  const records = before === undefined ? found.slice(0, limit) : found.slice(-limit);
  return { records, more: found.length > limit };
}
