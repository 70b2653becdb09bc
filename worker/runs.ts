import type { ListPage, ListQuery } from "../src/core/lists.ts";
import type { Step } from "../src/core/step.ts";
import type { Task } from "../src/core/task.ts";

/** What runs: tasks, or standalone steps, each in its project. An id of another project is as good as unknown. */
export interface Runs<T extends Task | Step> {
  /** Stores the new record and starts its run; the URLs that the run gives out begin with `base`, such as `https://media.example`. */
  create(project: string, record: T, base: string): Promise<T>;
  get(project: string, id: string): Promise<T | null>;
  list(project: string, query: ListQuery): Promise<ListPage<T>>;
  /** Stops the work and gives the cancelled record; rejects with `task_not_found`/`step_not_found` or `task_finished`/`step_finished`. */
  cancel(project: string, id: string): Promise<T>;
  /** Removes the record and its output; rejects with not found, or `task_running` while it runs. */
  delete(project: string, id: string): Promise<void>;
}

/** A step and, where it belongs to one, its task. */
export interface FoundStep {
  step: Step;
  task_id: string | null;
}

/** Finds a step by its id, standing alone or inside a task; null when the project has none. */
export type FindStep = (project: string, id: string) => Promise<FoundStep | null>;
