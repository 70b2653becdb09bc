import type { Sql } from "../sql.ts";

/** The sealed secrets of one project that sign webhooks, each of an endpoint or of the project itself. */
export interface SecretTable {
  /** Adds the first secret of an owner; does nothing when there is one. */
  first(owner: string, sealed: string, now?: number): void;
  /** Replaces the current secret, which stays valid until `keep_until`; returns whether there was one. */
  rotate(owner: string, sealed: string, keep_until: number, now?: number): boolean;
  /** Returns the valid secrets, newest first. */
  of(owner: string, now?: number): string[];
  /** Whether an owner has a secret that is valid now. */
  has(owner: string, now?: number): boolean;
  /** Returns the secrets of all owners. */
  all(): { owner: string; sealed: string }[];
  /** Replaces a sealed secret, unless it has changed since. */
  reseal(owner: string, before: string, after: string): void;
  /** Removes all of an owner. */
  remove(owner: string): void;
}

// The current secret has no `until`.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhook_secret (
    owner TEXT NOT NULL, sealed TEXT NOT NULL, made_at INTEGER NOT NULL, until INTEGER
  );
  CREATE INDEX IF NOT EXISTS webhook_secret_of ON webhook_secret (owner);
`;

// Signatures all go into one header, which has to stay short.
const MOST_OLD = 3;

/** Creates the table of sealed secrets of one project. */
export function createSecretTable(sql: Sql): SecretTable {
  sql.exec(SCHEMA);
  const add = (owner: string, sealed: string, now: number) =>
    sql.exec("INSERT INTO webhook_secret VALUES (?, ?, ?, NULL)", owner, sealed, now);
  const hasCurrent = (owner: string) =>
    [...sql.exec("SELECT 1 FROM webhook_secret WHERE owner = ? AND until IS NULL", owner)].length > 0;
  const of = (owner: string, now = Date.now()) => {
    const text =
      "SELECT sealed FROM webhook_secret WHERE owner = ? AND (until IS NULL OR until > ?) ORDER BY rowid DESC";
    return [...sql.exec<{ sealed: string }>(text, owner, now)].map(({ sealed }) => sealed);
  };
  return {
    first(owner, sealed, now = Date.now()) {
      if (!hasCurrent(owner)) add(owner, sealed, now);
    },
    rotate(owner, sealed, keep_until, now = Date.now()) {
      const had = hasCurrent(owner);
      sql.exec("UPDATE webhook_secret SET until = ? WHERE owner = ? AND until IS NULL", keep_until, owner);
      // A later, shorter time also shortens those of older secrets.
      sql.exec("UPDATE webhook_secret SET until = MIN(until, ?) WHERE owner = ?", keep_until, owner);
      const over = `until <= ? OR rowid NOT IN (SELECT rowid FROM webhook_secret WHERE owner = ? ORDER BY rowid DESC LIMIT ?)`;
      sql.exec(`DELETE FROM webhook_secret WHERE owner = ? AND (${over})`, owner, now, owner, MOST_OLD);
      add(owner, sealed, now);
      return had;
    },
    of,
    has: (owner, now) => of(owner, now).length > 0,
    all: () => [...sql.exec<{ owner: string; sealed: string }>("SELECT owner, sealed FROM webhook_secret")],
    reseal(owner, before, after) {
      sql.exec("UPDATE webhook_secret SET sealed = ? WHERE owner = ? AND sealed = ?", after, owner, before);
    },
    remove: (owner) => void sql.exec("DELETE FROM webhook_secret WHERE owner = ?", owner),
  };
}
