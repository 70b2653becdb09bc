import { type Connection, type ConnectionChange, changeConnection } from "../../src/runs/connection.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import { type Sql, whereOf } from "../sql.ts";

/** A connection with its secret, as stored. */
export interface SealedConnection {
  connection: Connection;
  sealed: string;
}

/** The connections of one project, and which runs use them. */
export interface ConnectionTable {
  /** Adds one; the first is the default. */
  add(entry: SealedConnection): Connection;
  get(id: string): SealedConnection | null;
  /** Returns the default one; null when there are none. */
  getDefault(): SealedConnection | null;
  list(query: ListQuery): ListPage<Connection>;
  /** Changes one, and its secret when a new one is given; null when there is none. */
  change(id: string, change: ConnectionChange, sealed: string | null, now?: number): Connection | null;
  /** Replaces a sealed secret, unless it has changed since. */
  reseal(id: string, before: string, after: string): void;
  /** Removes one with its secret; the oldest remaining one replaces a default. */
  remove(id: string, now?: number): "removed" | "unknown" | "in_use";
  /** Reserves a connection, the default one unless another is wanted, for a run and returns its id; null when there is none. */
  reserve(run_id: string, wanted: string | null, now?: number): string | null;
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

// A run may be created this long after its reservation; one that never was uses nothing.
const CREATION_MS = 60_000;

type Row = { record: string; sealed: string; is_default: number };

/** Creates the table of connections beside the index of runs, whose table `run` knows which are unfinished. */
export function createConnectionTable(sql: Sql): ConnectionTable {
  sql.exec(SCHEMA);

  const rows = (text: string, ...values: (string | number)[]) => [...sql.exec<Row>(text, ...values)];
  const toConnection = ({ record, is_default }: Row): Connection => ({
    // A record of a time before these rules has none.
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
    // All are of one kind.
    list({ kind: _, ...query }) {
      const { where, values, ascending, turn } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT * FROM connection WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      return turn(rows(text, ...values, query.limit + 1).map(toConnection));
    },
    change(id, change, sealed, now = Date.now()) {
      const found = get(id);
      return found && put(changeConnection(found.connection, change, now), sealed ?? found.sealed);
    },
    reseal(id, before, after) {
      sql.exec("UPDATE connection SET sealed = ? WHERE id = ? AND sealed = ?", after, id, before);
    },
    remove(id, now = Date.now()) {
      const found = get(id);
      if (!found) return "unknown";
      const using = `SELECT 1 FROM connection_use LEFT JOIN run ON run.id = run_id WHERE connection_id = ?
        AND COALESCE(status NOT IN ('succeeded', 'failed', 'cancelled'), reserved_at > ?) LIMIT 1`;
      if (rows(using, id, now - CREATION_MS).length > 0) return "in_use";
      sql.exec("DELETE FROM connection WHERE id = ?", id);
      sql.exec("DELETE FROM connection_use WHERE connection_id = ?", id);
      const oldest = "SELECT id FROM connection ORDER BY id LIMIT 1";
      if (found.connection.is_default)
        sql.exec(`UPDATE connection SET is_default = 1 WHERE id = (${oldest})`);
      return "removed";
    },
    reserve(run_id, wanted, now = Date.now()) {
      const found = wanted === null ? getDefault() : get(wanted);
      if (!found) return null;
      const { id } = found.connection;
      sql.exec("INSERT OR REPLACE INTO connection_use VALUES (?, ?, ?)", run_id, id, now);
      return id;
    },
    of(run_id) {
      const join =
        "SELECT connection.* FROM connection JOIN connection_use ON connection_id = id WHERE run_id = ?";
      return first(join, run_id);
    },
    release: (run_id) => void sql.exec("DELETE FROM connection_use WHERE run_id = ?", run_id),
  };
}
