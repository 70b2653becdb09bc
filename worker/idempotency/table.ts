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

/**
 * How a request ended: with an answer, as JSON; refused, so that nothing was made and its key is free for another; or lost, so that its record
 * may be there or not, and the same request may come again at once.
 */
export type Ended = { answer: string } | "refused" | "lost";

/** Requests by their `Idempotency-Key`, for a day. */
export interface IdempotencyTable {
  /** Takes a request with the digest of all that it asks, and the id that its record is to have: by that id it is known when it is taken twice. */
  begin(key: string, digest: string, id: string, now?: number): Begun;
  /** Keeps how a request ended; one that has its answer keeps it. */
  end(key: string, ended: Ended): void;
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

/** Requests by their `Idempotency-Key`, each project's for itself. */
export interface Idempotency {
  begin(project: string, key: string, digest: string, id: string): Promise<Begun>;
  end(project: string, key: string, ended: Ended): Promise<void>;
}

/** Keeps the requests of one project. */
export function createIdempotencyTable(sql: Sql): IdempotencyTable {
  sql.exec(SCHEMA);
  return {
    begin(key, digest, id, now = Date.now()) {
      sql.exec("DELETE FROM idempotency WHERE begun_at <= ?", now - DAY_MS);
      const [found] = [...sql.exec<Row>("SELECT * FROM idempotency WHERE key = ?", key)];
      if (!found) {
        sql.exec("INSERT INTO idempotency VALUES (?, ?, ?, NULL, ?, ?)", key, digest, id, now, now);
        return { state: "new", id };
      }
      if (found.digest !== digest) return { state: "other" };
      if (found.answer !== null) return { state: "done", answer: found.answer };
      if (found.id === id) return { state: "new", id };
      if (now - found.tried_at < LOST_MS) return { state: "running" };
      sql.exec("UPDATE idempotency SET tried_at = ? WHERE key = ?", now, key);
      return { state: "again", id: found.id };
    },
    end(key, ended) {
      const open = "key = ? AND answer IS NULL";
      if (ended === "refused") sql.exec(`DELETE FROM idempotency WHERE ${open}`, key);
      else if (ended === "lost") sql.exec(`UPDATE idempotency SET tried_at = ? WHERE ${open}`, -LOST_MS, key);
      else sql.exec("UPDATE idempotency SET answer = ? WHERE key = ?", ended.answer, key);
    },
  };
}
