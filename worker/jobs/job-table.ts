import type { Job, JobHead } from "../../src/runs/job.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { describeJob } from "../../src/runs/transitions.ts";
import { jobEndKind } from "../../src/runs/webhook-events.ts";
import type { RunIndex } from "../run/run-index.ts";
import { type Sql, whereOf } from "../sql.ts";
import type { ChangeSet } from "../webhooks/delivery.ts";

/** A job in a list, with its tasks as JSON. */
export interface ListedJob {
  head: JobHead;
  tasks: string[];
}

/** The list of one project's jobs. */
export interface JobTable {
  add(head: JobHead, tasks: readonly string[]): void;
  /** Removes a job; its event is removed once it is delivered. */
  remove(id: string): void;
  /** Returns the id of a listed run's job, in an array; empty for a run without one. */
  of(run_id: string): string[];
  list(query: ListQuery): ListPage<ListedJob>;
  /** Returns the change that ends the job of a finished task, when it was the job's last; empty for any other record. */
  endsWith(record: Task | Step): Omit<ChangeSet, "webhook_url">[];
}

type Row = { head: string; tasks: string };

// A row of a Durable Object holds 2 MB: https://developers.cloudflare.com/durable-objects/platform/limits/
const MAX_BYTES = 1_500_000;

const SCHEMA =
  "CREATE TABLE IF NOT EXISTS job (id TEXT PRIMARY KEY, head TEXT NOT NULL, tasks TEXT NOT NULL) WITHOUT ROWID";
const LISTED = "EXISTS (SELECT 1 FROM json_each(job.tasks) AS task JOIN run ON run.id = task.value)";

/** Creates the table of jobs; the index of runs holds their tasks. */
export function createJobTable(sql: Sql, runs: Pick<RunIndex, "get" | "isGone" | "remove">): JobTable {
  sql.exec(SCHEMA);
  return {
    add(head, tasks) {
      const values = [head.id, JSON.stringify(head), JSON.stringify(tasks)];
      sql.exec("INSERT OR REPLACE INTO job (id, head, tasks) VALUES (?, ?, ?)", ...values);
    },
    remove(id) {
      sql.exec("DELETE FROM job WHERE id = ?", id);
      runs.remove(id);
    },
    of(run_id) {
      const task: Partial<Task> = JSON.parse(runs.get(run_id) ?? "{}");
      return task.job ? [task.job.id] : [];
    },
    list(query) {
      const { where, values, ascending, toPage } = whereOf(query);
      const text = `SELECT head, tasks FROM job WHERE ${[LISTED, ...where].join(" AND ")}
        ORDER BY id ${ascending ? "ASC" : "DESC"} LIMIT ?`;
      const rows = [...sql.exec<Row>(text, ...values, query.limit + 1)];
      const { records, more } = toPage(rows);
      return {
        more,
        records: records.map(({ head, tasks }) => ({ head: JSON.parse(head), tasks: tasksOf(tasks) })),
      };
    },
    endsWith(record) {
      const id = record.object === "task" ? record.job?.id : undefined;
      const rows = id === undefined ? [] : sql.exec<Row>("SELECT head, tasks FROM job WHERE id = ?", id);
      return [...rows].flatMap(({ head, tasks }) => {
        const ids: string[] = JSON.parse(tasks);
        const taskRecords = tasksOf(tasks).map((text): Task => JSON.parse(text));
        if (taskRecords.length < ids.filter((each) => !runs.isGone(each)).length) return [];
        const job = describeJob(JSON.parse(head), taskRecords);
        const kind = jobEndKind(job);
        if (kind === null) return [];
        return [
          {
            run_id: job.id,
            changes: [{ version: 1, kind, at: job.updated_at, record: recordOf(job) }],
          },
        ];
      });
    },
  };

  function tasksOf(ids: string): string[] {
    return (JSON.parse(ids) as string[]).flatMap((id) => runs.get(id) ?? []);
  }
}

function recordOf(job: Job): string {
  const whole = JSON.stringify(job);
  if (new TextEncoder().encode(whole).length <= MAX_BYTES) return whole;
  return JSON.stringify({ ...job, tasks: job.tasks.map((task) => ({ ...task, steps: [] })) });
}
