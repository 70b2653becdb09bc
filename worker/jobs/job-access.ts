import { toMediaError } from "../../src/media/errors.ts";
import * as runErrors from "../../src/runs/errors.ts";
import { isId } from "../../src/runs/ids.ts";
import type { Job } from "../../src/runs/job.ts";
import type { Task } from "../../src/runs/task.ts";
import { describeJob, isFinished } from "../../src/runs/transitions.ts";
import { type Env, mediaBucket } from "../env.ts";
import * as errors from "../errors.ts";
import { patiently } from "../network/durable-objects.ts";
import { createArchive, createJobArchive, type StoredJob } from "../run/archive.ts";
import { streamJob } from "../run/events.ts";
import { mayBeArchived } from "../run/run-access.ts";
import type { Runs } from "../run/runs.ts";
import type { Jobs } from "./job-state.ts";

/** Creates the access to jobs, each stored by its own JobObject and listed in the index of its project. */
export function createJobs(env: Env, runs: Runs<Task>): Jobs {
  const archiveOf = (project: string, id: string) =>
    mayBeArchived(env, "job", id) ? createJobArchive(createArchive(mediaBucket(env), project)) : null;

  async function get(project: string, id: string): Promise<Job | null> {
    if (!isId("job", id)) return null;
    const stored = await patiently(() => env.JOB.getByName(id).find(project));
    if (stored) return describeJob(stored.head, await tasksOf(project, stored));
    const archive = archiveOf(project, id);
    const archived = await archive?.get(id);
    if (!archived) return null;
    const tasks = await tasksOf(project, archived);
    if (tasks.length > 0) return describeJob(archived.head, tasks);
    await archive?.remove(id);
    return null;
  }

  async function tasksOf(project: string, { tasks }: StoredJob): Promise<Task[]> {
    const records = await Promise.all(tasks.map((id) => runs.get(project, id)));
    return records.filter((task) => task !== null);
  }

  return {
    async create(job) {
      const isListed = await patiently(() => env.JOB.getByName(job.head.id).create(job));
      if (isListed) return describeJob(job.head, job.tasks);
      throw errors.notListed("job");
    },
    get,
    async list(project, query) {
      const { records, more } = await env.PROJECT.getByName(project).listJobs(query);
      return {
        more,
        records: records.map(({ head, tasks }) =>
          describeJob(
            head,
            tasks.map((text) => JSON.parse(text)),
          ),
        ),
      };
    },
    async follow(project, id, lastVersion) {
      const job = await get(project, id);
      if (!job || (lastVersion > 0 && isFinished(job))) return job && "over";
      return streamJob(job, (task) => runs.follow(project, task.id, 0));
    },
    async cancel(project, id) {
      const answer = isId("job", id) ? await env.JOB.getByName(id).cancel(project) : "unknown";
      const job = answer === "finished" ? null : await get(project, id);
      if (answer === "unknown" && !job) throw errors.notFound("job");
      if (answer !== "cancelled" || !job) throw runErrors.notCancellable("job");
      return job;
    },
    async delete(project, id) {
      const job = await get(project, id);
      if (!job) throw errors.notFound("job");
      if (!job.tasks.every(isFinished)) throw runErrors.running("job");
      // The job goes last, so that an interrupted call can be repeated.
      for (const task of job.tasks) {
        await runs.delete(project, task.id).catch((thrown) => {
          if (toMediaError(thrown).kind !== "task_not_found") throw thrown;
        });
      }
      await patiently(() => env.JOB.getByName(id).remove(project));
      await archiveOf(project, id)?.remove(id);
    },
  };
}
