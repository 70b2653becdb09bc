import { MediaError } from "../../src/media/errors.ts";
import {
  type Connection,
  type ConnectionChange,
  changeConnection,
  type Reencryption,
} from "../../src/runs/connection.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import * as errors from "../errors.ts";
import type { Remote } from "../network/durable-objects.ts";
import { type Sql, whereOf } from "../sql.ts";
import type { Seal } from "./seal.ts";

/** Stored connections, each in its project. Ids of other projects are unknown. */
export interface Connections {
  create(project: string, connection: Connection, secret: string): Promise<Connection>;
  list(project: string, query: ListQuery): Promise<ListPage<Connection>>;
  get(project: string, id: string): Promise<Connection | null>;
  /** Returns the default connection; null when there are none. */
  getDefault(project: string): Promise<Connection | null>;
  /** Changes a connection; rejects with `connection_not_found`. */
  change(project: string, id: string, change: ConnectionChange): Promise<Connection>;
  /** Removes a connection with its secret; rejects with `connection_not_found`, or `connection_in_use` while a run uses it. */
  remove(project: string, id: string): Promise<void>;
  /** Seals every secret with the newest key, so that older keys can be removed. */
  reencrypt(project: string): Promise<Omit<Reencryption, "webhook_secrets">>;
  /** Reserves a connection, by default the default one, for a run about to be created; false when there is none. */
  reserve(project: string, run_id: string, id?: string): Promise<boolean>;
  /** Returns a connection with its secret, to reach its storage; rejects with `connection_not_found`. */
  open(project: string, id: string): Promise<OpenConnection>;
  /** Returns the connection reserved for a run, with its secret; null when it was removed. */
  openOf(project: string, run_id: string): Promise<OpenConnection | null>;
}

/** A connection with its secret: never log, store or return it. */
export interface OpenConnection extends Connection {
  secret_access_key: string;
}

/** The connection methods of a project's object. */
export interface ConnectionHome {
  readonly connections: Remote<ConnectionTable>;
}

/** Creates the access to connections through the objects of their projects. Seals each secret for its own record. */
export function createConnections(home: (project: string) => ConnectionHome, seal: Seal): Connections {
  const table = (project: string) => home(project).connections;
  const owner = (project: string, id: string) => `${project}/${id}`;

  async function unseal(project: string, { connection, sealed }: SealedConnection): Promise<OpenConnection> {
    const secret = await seal.open(sealed, owner(project, connection.id)).catch((cause: unknown) => {
      throw errors.connectionUnreadable({ cause });
    });
    if (!(await seal.isCurrent(sealed))) {
      const resealed = await seal.seal(secret, owner(project, connection.id));
      await table(project).reseal(connection.id, sealed, resealed);
    }
    return { ...connection, secret_access_key: secret };
  }

  async function find(project: string, id: string): Promise<SealedConnection> {
    const entry = await table(project).get(id);
    if (!entry) throw errors.notFound("connection");
    return entry;
  }

  async function* all(project: string): AsyncGenerator<Connection> {
    for (let after: string | undefined; ; ) {
      const page = await table(project).list({ limit: 100, order: "asc", ...(after && { after }) });
      yield* page.records;
      after = page.records.at(-1)?.id;
      if (!page.more) return;
    }
  }

  return {
    async create(project, connection, secret) {
      const sealed = await seal.seal(secret, owner(project, connection.id));
      return table(project).add({ connection, sealed });
    },
    list: (project, query) => table(project).list(query),
    async get(project, id) {
      return (await table(project).get(id))?.connection ?? null;
    },
    async getDefault(project) {
      return (await table(project).getDefault())?.connection ?? null;
    },
    async change(project, id, { secret_access_key: secret, ...change }) {
      const sealed = secret === undefined ? null : await seal.seal(secret, owner(project, id));
      const changed = await table(project).change(id, change, sealed);
      if (!changed) throw errors.notFound("connection");
      return changed;
    },
    async remove(project, id) {
      const answer = await table(project).remove(id);
      if (answer === "unknown") throw errors.notFound("connection");
      if (answer === "in_use") throw errors.connectionInUse();
    },
    async reencrypt(project) {
      const result: Omit<Reencryption, "webhook_secrets"> = {
        object: "reencryption",
        connections: 0,
        reencrypted: 0,
        failed: [],
      };
      for await (const { id } of all(project)) {
        const entry = await table(project).get(id);
        if (!entry) continue;
        result.connections++;
        if (await seal.isCurrent(entry.sealed)) continue;
        const opened = await unseal(project, entry).catch((thrown: unknown) => {
          if (thrown instanceof MediaError && !thrown.retryable) return null;
          throw thrown;
        });
        if (opened) result.reencrypted++;
        else result.failed.push(id);
      }
      return result;
    },
    async reserve(project, run_id, id) {
      return (await table(project).reserve(run_id, id ?? null)) !== null;
    },
    open: async (project, id) => unseal(project, await find(project, id)),
    async openOf(project, run_id) {
      const entry = await table(project).of(run_id);
      return entry && unseal(project, entry);
    },
  };
}

