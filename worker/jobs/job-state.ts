import type { EncodeRequest } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import type { Job, JobHead } from "../../src/runs/job.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { Task } from "../../src/runs/task.ts";
import { releaseAfter, type TaskEnd } from "../../src/runs/transitions.ts";
import type { Pin } from "../../src/storage/pinned.ts";
import type { RunSetup } from "../run/runs.ts";
import { CLEANUPS_MS } from "../run/schedule.ts";

/** A job to create. */
export interface NewJob {
  project: string;
  head: JobHead;
  tasks: Task[];
  /** The context that its tasks are created with. */
  made: RunSetup;
  /** The sealed keys that encrypt the outputs, by task id. */
  keys: Record<string, string>;
}

/** The stored state of a job's task. */
export interface JobTask {
  id: string;
  /** The task whose output it waits for; null for none. */
  after: string | null;
  /** The encode request, for a task that reads the shared input. */
  wanted?: EncodeRequest;
  /** Whether the task may run, or has failed because its input never came. */
  released: boolean;
  ended: TaskEnd | null;
  /** URL of its output, once it succeeded. */
  output: string | null;
}

/** The stored state of a job. */
export interface JobState {
  project: string;
  base: string;
  head: JobHead;
  /**
   * `creating` until all tasks exist; `withdrawn` while the tasks of a job that could not be listed are removed; `deleted` while files
   * that its tasks may still write are cleared.
   */
  phase: "creating" | "stands" | "cancelled" | "withdrawn" | "deleted";
  /** The data to create the tasks; null once they exist. */
  creating: Pick<NewJob, "tasks" | "made" | "keys"> | null;
  tasks: JobTask[];
  /** The version of the shared input that the tasks read; null until pinned. */
  pin: Pin | null;
  /** The probed input; null until probed. */
  source: Source | null;
  /** How often the unfinished tasks were polled since a task last ended. */
  asked: number;
  /** How often the shared input was cleared since all tasks ended. */
  cleared: number;
}

/** Returns the state of a new job. */
export function startJob({ project, head, tasks, made, keys }: NewJob): JobState {
  return {
    project,
    head,
    base: made.base,
    phase: "creating",
    creating: { tasks, made, keys },
    tasks: tasks.map(({ id, kind, options, job }) => ({
      id,
      after: job?.after ?? null,
      released: false,
      ended: null,
      output: null,
      ...(job?.after === undefined && { wanted: { kind, options } as EncodeRequest }),
    })),
    pin: null,
    source: null,
    asked: 0,
    cleared: 0,
  };
}

/** The end of a task's wait: it runs with its input (null leaves that unchanged), or fails because the task before it did not succeed. */
export type Release =
  | { id: string; input: string | null }
  | { id: string; after: string; ended: Exclude<TaskEnd, "succeeded"> };

/** Returns the releases of the tasks whose wait is over. */
export function releasesOf({ phase, tasks }: JobState): Release[] {
  if (phase !== "stands") return [];
  return tasks.flatMap(({ id, after, released, ended }): Release[] => {
    if (released || ended) return [];
    if (after === null) return [{ id, input: null }];
    const release = releaseAfter(tasks.find((task) => task.id === after));
    return release ? [{ ...release, id, after }] : [];
  });
}

/** Whether the job exists for callers: it was neither withdrawn nor deleted. */
export function isThere({ phase }: JobState): boolean {
  return phase !== "withdrawn" && phase !== "deleted";
}

/** Whether the job's storage can be freed: its tasks are deleted, and the files of a deleted job were cleared often enough. */
export function isDone({ phase, tasks, cleared }: JobState): boolean {
  if (phase === "deleted") return cleared >= CLEANUPS_MS.length;
  return tasks.every(({ ended }) => ended === "deleted");
}

/** Returns the tasks that are not over. */
export function running({ tasks }: JobState): JobTask[] {
  return tasks.filter(({ ended }) => !ended);
}

/** Whether all tasks are over. */
export function isOver({ phase, tasks }: JobState): boolean {
  return phase !== "creating" && tasks.every(({ ended }) => ended !== null);
}

/** The jobs, each in its project. Ids of other projects are unknown. */
export interface Jobs {
  /** Stores a job and all its tasks, or nothing. */
  create(job: NewJob): Promise<Job>;
  get(project: string, id: string): Promise<Job | null>;
  list(project: string, query: ListQuery): Promise<ListPage<Job>>;
  /** Streams a job and its changes as server-sent events; `over` if it is finished and `lastVersion` is not 0, null for an unknown job. */
  follow(
    project: string,
    id: string,
    lastVersion: number,
  ): Promise<ReadableStream<Uint8Array> | "over" | null>;
  /** Cancels the tasks that run or wait; rejects with `job_not_found` or `job_finished`. */
  cancel(project: string, id: string): Promise<Job>;
  /** Removes the job, its tasks and their outputs; rejects with `job_not_found`, or `job_running` while one runs. */
  delete(project: string, id: string): Promise<void>;
}
