import type { Sql } from "../sql.ts";

/** The state of a request with an `Idempotency-Key`. */
export type RequestState =
  /** The first request, which creates the record with this id; `again` after a lost attempt, whose record may exist. */
  | { state: "new" | "again"; id: string }
  /** The first request is in progress. */
  | { state: "running" }
  /** The key was used with another request. */
  | { state: "other" }
  /** The first request has ended, with this response as JSON. */
  | { state: "done"; answer: string };

/**
 * The end of a request: a response as JSON; `refused` when nothing was created, which frees the key; or `lost` when its record may or may
 * not exist, so that the same request can be retried at once.
 */
export type RequestEnd = { answer: string } | "refused" | "lost";

/** Requests by their `Idempotency-Key`, stored for a day. */
export interface IdempotencyTable {
  /** Begins a request with the digest of its content and the id for its record, which identifies a repeated call. */
  begin(key: string, digest: string, id: string, now?: number): RequestState;
  /** Stores the end of a request; a response is final. */
  end(key: string, ended: RequestEnd): void;
}

const DAY_MS = 86_400_000;
const LOST_MS = 60_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS idempotency (
    key TEXT PRIMARY KEY, digest TEXT NOT NULL, id TEXT NOT NULL, answer TEXT, begun_at INTEGER NOT NULL, tried_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS idempotency_age ON idempotency (begun_at);
`;

type Row = { digest: string; id: string; answer: string | null; tried_at: number };

/** Requests by project and `Idempotency-Key`. */
export interface Idempotency {
  begin(project: string, key: string, digest: string, id: string): Promise<RequestState>;
  end(project: string, key: string, ended: RequestEnd): Promise<void>;
}

/** Creates the table of requests of one project. */
export function createIdempotencyTable(sql: Sql): IdempotencyTable {
  sql.exec(SCHEMA);
  return {
    begin(key, digest, id, now = Date.now()) {
      sql.exec("DELETE FROM idempotency WHERE begun_at <= ?", now - DAY_MS);
      const [row] = [...sql.exec<Row>("SELECT * FROM idempotency WHERE key = ?", key)];
      if (!row) {
        sql.exec("INSERT INTO idempotency VALUES (?, ?, ?, NULL, ?, ?)", key, digest, id, now, now);
        return { state: "new", id };
      }
      if (row.digest !== digest) return { state: "other" };
      if (row.answer !== null) return { state: "done", answer: row.answer };
      if (row.id === id) return { state: "new", id };
      if (now - row.tried_at < LOST_MS) return { state: "running" };
      sql.exec("UPDATE idempotency SET tried_at = ? WHERE key = ?", now, key);
      return { state: "again", id: row.id };
    },
    end(key, ended) {
      const open = "key = ? AND answer IS NULL";
      if (ended === "refused") sql.exec(`DELETE FROM idempotency WHERE ${open}`, key);
      else if (ended === "lost") sql.exec(`UPDATE idempotency SET tried_at = ? WHERE ${open}`, -LOST_MS, key);
      else sql.exec("UPDATE idempotency SET answer = ? WHERE key = ?", ended.answer, key);
    },
  };
}
