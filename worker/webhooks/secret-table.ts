import type { Sql } from "../sql.ts";

/** The sealed secrets of one project that sign webhooks, each of an endpoint or of the project itself. */
export interface SecretTable {
  /** Keeps the first secret of an owner; one that is there stays. */
  first(owner: string, sealed: string, now?: number): void;
  /** Puts a new secret in the place of the one so far, which is good until `keep_until`; tells whether there was one. */
  rotate(owner: string, sealed: string, keep_until: number, now?: number): boolean;
  /** Gives the secrets that are good now, the newest first. */
  of(owner: string, now?: number): string[];
  /** Whether an owner has a secret that is valid now. */
  has(owner: string, now?: number): boolean;
  /** Gives all, of whichever owner. */
  all(): { owner: string; sealed: string }[];
  /** Keeps a secret sealed otherwise. */
  reseal(owner: string, before: string, after: string): void;
  /** Removes all of an owner. */
  remove(owner: string): void;
}

// A row with `until` is good only so long; the one without is the newest.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhook_secret (
    owner TEXT NOT NULL, sealed TEXT NOT NULL, made_at INTEGER NOT NULL, until INTEGER
  );
  CREATE INDEX IF NOT EXISTS webhook_secret_of ON webhook_secret (owner);
`;

// Whoever changes it again and again keeps as many, so that headers stay short.
const MOST_OLD = 3;

/** Keeps the sealed secrets of one project. */
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
      // One that was to be good for longer is not, once a shorter time was asked for.
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
