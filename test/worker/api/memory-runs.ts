import { MediaError } from "../../../src/media/errors.ts";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { applyToStep, applyToTask, isFinished, type RunEvent } from "../../../src/runs/transitions.ts";
import { createChanges, streamEvents, writeEvent } from "../../../worker/run/events.ts";
import type { FindStep, Runs } from "../../../worker/run/runs.ts";

/** In-memory runs, which advance only when a test reports an event. */
export interface MemoryRuns<T extends Task | Step> extends Runs<T> {
  report(id: string, event: RunEvent): void;
  /** Returns a record of any project, or null. */
  find(id: string): T | null;
}

/** Keeps records of one type as the engine does, without running anything. */
export function createMemoryRuns<T extends Task | Step>(object: T["object"]): MemoryRuns<T> {
  const rows = new Map<string, { project: string; record: T; webhook_url: string | null }>();
  const change = (id: string, event: RunEvent): T => {
    const row = rows.get(id);
    if (!row) throw new Error(`no ${id}`);
    const { record } = row;
    const apply = record.object === "task" ? applyToTask(record, event, 5) : applyToStep(record, event, 5);
    row.record = apply as T;
    return row.record;
  };
  const find = (project: string, id: string): T => {
    const row = rows.get(id);
    if (row?.project !== project) throw new MediaError(`${object}_not_found`, `There is no ${object} ${id}.`);
    return row.record;
  };
  return {
    report: change,
    find: (id) => rows.get(id)?.record ?? null,
    async create(project, record, { webhook_url }) {
      rows.set(record.id, { project, record, webhook_url: webhook_url ?? null });
      return record;
    },
    webhookUrl: async (_, id) => rows.get(id)?.webhook_url ?? null,
    sealedKey: async () => null,
    async get(project, id) {
      const row = rows.get(id);
      return row?.project === project ? row.record : null;
    },
    async read(project, id) {
      const row = rows.get(id);
      return row?.project === project ? JSON.stringify(row.record) : null;
    },
    async follow(project, id, seen) {
      const row = rows.get(id);
      if (row?.project !== project) return null;
      if (isFinished(row.record) && row.record.updated_at <= seen) return "over";
      const latest = () => writeEvent({ version: row.record.updated_at, record: row.record });
      return streamEvents(latest, createChanges(), seen);
    },
    async list(project, { limit, order, after, before, status, kind }) {
      const sign = order === "asc" ? 1 : -1;
      const compare = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0);
      const all = [...rows.values()]
        .filter((row) => row.project === project)
        .map((row) => row.record)
        .filter(
          (each) => (status === undefined || each.status === status) && (kind ?? each.kind) === each.kind,
        )
        .filter((each) => after === undefined || compare(each.id, after) > 0)
        .filter((each) => before === undefined || compare(each.id, before) < 0)
        .toSorted((a, b) => compare(a.id, b.id));
      const records = before === undefined ? all.slice(0, limit) : all.slice(-limit);
      return { records, more: all.length > limit };
    },
    async cancel(project, id) {
      if (isFinished(find(project, id))) throw new MediaError(`${object}_finished`, "It is finished.");
      return change(id, { type: "cancelled" });
    },
    async delete(project, id) {
      if (!isFinished(find(project, id))) throw new MediaError(`${object}_running`, "It still runs.");
      rows.delete(id);
    },
  };
}

/** Finds a step among standalone ones and those of tasks. */
export function createMemoryFindStep(tasks: MemoryRuns<Task>, steps: MemoryRuns<Step>): FindStep {
  return async (project, id) => {
    const alone = await steps.get(project, id);
    if (alone) return { step: alone, task_id: null };
    const page = await tasks.list(project, { limit: 1000, order: "asc" });
    for (const task of page.records) {
      const step = task.steps.find((each) => each.id === id);
      if (step) return { step, task_id: task.id };
    }
    return null;
  };
}
