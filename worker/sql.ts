import { deflateSync, inflateSync } from "fflate";
import type { ListPage, ListQuery } from "../src/runs/lists.ts";

/** The part of an SQLite database that the tables of a project need. */
export interface Sql {
  exec<T extends Record<string, Packed | number | null>>(
    text: string,
    ...values: (string | number | Uint8Array | null)[]
  ): Iterable<T>;
}

/** The text of a column, plain or packed by {@link pack}. */
export type Packed = string | ArrayBuffer;

/** Compresses a text with a similar one as the dictionary: a record of 5 KB takes about 300 bytes. SQLite stores the result as a blob. */
export function pack(text: string, like: string): Uint8Array {
  return deflateSync(encode(text), { level: 6, dictionary: encode(like) });
}

// fflate takes ten times as long when it has to grow its own buffer.
const SCRATCH = new Uint8Array(65_536);

/** Returns the text of a column; `like` returns the dictionary that it was packed with. */
export function unpack(packed: Packed, like: () => string): string {
  if (typeof packed === "string") return packed;
  return new TextDecoder().decode(inflate(new Uint8Array(packed), encode(like())));
}

function inflate(bytes: Uint8Array, dictionary: Uint8Array): Uint8Array {
  try {
    const text = inflateSync(bytes, { dictionary, out: SCRATCH });
    if (text.length < SCRATCH.length) return text;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  // A text that fills the scratch buffer is truncated, or throws a RangeError.
  return inflateSync(bytes, { dictionary });
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A list query in SQL. */
export interface ListSql {
  /** Conditions, with a placeholder for each of `values`. */
  where: string[];
  values: (string | number)[];
  /** The order in which to read. */
  ascending: boolean;
  /** Returns the page of the first `count` rows, by default as many as the limit; rows beyond them mean that more follow. */
  toPage<T>(rows: readonly T[], count?: number): ListPage<T>;
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
  const backwards = before !== undefined && after === undefined;
  return {
    where,
    values,
    ascending: (order === "asc") !== backwards,
    toPage(rows, count = limit) {
      const page = rows.slice(0, count);
      return { records: backwards ? page.reverse() : page, more: rows.length > count };
    },
  };
}