/** A connection with its secret, as stored. */
interface SealedConnection {
  connection: Connection;
  sealed: string;
}

/** The connections of one project, and which runs use them. */
export interface ConnectionTable {
  /** Adds a connection; the first is the default. */
  add(entry: SealedConnection): Connection;
  get(id: string): SealedConnection | null;
  /** Returns the default connection; null when there are none. */
  getDefault(): SealedConnection | null;
  list(query: ListQuery): ListPage<Connection>;
  /** Changes a connection, and its secret unless `sealed` is null; null when there is none. */
  change(id: string, change: ConnectionChange, sealed: string | null, now?: number): Connection | null;
  /** Replaces a sealed secret, unless it has changed since. */
  reseal(id: string, before: string, after: string): void;
  /** Removes a connection with its secret; the oldest remaining one replaces a default. */
  remove(id: string, now?: number): "removed" | "unknown" | "in_use";
  /** Reserves a connection for a run, the default one when `id` is null, and returns its id; null when there is none. */
  reserve(run_id: string, id: string | null, now?: number): string | null;
  /** Returns the connection reserved for a run. */
  of(run_id: string): SealedConnection | null;
  /** Ends the reservation of a finished run. */
  release(run_id: string): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS connection (
    id TEXT PRIMARY KEY, is_default INTEGER NOT NULL, record TEXT NOT NULL, sealed TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS connection_use (
    run_id TEXT PRIMARY KEY, connection_id TEXT NOT NULL, reserved_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS connection_use_of ON connection_use (connection_id);
`;

const CREATION_MS = 60_000;

type Row = { record: string; sealed: string; is_default: number };

/** Creates the table of connections. Its database must contain the index of runs, whose status it reads. */
export function createConnectionTable(sql: Sql): ConnectionTable {
  sql.exec(SCHEMA);

  const rows = (text: string, ...values: (string | number)[]) => [...sql.exec<Row>(text, ...values)];
  const toConnection = ({ record, is_default }: Row): Connection => ({
    // Records of an earlier version lack `signing`.
    signing: [],
    ...(JSON.parse(record) as Omit<Connection, "signing">),
    is_default: is_default === 1,
  });
  const first = (text: string, ...values: (string | number)[]): SealedConnection | null => {
    const row = rows(text, ...values)[0];
    return row ? { connection: toConnection(row), sealed: row.sealed } : null;
  };
  const get = (id: string) => first("SELECT * FROM connection WHERE id = ?", id);
  const getDefault = () => first("SELECT * FROM connection WHERE is_default = 1");

  function put(connection: Connection, sealed: string): Connection {
    const { id, is_default } = connection;
    const whole = "INSERT OR REPLACE INTO connection (id, is_default, record, sealed) VALUES (?, ?, ?, ?)";
    if (is_default) sql.exec("UPDATE connection SET is_default = 0");
    sql.exec(whole, id, is_default ? 1 : 0, JSON.stringify(connection), sealed);
    return connection;
  }

  return {
    add({ connection, sealed }) {
      const only = rows("SELECT * FROM connection LIMIT 1").length === 0;
      return put({ ...connection, is_default: connection.is_default || only }, sealed);
    },
    get,
    getDefault,
    list({ kind: _, ...query }) {
      const { where, values, ascending, toPage } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT * FROM connection WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      return toPage(rows(text, ...values, query.limit + 1).map(toConnection));
    },
    change(id, change, sealed, now = Date.now()) {
      const entry = get(id);
      return entry && put(changeConnection(entry.connection, change, now), sealed ?? entry.sealed);
    },
    reseal(id, before, after) {
      sql.exec("UPDATE connection SET sealed = ? WHERE id = ? AND sealed = ?", after, id, before);
    },
    remove(id, now = Date.now()) {
      const entry = get(id);
      if (!entry) return "unknown";
      const using = `SELECT 1 FROM connection_use LEFT JOIN run ON run.id = run_id WHERE connection_id = ?
        AND COALESCE(status NOT IN ('succeeded', 'failed', 'cancelled'), reserved_at > ?) LIMIT 1`;
      if (rows(using, id, now - CREATION_MS).length > 0) return "in_use";
      sql.exec("DELETE FROM connection WHERE id = ?", id);
      sql.exec("DELETE FROM connection_use WHERE connection_id = ?", id);
      const oldest = "SELECT id FROM connection ORDER BY id LIMIT 1";
      if (entry.connection.is_default)
        sql.exec(`UPDATE connection SET is_default = 1 WHERE id = (${oldest})`);
      return "removed";
    },
    reserve(run_id, id, now = Date.now()) {
      const entry = id === null ? getDefault() : get(id);
      if (!entry) return null;
      sql.exec("INSERT OR REPLACE INTO connection_use VALUES (?, ?, ?)", run_id, entry.connection.id, now);
      return entry.connection.id;
    },
    of(run_id) {
      const join =
        "SELECT connection.* FROM connection JOIN connection_use ON connection_id = id WHERE run_id = ?";
      return first(join, run_id);
    },
    release: (run_id) => void sql.exec("DELETE FROM connection_use WHERE run_id = ?", run_id),
  };
}
