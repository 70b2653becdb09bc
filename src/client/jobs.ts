import { toMediaError } from "../media/errors.ts";
import type { EncodeKind } from "../media/formats.ts";
import type { Job as JobRecord, JobUpdate as JobUpdateRecord } from "../runs/job.ts";
import type { AnyMedia } from "./media-input.ts";
import { followJob } from "./progress.ts";
import type { CreateOptions, EachOptions, ListOptions, NewTask, Page, ReadOptions, Task } from "./records.ts";
import type { Update } from "./update.ts";

/** Several outputs of one input: a task for each, in the order of the request. Field names are those of the HTTP API. */
export type Job = Omit<JobRecord, "tasks"> & {
  /** A task for each output, in the order of the request. */
  tasks: Task[];
};

/** One output of a new job: the request for a task, without its input. */
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
  /** The media from which every output is made, except those that name another output by `after`. */
  input: AnyMedia;
  /** The outputs to make, 1 to 10. */
  outputs: readonly NewOutput[];
  /** URL to which a service posts the events of every task; the local client refuses it. */
  webhook_url?: string;
}

/** A change of a job. */
export interface JobUpdate extends Omit<JobUpdateRecord, "record"> {
  /** The job after the change. */
  record: Job;
  /** Percentage of the whole job, 0 to 100; null until it can be measured. */
  progress: number | null;
  /** Seconds until the last task ends; null until the estimate of every unfinished task is known. */
  eta: number | null;
}

/** Jobs: several outputs of one input, which is read once. Every method rejects with a `MediaError`. */
export interface Jobs {
  /**
   * Creates a task for each output, all of them or none. Each task can be followed, cancelled, retried and deleted by its id.
   *
   * @throws `request_invalid` or the error of a task's request, with a `param` such as `outputs.0.options.fps`.
   * @example
   * const job = await client.jobs.create({
   *   input: file,
   *   outputs: [
   *     { name: "small", kind: "video", options: { height: 720 } },
   *     { kind: "image", options: { start: 2 }, after: "small" },
   *   ],
   * });
   */
  create(request: NewJob, options?: CreateOptions): Promise<Job>;
  /**
   * Returns a job with the current state of its tasks; rejects with `job_not_found`.
   *
   * @example const { status, tasks } = await client.jobs.get(id);
   */
  get(id: string, options?: ReadOptions): Promise<Job>;
  /**
   * Lists a page of jobs, the newest first. A job is listed as long as one of its tasks is.
   *
   * @example const { records, more } = await client.jobs.list({ limit: 5 });
   */
  list(options?: Omit<ListOptions, "status" | "kind">): Promise<Page<Job>>;
  /**
   * Iterates over all jobs; fetches a page at a time, as they are consumed.
   *
   * @example for await (const { id, status } of client.jobs.each()) console.log(id, status);
   */
  each(options?: Omit<EachOptions, "status" | "kind">): AsyncGenerator<Job, void>;
  /**
   * Resolves to the job once all its tasks are finished, whatever their status; rejects with the signal's reason on abort, while
   * they continue.
   *
   * @example for (const { kind, status } of (await client.jobs.wait(job)).tasks) console.log(kind, status);
   */
  wait(job: Pick<Job, "id"> | string, options?: { signal?: AbortSignal }): Promise<Job>;
  /**
   * Yields the current state of a job, then its changes, at most about one a second, ending with the finished job. Rejects with
   * `job_not_found`, and with the signal's reason on abort.
   *
   * @example for await (const { progress, eta } of client.jobs.watch(job)) console.log(progress, eta);
   */
  watch(job: Pick<Job, "id"> | string, options?: { signal?: AbortSignal }): AsyncGenerator<JobUpdate, void>;
  /**
   * Cancels every unfinished task; rejects with `job_finished` when there is none.
   *
   * @example const { status } = await client.jobs.cancel(job.id);
   */
  cancel(id: string): Promise<Job>;
  /**
   * Removes a finished job with its tasks and their outputs; rejects with `job_running` while a task runs.
   *
   * @example await client.jobs.delete(job.id);
   */
  delete(id: string): Promise<void>;
}

/** Implements {@link Jobs.watch} with the other methods. */
export async function* watchJob(
  get: Jobs["get"],
  watchTask: (id: string, options: { signal: AbortSignal }) => AsyncIterable<Update<Task>>,
  job: Pick<Job, "id"> | string,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<JobUpdate, void> {
  signal?.throwIfAborted();
  const record = await get(typeof job === "string" ? job : job.id);
  const updates = followJob(record, (task, over) => {
    return watchTask(task.id, { signal: signal ? AbortSignal.any([signal, over]) : over });
  });
  for await (const update of updates) {
    signal?.throwIfAborted();
    yield update as JobUpdate;
  }
}

/** Implements {@link Jobs.wait} with the other methods. */
export async function waitForJob(
  waitForTask: (id: string, options?: { signal?: AbortSignal }) => Promise<unknown>,
  get: Jobs["get"],
  job: Pick<Job, "id"> | string,
  options?: { signal?: AbortSignal },
): Promise<Job> {
  const { id } = typeof job === "string" ? { id: job } : job;
  const waits = (await get(id)).tasks.map(async (task) => {
    await waitForTask(task.id, options).catch((thrown) => {
      if (toMediaError(thrown).kind !== "task_not_found") throw thrown;
    });
  });
  await Promise.all(waits);
  return get(id);
}
