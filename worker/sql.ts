import { deflateSync, inflateSync } from "fflate";
import type { ListPage, ListQuery } from "../src/runs/lists.ts";

/** The part of an SQLite database that the tables of a project need. */
export interface Sql {
  exec<T extends Record<string, Packed | number | null>>(
    text: string,
    ...values: (string | number | Uint8Array | null)[]
  ): Iterable<T>;
}

/** A text as a column holds it: as it is, or packed by {@link pack}. */
export type Packed = string | ArrayBuffer;

/**
 * Compresses a text by what it has in common with another: a record of 5 KB that resembles the other takes 300 bytes. SQLite
 * stores it as a blob.
 */
export function pack(text: string, like: string): Uint8Array {
  return deflateSync(encode(text), { level: 6, dictionary: encode(like) });
}

// Where fflate has to grow its own buffer, it takes ten times as long.
const SCRATCH = new Uint8Array(65_536);

/** Returns the text of a column; `like` is what it was packed with. */
export function unpack(packed: Packed, like: () => string): string {
  if (typeof packed === "string") return packed;
  return new TextDecoder().decode(inflate(new Uint8Array(packed), encode(like())));
}

function inflate(bytes: Uint8Array, dictionary: Uint8Array): Uint8Array {
  try {
    const found = inflateSync(bytes, { dictionary, out: SCRATCH });
    if (found.length < SCRATCH.length) return found;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  // A longer one is cut off there, or begins a block beyond.
  return inflateSync(bytes, { dictionary });
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

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
