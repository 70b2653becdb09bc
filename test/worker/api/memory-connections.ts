import { DatabaseSync } from "node:sqlite";
import {
  type ConnectionHome,
  type Connections,
  type ConnectionTable,
  createConnections,
  createConnectionTable,
} from "../../../worker/connections/connections.ts";
import { createSeal } from "../../../worker/connections/seal.ts";
import {
  createIdempotencyTable,
  type Idempotency,
  type IdempotencyTable,
} from "../../../worker/http/idempotency.ts";
import type { Sql } from "../../../worker/sql.ts";
import { asRemote } from "./as-remote.ts";

/** Keeps connections as the service does, with an in-memory SQLite per project. */
export function createMemoryConnections(): Connections {
  const tables = new Map<string, ConnectionTable>();
  const tableOf = (project: string) => {
    const table = tables.get(project) ?? createMemoryTable();
    tables.set(project, table);
    return table;
  };
  return createConnections(
    (project) => createMemoryHome(tableOf(project)),
    createSeal(["a secret of the tests"]),
  );
}

/** Makes a table answer as a ProjectObject does. */
export function createMemoryHome(table: ConnectionTable): ConnectionHome {
  return { connections: asRemote(table) };
}

/** Builds a connection table over an in-memory SQLite, with the run table that it reads. */
export function createMemoryTable(): ConnectionTable {
  const sql = createMemorySql();
  sql.exec("CREATE TABLE run (id TEXT PRIMARY KEY, status TEXT NOT NULL)");
  return createConnectionTable(sql);
}

/** Keeps requests by their keys, with an in-memory SQLite per project. */
export function createMemoryIdempotency(): Idempotency {
  const tables = new Map<string, IdempotencyTable>();
  const tableOf = (project: string) => {
    const table = tables.get(project) ?? createIdempotencyTable(createMemorySql());
    tables.set(project, table);
    return table;
  };
  return {
    begin: async (project, key, digest, id) => tableOf(project).begin(key, digest, id, Date.now()),
    end: async (project, key, ended) => tableOf(project).end(key, ended),
  };
}

export function createMemorySql(): Sql {
  const database = new DatabaseSync(":memory:");
  return {
    exec<T>(text: string, ...values: (string | number | null)[]): Iterable<T> {
      // A prepared statement holds one statement only, and a schema has several.
      if (values.length === 0 && /^\s*CREATE/.test(text)) {
        database.exec(text);
        return [];
      }
      return database.prepare(text).all(...values) as T[];
    },
  };
}
