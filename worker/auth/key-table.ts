import { SCOPES, type Scope } from "../../src/runs/key.ts";
import type { Sql } from "../sql.ts";

/** A stored key, without the hashes of its secrets. */
export interface StoredKey {
  id: string;
  name: string;
  project: string;
  scopes: readonly Scope[];
  /** Milliseconds since the Unix epoch. */
  created_at: number;
  /** The last recorded use, in milliseconds since the Unix epoch; null before the first. */
  used_at: number | null;
}

/** The key that a secret belongs to, and the secret's expiry. */
export interface KeyMatch extends StoredKey {
  /** When the secret expires, in milliseconds since the Unix epoch; null for never. */
  expires_at: number | null;
}

/** Why a change was rejected: the requesting key was revoked, it lacks a scope of the key, the key is unknown, or there are too many. */
export type KeyRefusal = "barred" | "exceeds" | "unknown" | "full";

/**
 * The keys of one project. Each change is one transaction, which also checks `by`, the hash of the requesting secret (null for a key in
 * the settings): a revoked key cannot create another one, however its requests and the revocation interleave.
 */
export interface KeyTable {
  /** Returns the key of a secret's hash; null for an unknown or expired one. */
  find(hash: string, now: number): KeyMatch | null;
  list(): StoredKey[];
  /** Adds a key with a secret, unless there are `max` already; replaces one with the same id. */
  create(key: StoredKey, hash: string, by: string | null, max: number, now: number): "done" | KeyRefusal;
  /** Adds a new secret to a key. Earlier ones expire at `until`, or at once when that has passed. */
  roll(id: string, hash: string, until: number, by: string | null, now: number): "done" | KeyRefusal;
  /** Removes a key with all its secrets. */
  revoke(id: string, by: string | null, now: number): "done" | KeyRefusal;
  /** Records when a key was last used. */
  noteUse(id: string, at: number): void;
}

const SCHEMA = `
  CREATE TABLE api_key (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL, used_at INTEGER
  ) WITHOUT ROWID;
  CREATE TABLE api_secret (hash TEXT PRIMARY KEY, key_id TEXT NOT NULL, expires_at INTEGER) WITHOUT ROWID;
  CREATE INDEX api_secret_of ON api_secret (key_id);
`;

/** How many replaced secrets of a key stay valid beside the current one; the first to expire are removed. */
const MAX_REPLACED = 4;

type Row = {
  id: string;
  project: string;
  name: string;
  scopes: string;
  created_at: number;
  used_at: number | null;
};

/** Creates the table of a project's keys. It stores nothing before the first key, because forged keys cause lookups too. */
export function createKeyTable(sql: Sql): KeyTable {
  const one = "SELECT 1 FROM sqlite_master WHERE name = 'api_key'";
  let exists = [...sql.exec(one)].length > 0;

  const rows = <T extends Row>(text: string, ...values: (string | number)[]): T[] =>
    exists ? [...sql.exec<T>(text, ...values)] : [];
  const toKey = ({ scopes, ...row }: Row): StoredKey => ({ ...row, scopes: scopes.split(",") as Scope[] });
  const get = (id: string): StoredKey | null =>
    rows("SELECT * FROM api_key WHERE id = ?", id).map(toKey)[0] ?? null;

  function find(hash: string, now: number): KeyMatch | null {
    const join = `SELECT api_key.*, expires_at FROM api_secret JOIN api_key ON id = key_id
      WHERE hash = ? AND COALESCE(expires_at > ?, 1)`;
    const [row] = rows<Row & { expires_at: number | null }>(join, hash, now);
    return row ? { ...toKey(row), expires_at: row.expires_at } : null;
  }

  function scopesOf(by: string | null, now: number): readonly Scope[] | null {
    if (by === null) return SCOPES;
    const scopes = find(by, now)?.scopes;
    return scopes?.includes("admin") ? scopes : null;
  }

  function addSecret(id: string, hash: string, now: number): void {
    sql.exec("DELETE FROM api_secret WHERE expires_at <= ?", now);
    sql.exec("INSERT OR REPLACE INTO api_secret VALUES (?, ?, NULL)", hash, id);
  }

  return {
    find,
    list: () => rows("SELECT * FROM api_key ORDER BY id DESC").map(toKey),
    create(key, hash, by, max, now) {
      const allowed = scopesOf(by, now);
      if (!allowed) return "barred";
      if (!key.scopes.every((scope) => allowed.includes(scope))) return "exceeds";
      if (!exists) sql.exec(SCHEMA);
      exists = true;
      // A repeated request means that the first response was lost, and the secret with it.
      sql.exec("DELETE FROM api_secret WHERE key_id = ?", key.id);
      sql.exec("DELETE FROM api_key WHERE id = ?", key.id);
      if (rows("SELECT * FROM api_key LIMIT ?", max).length >= max) return "full";
      const { id, project, name, scopes, created_at } = key;
      const insert = "INSERT INTO api_key VALUES (?, ?, ?, ?, ?, NULL)";
      sql.exec(insert, id, project, name, scopes.join(), created_at);
      addSecret(id, hash, now);
      return "done";
    },
    roll(id, hash, until, by, now) {
      const allowed = scopesOf(by, now);
      if (!allowed) return "barred";
      const key = get(id);
      if (!key) return "unknown";
      if (!key.scopes.every((scope) => allowed.includes(scope))) return "exceeds";
      const end = "UPDATE api_secret SET expires_at = MIN(COALESCE(expires_at, ?), ?) WHERE key_id = ?";
      sql.exec(end, until, until, id);
      const replaced = `SELECT hash FROM api_secret WHERE key_id = ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?`;
      sql.exec(`DELETE FROM api_secret WHERE hash IN (${replaced})`, id, MAX_REPLACED);
      addSecret(id, hash, now);
      return "done";
    },
    revoke(id, by, now) {
      if (!scopesOf(by, now)) return "barred";
      if (!get(id)) return "unknown";
      sql.exec("DELETE FROM api_secret WHERE key_id = ?", id);
      sql.exec("DELETE FROM api_key WHERE id = ?", id);
      return "done";
    },
    noteUse(id, at) {
      if (exists) sql.exec("UPDATE api_key SET used_at = MAX(COALESCE(used_at, 0), ?) WHERE id = ?", at, id);
    },
  };
}

/** The names of all projects that have had keys, for operators. */
export interface ProjectDirectory {
  add(project: string): void;
  list(): string[];
}

/** Name of the object with the directory; locators of projects are longer. */
export const DIRECTORY = "projects";

/** Creates the directory; only the first addition stores anything. */
export function createProjectDirectory(sql: Sql): ProjectDirectory {
  const create = "CREATE TABLE IF NOT EXISTS project (name TEXT PRIMARY KEY) WITHOUT ROWID";
  const exists = () => [...sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'project'")].length > 0;
  return {
    add(project) {
      sql.exec(create);
      sql.exec("INSERT OR IGNORE INTO project VALUES (?)", project);
    },
    list: () =>
      exists() ? [...sql.exec<{ name: string }>("SELECT name FROM project")].map(({ name }) => name) : [],
  };
}
