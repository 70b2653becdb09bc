import type { Sql } from "../sql.ts";

/** What is known of a request that carries an `Idempotency-Key`. */
export type Begun =
  /** It is the first and makes the record of this id; `again` where the first one was lost, so that the record may be there already. */
  | { state: "new" | "again"; id: string }
  /** The first one is still being answered. */
  | { state: "running" }
  /** The key came with another request before. */
  | { state: "other" }
  /** The first one was answered, as JSON. */
  | { state: "done"; answer: string };

/** Requests by their `Idempotency-Key`, for a day. */
export interface IdempotencyTable {
  /** Takes a request with the digest of all that it asks, and the id that its record is to have. */
  begin(key: string, digest: string, id: string, now: number): Begun;
  /** Keeps the answer; without one the request failed and may come again. */
  end(key: string, answer: string | null): void;
}

const DAY_MS = 86_400_000;
// An answer that was not there by then will not come: whoever made it is gone.
const LOST_MS = 60_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS idempotency (
    key TEXT PRIMARY KEY, digest TEXT NOT NULL, id TEXT NOT NULL, answer TEXT, begun_at INTEGER NOT NULL, tried_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS idempotency_age ON idempotency (begun_at);
`;

type Row = { digest: string; id: string; answer: string | null; tried_at: number };

/** Keeps the requests of one project. */
export function createIdempotencyTable(sql: Sql): IdempotencyTable {
  sql.exec(SCHEMA);
  return {
    begin(key, digest, id, now) {
      sql.exec("DELETE FROM idempotency WHERE begun_at <= ?", now - DAY_MS);
      const [found] = [...sql.exec<Row>("SELECT * FROM idempotency WHERE key = ?", key)];
      if (!found) {
        sql.exec("INSERT INTO idempotency VALUES (?, ?, ?, NULL, ?, ?)", key, digest, id, now, now);
        return { state: "new", id };
      }
      if (found.digest !== digest) return { state: "other" };
      if (found.answer !== null) return { state: "done", answer: found.answer };
      if (now - found.tried_at < LOST_MS) return { state: "running" };
      sql.exec("UPDATE idempotency SET tried_at = ? WHERE key = ?", now, key);
      return { state: "again", id: found.id };
    },
    end(key, answer) {
      if (answer === null) sql.exec("DELETE FROM idempotency WHERE key = ? AND answer IS NULL", key);
      else sql.exec("UPDATE idempotency SET answer = ? WHERE key = ?", answer, key);
    },
  };
}
