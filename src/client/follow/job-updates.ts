import { MediaError, toMediaError } from "../../core/errors.ts";
import { describeJob } from "../../core/jobs/describe-job.ts";
import type { Job } from "../../core/jobs/job.ts";
import type { JobUpdate } from "../../core/jobs/job-update.ts";
import type { Task } from "../../core/task.ts";
import { isFinished } from "../../core/transitions.ts";
import type { Update } from "../update.ts";
import { progressOf } from "./progress.ts";

type Progress = Pick<Update<Task>, "record" | "progress" | "eta">;

/**
 * Yields how a job stands, and again whenever one of its tasks changes, until all are finished; a slow consumer skips to the
 * newest. `updatesOf` returns the updates of a task, until the signal aborts. Rejects as they do, but for a task that is deleted,
 * which the job then lacks.
 */
export async function* followJob(
  job: Job,
  updatesOf: (task: Task, signal: AbortSignal) => AsyncIterable<Progress>,
): AsyncGenerator<JobUpdate, void> {
  const over = new AbortController();
  const latest = new Map<string, Progress>();
  for (const record of job.tasks) latest.set(record.id, { record, progress: progressOf(record), eta: null });
  let news = Promise.withResolvers<void>();
  let failure: { thrown: unknown } | null = null;
  let followed = 0;
  async function follow(task: Task): Promise<void> {
    followed++;
    try {
      for await (const update of updatesOf(task, over.signal)) {
        latest.set(task.id, update);
        news.resolve();
      }
    } catch (thrown) {
      if (toMediaError(thrown).kind === "task_not_found") latest.delete(task.id);
      else failure ??= { thrown };
    }
    followed--;
    news.resolve();
  }
  for (const task of job.tasks) if (!isFinished(task)) void follow(task);
  try {
    for (;;) {
      const update = updateOfJob(job, [...latest.values()]);
      yield update;
      if (isFinished(update.record)) return;
      await news.promise;
      news = Promise.withResolvers();
      if (failure) throw (failure as { thrown: unknown }).thrown;
      if (latest.size === 0) throw new MediaError("job_not_found", `There is no job ${job.id} any more.`);
      if (followed === 0 && ![...latest.values()].every(({ record }) => isFinished(record))) return;
    }
  } finally {
    over.abort();
  }
}

function updateOfJob(job: Job, tasks: readonly Progress[]): JobUpdate {
  const records = tasks.map(({ record }) => record);
  const done = tasks.map(({ record, progress }) => (isFinished(record) ? 100 : progress));
  const open = tasks.filter(({ record }) => !isFinished(record)).map(({ eta }) => eta);
  const known = done.some((each) => each !== null);
  const sum = done.reduce<number>((all, each) => all + (each ?? 0), 0);
  return {
    record: describeJob(job, records),
    progress: known ? Math.floor(sum / Math.max(1, done.length)) : null,
    eta: open.reduce<number | null>(
      (most, each) => (most === null || each === null ? null : Math.max(most, each)),
      0,
    ),
  };
}
