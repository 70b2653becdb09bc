import { toMediaError } from "../core/errors.ts";
import type { EncodeKind } from "../core/formats.ts";
import type { Job as JobRecord } from "../core/jobs/job.ts";
import type { Client, CreateOptions, EachOptions, ListOptions, NewTask, Page } from "./client.ts";
import type { AnyMedia } from "./read-media.ts";
import type { Task } from "./records.ts";

/** Several outputs of one input: a task for each, in the order of the request. Field names are those of the HTTP API. */
export type Job = Omit<JobRecord, "tasks"> & { tasks: Task[] };

/** One output of a new job: the request for a task, less its input. */
export type NewOutput<K extends EncodeKind = EncodeKind> = K extends EncodeKind
  ? Omit<NewTask<K>, "input" | "webhook_url"> & {
      /** A name of your choice, unique within the job. */
      name?: string;
      /** Name, or index from 0, of the output whose file this one reads in place of the job's input. */
      after?: string | number;
    }
  : never;

/** The request for a new job. */
export interface NewJob {
  input: AnyMedia;
  /** From 1 to 10. */
  outputs: readonly NewOutput[];
  /** URL to which a service posts the events of every task. */
  webhook_url?: string;
}

/** Jobs: several outputs of one input, which is read once. Every method rejects with a `MediaError`. */
export interface Jobs {
  /**
   * Creates a task for each output, all of them or none.
   *
   * @example
   * const job = await client.jobs.create({
   *   input: "https://example.com/clip.mov",
   *   outputs: [{ kind: "video", options: { height: 720 } }, { kind: "image", options: { start: 2 } }],
   * });
   */
  create(request: NewJob, options?: CreateOptions): Promise<Job>;
  get(id: string): Promise<Job>;
  list(options?: Omit<ListOptions, "status" | "kind">): Promise<Page<Job>>;
  /** Iterates over all jobs; fetches a page at a time, as they are consumed. */
  each(options?: Omit<EachOptions, "status" | "kind">): AsyncGenerator<Job, void>;
  /** Resolves to the job once all its tasks are finished, whatever their status; rejects with the signal's reason on abort, while they continue. */
  wait(job: Pick<Job, "id"> | string, options?: { signal?: AbortSignal }): Promise<Job>;
  /** Cancels every task that is not finished; rejects with `job_finished` when there is none. */
  cancel(id: string): Promise<Job>;
  /** Removes a finished job with its tasks and their outputs; rejects with `job_running` while one runs. */
  delete(id: string): Promise<void>;
}

/** Implements {@link Jobs.wait} with the other methods. */
export async function waitForJob(
  { tasks, get }: { tasks: Pick<Client["tasks"], "wait">; get: Jobs["get"] },
  job: Pick<Job, "id"> | string,
  options?: { signal?: AbortSignal },
): Promise<Job> {
  const { id } = typeof job === "string" ? { id: job } : job;
  const waits = (await get(id)).tasks.map(async (task) => {
    await tasks.wait(task.id, options).catch((thrown) => {
      if (toMediaError(thrown).kind !== "task_not_found") throw thrown;
    });
  });
  await Promise.all(waits);
  return get(id);
}
