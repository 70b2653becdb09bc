import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import {
  changeEndpoint,
  WEBHOOK_BOUNDS,
  type WebhookEndpoint,
  type WebhookEndpointChange,
} from "../../src/runs/webhook-events.ts";
import { type Sql, whereOf } from "../sql.ts";

/** The endpoints of one project. */
export interface EndpointTable {
  /** Adds or replaces an endpoint; null when the project has the maximum. */
  add(endpoint: WebhookEndpoint): WebhookEndpoint | null;
  get(id: string): WebhookEndpoint | null;
  all(): WebhookEndpoint[];
  list(query: ListQuery): ListPage<WebhookEndpoint>;
  /** Changes an endpoint; null when there is none. */
  change(id: string, change: WebhookEndpointChange, now?: number): WebhookEndpoint | null;
  remove(id: string): boolean;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhook_endpoint (
    id TEXT PRIMARY KEY, status TEXT NOT NULL, record TEXT NOT NULL
  ) WITHOUT ROWID;
`;

/** Creates the table of endpoints of one project. */
export function createEndpointTable(sql: Sql): EndpointTable {
  sql.exec(SCHEMA);
  const read = (text: string, ...values: (string | number)[]) =>
    [...sql.exec<{ record: string }>(text, ...values)].map(
      ({ record }) => JSON.parse(record) as WebhookEndpoint,
    );
  const all = () => read("SELECT record FROM webhook_endpoint ORDER BY id");
  const get = (id: string) => read("SELECT record FROM webhook_endpoint WHERE id = ?", id)[0] ?? null;

  function put(endpoint: WebhookEndpoint): WebhookEndpoint {
    const { id, status } = endpoint;
    sql.exec(
      "INSERT OR REPLACE INTO webhook_endpoint VALUES (?, ?, ?)",
      id,
      status,
      JSON.stringify(endpoint),
    );
    return endpoint;
  }

  return {
    add(endpoint) {
      const full = all().length >= WEBHOOK_BOUNDS.endpoints.max;
      return full && get(endpoint.id) === null ? null : put(endpoint);
    },
    all,
    get,
    list(query) {
      const { where, values, ascending, toPage } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT record FROM webhook_endpoint WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      return toPage(read(text, ...values, query.limit + 1));
    },
    change(id, change, now = Date.now()) {
      const endpoint = get(id);
      return endpoint && put(changeEndpoint(endpoint, change, now));
    },
    remove(id) {
      const existed = get(id) !== null;
      sql.exec("DELETE FROM webhook_endpoint WHERE id = ?", id);
      return existed;
    },
  };
}

/** The sealed secrets that sign one project's webhooks; each belongs to an endpoint or to the project itself. */
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
  /** Removes all secrets of an owner. */
  remove(owner: string): void;
}

const SECRET_SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhook_secret (
    owner TEXT NOT NULL, sealed TEXT NOT NULL, made_at INTEGER NOT NULL, until INTEGER
  );
  CREATE INDEX IF NOT EXISTS webhook_secret_of ON webhook_secret (owner);
`;

const MAX_PREVIOUS = 3;

/** Creates the table of sealed secrets of one project. */
export function createSecretTable(sql: Sql): SecretTable {
  sql.exec(SECRET_SCHEMA);
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
      const existed = hasCurrent(owner);
      sql.exec("UPDATE webhook_secret SET until = ? WHERE owner = ? AND until IS NULL", keep_until, owner);
      sql.exec("UPDATE webhook_secret SET until = MIN(until, ?) WHERE owner = ?", keep_until, owner);
      const expired = `until <= ? OR rowid NOT IN (SELECT rowid FROM webhook_secret WHERE owner = ? ORDER BY rowid DESC LIMIT ?)`;
      sql.exec(
        `DELETE FROM webhook_secret WHERE owner = ? AND (${expired})`,
        owner,
        now,
        owner,
        MAX_PREVIOUS,
      );
      add(owner, sealed, now);
      return existed;
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
