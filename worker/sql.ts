/** The part of an SQLite database that the tables of a project need. */
export interface Sql {
  exec<T extends Record<string, string | number | null>>(
    text: string,
    ...values: (string | number | null)[]
  ): Iterable<T>;
}
