import { MediaError } from "../../../src/media/errors.ts";
import type { Job } from "../../../src/runs/job.ts";
import type { Task } from "../../../src/runs/task.ts";
import { describeJob, isFinished } from "../../../src/runs/transitions.ts";
import type { Jobs, NewJob } from "../../../worker/jobs/job-state.ts";
import { streamJob } from "../../../worker/run/events.ts";
import type { MemoryRuns } from "./memory-runs.ts";

/** Keeps jobs beside in-memory tasks. */
export function createMemoryJobs(tasks: MemoryRuns<Task>): Jobs {
  const jobs = new Map<string, NewJob>();
  const get = async (project: string, id: string): Promise<Job | null> => {
    const job = jobs.get(id);
    if (job?.project !== project) return null;
    return describeJob(
      job.head,
      job.tasks.flatMap((task) => tasks.find(task.id) ?? []),
    );
  };
  const find = async (project: string, id: string): Promise<Job> => {
    const job = await get(project, id);
    if (!job) throw new MediaError("job_not_found", `There is no job ${id}.`);
    return job;
  };
  return {
    async create(job) {
      for (const task of job.tasks) await tasks.create(job.project, task, job.made);
      jobs.set(job.head.id, job);
      return find(job.project, job.head.id);
    },
    get,
    async list(project, { limit }) {
      const all = await Promise.all([...jobs.keys()].toReversed().map((id) => get(project, id)));
      const records = all.filter((job) => job !== null);
      return { records: records.slice(0, limit), more: records.length > limit };
    },
    async follow(project, id, seen) {
      const job = await get(project, id);
      if (!job || (seen > 0 && isFinished(job))) return job && "over";
      return streamJob(job, (task) => tasks.follow(project, task.id, 0));
    },
    async cancel(project, id) {
      const job = await find(project, id);
      if (isFinished(job)) throw new MediaError("job_finished", "It is finished.");
      for (const task of job.tasks) if (!isFinished(task)) await tasks.cancel(project, task.id);
      return find(project, id);
    },
    async delete(project, id) {
      const job = await find(project, id);
      if (!isFinished(job)) throw new MediaError("job_running", "It still runs.");
      for (const task of job.tasks) await tasks.delete(project, task.id);
      jobs.delete(id);
    },
  };
}
