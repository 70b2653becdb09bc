import type { Job } from "../../src/runs/job.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { NewJob } from "./job-state.ts";

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
