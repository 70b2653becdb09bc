import type { Packed } from "./pack.ts";

/** The part of an SQLite database that the tables of a project need. */
export interface Sql {
  exec<T extends Record<string, Packed | number | null>>(
    text: string,
    ...values: (string | number | Uint8Array | null)[]
  ): Iterable<T>;
}
