import { DurableObject } from "cloudflare:workers";
import type { ListPage, ListQuery } from "../src/core/lists.ts";
import type { Step } from "../src/core/step.ts";
import type { Task } from "../src/core/task.ts";
import type { Env } from "./env.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS run (
    id TEXT PRIMARY KEY, object TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
    version INTEGER NOT NULL, record TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS run_status ON run (object, status, id);
  CREATE TABLE IF NOT EXISTS parent (step_id TEXT PRIMARY KEY, task_id TEXT NOT NULL) WITHOUT ROWID;
`;

/**
 * The index of one project: a row for each of its tasks and standalone steps, which lists are read from.
 * KV cannot be that index: its lists lag by up to a minute, sort one way only and filter by nothing.
 */
export class ProjectObject extends DurableObject<Env> {
  readonly #sql = this.ctx.storage.sql;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql.exec(SCHEMA);
  }

  /** Adds a record or replaces an older version of it. */
  put(record: Task | Step, version: number): void {
    const { id, object, kind, status } = record;
    const found = [...this.#sql.exec<{ version: number }>("SELECT version FROM run WHERE id = ?", id)][0];
    if (found && found.version >= version) return;
    this.#sql.exec(
      "INSERT OR REPLACE INTO run (id, object, kind, status, version, record) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      object,
      kind,
      status,
      version,
      JSON.stringify(record),
    );
    if (found || record.object === "step") return;
    for (const step of record.steps) {
      this.#sql.exec("INSERT OR REPLACE INTO parent (step_id, task_id) VALUES (?, ?)", step.id, id);
    }
  }

  /** Removes a record. */
  remove(id: string): void {
    this.#sql.exec("DELETE FROM run WHERE id = ?", id);
    this.#sql.exec("DELETE FROM parent WHERE task_id = ?", id);
  }

  /** Gives the id of the task that a step belongs to; null for an unknown step. */
  parentOf(step_id: string): string | null {
    const rows = this.#sql.exec<{ task_id: string }>("SELECT task_id FROM parent WHERE step_id = ?", step_id);
    return [...rows][0]?.task_id ?? null;
  }

  /** Gives a page of records as JSON texts, in the order asked for. */
  list(object: "task" | "step", query: ListQuery): ListPage<string> {
    const { limit, order, after, before, status, kind } = query;
    const where = ["object = ?"];
    const values: (string | number)[] = [object];
    const add = (condition: string, value: string | undefined) => {
      if (value === undefined) return;
      where.push(condition);
      values.push(value);
    };
    add("status = ?", status);
    add("kind = ?", kind);
    add(order === "desc" ? "id < ?" : "id > ?", after);
    add(order === "desc" ? "id > ?" : "id < ?", before);
    // A page before a cursor is the one that touches it, so it is read away from the cursor and turned round.
    const backwards = before !== undefined && after === undefined;
    const ascending = (order === "asc") !== backwards;
    const sql = `SELECT record FROM run WHERE ${where.join(" AND ")} ORDER BY id ${ascending ? "ASC" : "DESC"} LIMIT ?`;
    const rows = [...this.#sql.exec<{ record: string }>(sql, ...values, limit + 1)].map((row) => row.record);
    const page = rows.slice(0, limit);
    return { records: backwards ? page.reverse() : page, more: rows.length > limit };
  }
}
