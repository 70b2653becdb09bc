import type { JobHead } from "../../src/core/jobs/job.ts";
import type { ListPage, ListQuery } from "../../src/core/lists.ts";
import { whereOf } from "../list-sql.ts";
import type { RunIndex } from "../run/run-index.ts";
import type { Sql } from "../sql.ts";

/** A job as lists have it: its tasks as JSON. */
export interface ListedJob {
  head: JobHead;
  tasks: string[];
}

/** The jobs of one project, to be listed. */
export interface JobTable {
  add(head: JobHead, tasks: readonly string[]): void;
  remove(id: string): void;
  list(query: ListQuery): ListPage<ListedJob>;
}

const SCHEMA =
  "CREATE TABLE IF NOT EXISTS job (id TEXT PRIMARY KEY, head TEXT NOT NULL, tasks TEXT NOT NULL) WITHOUT ROWID";
// Before its tasks are created, and after they were deleted or moved to the archive, nothing is known of how a job stands.
const LISTED = "EXISTS (SELECT 1 FROM json_each(job.tasks) AS task JOIN run ON run.id = task.value)";

/** Creates the table of jobs beside the index of runs, which has the tasks. */
export function createJobTable(sql: Sql, runs: Pick<RunIndex, "get">): JobTable {
  sql.exec(SCHEMA);
  return {
    add(head, tasks) {
      const values = [head.id, JSON.stringify(head), JSON.stringify(tasks)];
      sql.exec("INSERT OR REPLACE INTO job (id, head, tasks) VALUES (?, ?, ?)", ...values);
    },
    remove: (id) => void sql.exec("DELETE FROM job WHERE id = ?", id),
    list(query) {
      const { where, values, ascending, turn } = whereOf(query);
      const text = `SELECT head, tasks FROM job WHERE ${[LISTED, ...where].join(" AND ")}
        ORDER BY id ${ascending ? "ASC" : "DESC"} LIMIT ?`;
      const rows = [...sql.exec<{ head: string; tasks: string }>(text, ...values, query.limit + 1)];
      const { records, more } = turn(rows);
      return {
        more,
        records: records.map(({ head, tasks }) => ({ head: JSON.parse(head), tasks: tasksOf(tasks) })),
      };
    },
  };

  function tasksOf(ids: string): string[] {
    return (JSON.parse(ids) as string[]).flatMap((id) => runs.get(id) ?? []);
  }
}
