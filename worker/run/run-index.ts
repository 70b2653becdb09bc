import type { ListPage, ListQuery } from "../../src/core/lists.ts";
import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import { whereOf } from "../list-sql.ts";
import type { Sql } from "../sql.ts";

// An index for each way to ask, so that a page costs its own rows however many others there are. The records, of some
// KB each, lie in a table with row ids: in the tree of a key they would leave it four rows a page, and a list took ten
// times as long. A new record writes six rows, a change of state three.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS run (
    id TEXT PRIMARY KEY, object TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
    version INTEGER NOT NULL, record TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS run_object ON run (object, id);
  CREATE INDEX IF NOT EXISTS run_status ON run (object, status, id);
  CREATE INDEX IF NOT EXISTS run_kind ON run (object, kind, id);
  CREATE INDEX IF NOT EXISTS run_kind_status ON run (object, kind, status, id);
  CREATE TABLE IF NOT EXISTS parent (step_id TEXT PRIMARY KEY, task_id TEXT NOT NULL) WITHOUT ROWID;
`;
// An earlier version kept the records in the tree of their key.
const EARLIER = "SELECT name FROM sqlite_master WHERE name = 'run' AND sql LIKE '%WITHOUT ROWID%'";
const MOVE = [
  "ALTER TABLE run RENAME TO earlier_run",
  "DROP INDEX run_status",
  SCHEMA,
  "INSERT INTO run SELECT id, object, kind, status, version, record FROM earlier_run ORDER BY id",
  "DROP TABLE earlier_run",
];

/** The tasks and standalone steps of one project, to be listed. */
export interface RunIndex {
  /** Adds a record or replaces an older version of it; false when it is there in that version or a newer one. */
  put(record: Task | Step, version: number): boolean;
  remove(id: string): void;
  /** Returns the id of the task that a step belongs to; null for an unknown step. */
  parentOf(step_id: string): string | null;
  /** Returns a page of records as JSON texts, in the requested order. */
  list(object: "task" | "step", query: ListQuery): ListPage<string>;
}

/** Keeps the index in SQLite. */
export function createRunIndex(sql: Sql): RunIndex {
  const earlier = [...sql.exec(EARLIER)].length > 0;
  for (const text of earlier ? MOVE : [SCHEMA]) sql.exec(text);
  return {
    put(record, version) {
      const { id, object, kind, status } = record;
      const rows = sql.exec<{ version: number }>("SELECT version FROM run WHERE id = ?", id);
      const found = [...rows][0];
      if (found && found.version >= version) return false;
      const text = JSON.stringify(record);
      if (found) {
        // Indices without the status stay as they are.
        sql.exec(
          "UPDATE run SET status = ?, version = ?, record = ? WHERE id = ?",
          status,
          version,
          text,
          id,
        );
        return true;
      }
      const columns = "(id, object, kind, status, version, record)";
      const values = [id, object, kind, status, version, text];
      sql.exec(`INSERT INTO run ${columns} VALUES (?, ?, ?, ?, ?, ?)`, ...values);
      for (const step of stepsOf(record)) {
        sql.exec("INSERT OR REPLACE INTO parent (step_id, task_id) VALUES (?, ?)", step.id, id);
      }
      return true;
    },
    remove(id) {
      for (const { record } of sql.exec<{ record: string }>("SELECT record FROM run WHERE id = ?", id)) {
        // By their own ids: nothing leads from a task to them but its record.
        for (const step of stepsOf(JSON.parse(record)))
          sql.exec("DELETE FROM parent WHERE step_id = ?", step.id);
      }
      sql.exec("DELETE FROM run WHERE id = ?", id);
    },
    parentOf(step_id) {
      const rows = sql.exec<{ task_id: string }>("SELECT task_id FROM parent WHERE step_id = ?", step_id);
      return [...rows][0]?.task_id ?? null;
    },
    list(object, query) {
      const { where, values, ascending, turn } = whereOf(query);
      const conditions = ["object = ?", ...where].join(" AND ");
      const text = `SELECT record FROM run WHERE ${conditions} ORDER BY id ${ascending ? "ASC" : "DESC"} LIMIT ?`;
      const rows = sql.exec<{ record: string }>(text, object, ...values, query.limit + 1);
      return turn([...rows].map(({ record }) => record));
    },
  };
}

function stepsOf(record: Task | Step): readonly Step[] {
  return record.object === "task" ? record.steps : [];
}
