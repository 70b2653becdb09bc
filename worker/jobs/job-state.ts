import type { EncodeRequest } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import { type Job, type JobHead, releaseAfter, type TaskEnd } from "../../src/runs/job.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { Task } from "../../src/runs/task.ts";
import type { Pin } from "../../src/storage/pinned.ts";
import type { Made } from "../run/runs.ts";
import { CLEANUPS_MS } from "../run/schedule.ts";

/** What a job is created with. */
export interface NewJob {
  project: string;
  head: JobHead;
  tasks: Task[];
  made: Made;
  /** The sealed keys to encrypt outputs by, by the ids of their tasks. */
  keys: Record<string, string>;
}

/** A task of a job, as its job follows it. */
export interface JobTask {
  id: string;
  /** The task whose output it waits for. */
  after: string | null;
  /** What it makes of the shared input; absent where it reads another. */
  wanted?: EncodeRequest;
  /** True once it may run, or has failed because it never will. */
  released: boolean;
  ended: TaskEnd | null;
  /** Where its output is, once it succeeded. */
  output: string | null;
}

/** The stored state of a job. */
export interface JobState {
  project: string;
  base: string;
  head: JobHead;
  /**
   * `creating` until all tasks exist; `withdrawn` while those of a job that was refused are being removed; `deleted` while what
   * its tasks may still write is cleared.
   */
  phase: "creating" | "stands" | "cancelled" | "withdrawn" | "deleted";
  /** What it takes to create the tasks; null once they exist. */
  creating: Pick<NewJob, "tasks" | "made" | "keys"> | null;
  tasks: JobTask[];
  /** The version at which the input is read. */
  pin: Pin | null;
  /** The probed input. */
  source: Source | null;
  /** How often the unfinished tasks were asked since the last one ended, and how often the shared input was cleared after all. */
  asked: number;
  cleared: number;
}

/** Returns the state of a new job. */
export function startJob({ project, head, tasks, made, keys }: NewJob): JobState {
  return {
    ...{ project, head, base: made.base, phase: "creating", creating: { tasks, made, keys } },
    tasks: tasks.map(({ id, kind, options, job }) => ({
      ...{ id, after: job?.after ?? null, released: false, ended: null, output: null },
      ...(job?.after === undefined && { wanted: { kind, options } as EncodeRequest }),
    })),
    ...{ pin: null, source: null, asked: 0, cleared: 0 },
  };
}

/** The end of a wait: the task runs, with its input, or fails by how the one before it ended. */
export type Release =
  | { id: string; input: string | null }
  | { id: string; after: string; ended: Exclude<TaskEnd, "succeeded"> };

/** Returns the tasks whose waiting is over. */
export function releasesOf({ phase, tasks }: JobState): Release[] {
  if (phase !== "stands") return [];
  return tasks.flatMap(({ id, after, released, ended }): Release[] => {
    if (released || ended) return [];
    if (after === null) return [{ id, input: null }];
    const release = releaseAfter(tasks.find((task) => task.id === after));
    return release ? [{ ...release, id, after }] : [];
  });
}

/** Whether the job can be read: not one that was refused or deleted. */
export function isThere({ phase }: JobState): boolean {
  return phase !== "withdrawn" && phase !== "deleted";
}

/** Whether nothing of the job need stay: its tasks are deleted, or its files were cleared often enough after that. */
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
  /** Stores a job and its tasks, all or nothing. */
  create(job: NewJob): Promise<Job>;
  get(project: string, id: string): Promise<Job | null>;
  list(project: string, query: ListQuery): Promise<ListPage<Job>>;
  /** Streams a job and its changes as server-sent events; `over` once it is finished and `seen` is not 0, null for an unknown one. */
  follow(project: string, id: string, seen: number): Promise<ReadableStream<Uint8Array> | "over" | null>;
  /** Cancels what still runs or waits; rejects with `job_not_found` or `job_finished`. */
  cancel(project: string, id: string): Promise<Job>;
  /** Removes the job, its tasks and their outputs; rejects with `job_not_found`, or `job_running` while one runs. */
  delete(project: string, id: string): Promise<void>;
}
