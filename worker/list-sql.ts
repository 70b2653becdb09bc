import type { ListPage, ListQuery } from "../src/runs/lists.ts";

/** What a list's query is in SQL: conditions with their values, the order to read in, and what makes a page of the rows read. */
export interface ListSql {
  where: string[];
  values: (string | number)[];
  ascending: boolean;
  /** Makes the page; `rows` has one more than the limit, or than `most`, when more follow. */
  turn<T>(rows: readonly T[], most?: number): ListPage<T>;
}

/** Translates the query of a list whose rows have the columns `id`, `status` and `kind`. */
export function whereOf({ limit, order, after, before, status, kind }: ListQuery): ListSql {
  const where: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, value: string | undefined) => {
    if (value === undefined) return;
    where.push(condition);
    values.push(value);
  };
  add("status = ?", status);
  add("kind = ?", kind);
  add(order === "desc" ? "id < ?" : "id > ?", after);
  add(order === "desc" ? "id > ?" : "id < ?", before);
  // A page before a cursor is the one that touches it, so it is read away from the cursor and turned round.
  const backwards = before !== undefined && after === undefined;
  return {
    ...{ where, values },
    ascending: (order === "asc") !== backwards,
    turn(rows, most = limit) {
      const page = rows.slice(0, most);
      return { records: backwards ? page.reverse() : page, more: rows.length > most };
    },
  };
}
