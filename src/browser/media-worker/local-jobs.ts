import type { Page } from "../../client/client.ts";
import { nameOf } from "../../client/media-input.ts";
import { importContentKey } from "../../encoders/run/encrypt-segments.ts";
import { toMediaError } from "../../media/errors.ts";
import { keyIn, parseBlock } from "../../media/features/encryption.ts";
import * as runErrors from "../../runs/errors.ts";
import { type CreateId, isId } from "../../runs/ids.ts";
import { createJobTasks, type Job } from "../../runs/job.ts";
import { runErrorOf } from "../../runs/step.ts";
import { clearMedia } from "../../runs/steps/media-keys.ts";
import type { Task } from "../../runs/task.ts";
import {
  awaitedTask,
  describeJob,
  failOpenStep,
  isFinished,
  releaseAfter,
  type TaskEnd,
} from "../../runs/transitions.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import type { JobRecord } from "../../stores/indexeddb-schema.ts";
import * as errors from "../errors.ts";
import type { LocalFile, MediaApi, Run } from "../media-api.ts";
import {
  extraFileId,
  fileUrl,
  findLocalInput,
  type InputFiles,
  type LocalUrls,
  numberExtraFiles,
} from "./local-files.ts";
import { type LocalRules, parseLocalJob, parseLocalList } from "./local-requests.ts";
import { ignoreErrors, type RunRecords, type RunStores } from "./run-records.ts";
import { CONTENT_KEY } from "./run-work.ts";

export interface LocalJobTools {
  stores: RunStores;
  storage: OpfsStorage;
  files: InputFiles;
  urls: LocalUrls;
  records: RunRecords;
  rules: LocalRules;
  newId: CreateId;
  /** Executes a run now, or when the tab that executes it closes. */
  join(id: string): void;
  cancel: MediaApi["cancel"];
  remove: MediaApi["remove"];
  /** Runs `work` while no tab can sweep up files without a record. */
  withoutSweep<T>(work: () => Promise<T>): Promise<T>;
}

/** The jobs of a page; their tasks are ordinary runs that share an input and may wait for one another. */
export interface LocalJobs {
  api: Pick<MediaApi, "createJob" | "getJob" | "listJobs" | "cancelJob" | "removeJob">;
  /** Returns whether a run still waits for the output of another; otherwise gives it its input, or fails it. */
  isBlocked(id: string): Promise<boolean>;
  /** Starts the tasks that waited for a finished one. */
  follow(record: Run): Promise<void>;
  /** Returns the input for the retry of a task; rejects with `invalid_input` when it was never made. */
  inputOf(task: Task): Promise<string>;
  /** Returns the ids of all runs that read the same file, this one included. */
  siblings(record: Run): Promise<string[]>;
  /** Removes the shared files of a job once its tasks are finished, and the job once they are gone. */
  tidy(id: string): Promise<void>;
}

export function createLocalJobs(tools: LocalJobTools): LocalJobs {
  const { stores, storage, files, urls, records } = tools;

  async function tasksOf({ tasks }: Pick<JobRecord, "tasks">): Promise<Task[]> {
    const records = await Promise.all(tasks.map((id) => stores.get("task", id)));
    return records.filter((task) => task !== null) as Task[];
  }

  async function find(id: string): Promise<{ job: JobRecord; tasks: Task[] }> {
    const job = await stores.jobs.get(String(id));
    const tasks = job ? await tasksOf(job) : [];
    if (!job || tasks.length === 0) throw errors.notFound("job");
    return { job, tasks };
  }

  const get = async (id: string): Promise<Job> => {
    const { job, tasks } = await find(id);
    return describeJob(job, tasks);
  };

  function outputOf({ output, steps }: Task): string | null {
    const local = steps.find(({ kind }) => kind !== "probe" && kind !== "ingest")?.output?.url;
    return local !== undefined && urls.key(local) !== null ? local : output;
  }

  async function readTask(id: string): Promise<Task | null> {
    return (await stores.get("task", id)) as Task | null;
  }

  /** Gives a task its input once the task that it waits for has ended, and throws if that failed; resolves to false before. */
  async function release({ id, input }: Task, after: string): Promise<boolean> {
    const before = await readTask(after);
    const released = releaseAfter(before && { ended: endOf(before), output: outputOf(before) });
    if (!released) return false;
    if ("ended" in released) throw runErrors.inputTaskEnded({ task: after, ended: released.ended });
    const output = released.input ?? input;
    if (output !== input)
      await records.replace(id, (task) => ({ ...task, input: output, updated_at: Date.now() }) as Task);
    return true;
  }

  async function tidy(id: string): Promise<void> {
    const job = await stores.jobs.get(id);
    const tasks = job ? await tasksOf(job) : [];
    if (!tasks.every(isFinished)) return;
    await clearMedia(storage, id, ["work"]);
    await stores.pieces.clear(id);
    if (tasks.length > 0) return;
    await files.remove(id);
    await stores.jobs.delete(id);
  }

  const api: LocalJobs["api"] = {
    async createJob(body, file, extra) {
      const numbered = numberOutputs(body, extra);
      const local = await findLocalInput(body, file, urls);
      const url = local && (local.url ?? fileUrl(file ? nameOf(file) : ""));
      const request = parseLocalJob(numbered.request, url, tools.rules);
      const created_at = Date.now();
      const head = { id: tools.newId("job", created_at), input: request.input, created_at };
      const tasks = createJobTasks(head, request, tools.newId);

      async function store(): Promise<void> {
        if (local?.file) await files.add(head.id, local.file);
        for (const [index, { id }] of tasks.entries()) {
          const key = keyIn(request.outputs[index]?.request);
          if (key !== null) await stores.pieces.put(id, CONTENT_KEY, await importContentKey(parseBlock(key)));
          for (const [at, file] of numbered.files[index] ?? []) await files.add(extraFileId(id, at), file);
        }
        await stores.jobs.create({ ...head, tasks: tasks.map(({ id }) => id) }, tasks);
      }

      await tools.withoutSweep(async () => {
        await store().catch(async (thrown) => {
          const removals = [head, ...tasks].flatMap(({ id }) => [files.remove(id), stores.pieces.clear(id)]);
          await Promise.allSettled(removals);
          throw thrown;
        });
      });
      for (const record of tasks) {
        records.tell({ type: "changed", record, choice: null });
        tools.join(record.id);
      }
      return describeJob(head, tasks);
    },
    getJob: get,
    async listJobs(options): Promise<Page<Job>> {
      const { records: jobs, more } = await stores.jobs.list(parseLocalList("job", options));
      const described = jobs.map(async (job) => describeJob(job, await tasksOf(job)));
      const withTasks = (await Promise.all(described)).filter(({ tasks }) => tasks.length > 0);
      return { records: withTasks, more };
    },
    async cancelJob(id) {
      const { tasks } = await find(id);
      const open = tasks.filter((task) => !isFinished(task));
      if (open.length === 0) throw runErrors.notCancellable("job");
      const depth = ({ job }: Task): number => {
        const before = tasks.find((task) => task.id === job?.after);
        return before ? 1 + depth(before) : 0;
      };
      // Cancel waiting tasks first; they would fail when their input is cancelled.
      for (const task of open.toSorted((a, b) => depth(b) - depth(a)))
        await ignoreErrors(["task_finished", "task_not_found"], tools.cancel("task", task.id));
      return get(id);
    },
    async removeJob(id) {
      const { tasks } = await find(id);
      if (!tasks.every(isFinished)) throw runErrors.running("job");
      for (const task of tasks) await ignoreErrors(["task_not_found"], tools.remove("task", task.id));
      await tidy(id);
    },
  };

  return {
    api,
    async isBlocked(id) {
      if (isId("step", id)) return false;
      try {
        const task = await readTask(id);
        const after = task && !isFinished(task) ? awaitedTask(task) : null;
        return task !== null && after !== null && !(await release(task, after));
      } catch (thrown) {
        const task = await readTask(id);
        if (task) await records.apply(id, failOpenStep(task, runErrorOf(toMediaError(thrown))));
        return false;
      }
    },
    async follow(record) {
      if (record.object === "step" || !record.job || !isFinished(record)) return;
      const job = await stores.jobs.get(record.job.id);
      for (const task of job ? await tasksOf(job) : [])
        if (task.job?.after === record.id && !isFinished(task)) tools.join(task.id);
    },
    async inputOf(task) {
      const after = awaitedTask(task);
      if (after === null) return task.input;
      const before = await readTask(after);
      const output = before?.status === "succeeded" ? outputOf(before) : null;
      if (output === null) throw runErrors.inputNeverMade({ task: after });
      return output;
    },
    async siblings(record) {
      if (record.object === "step" || !record.job || record.job.after !== undefined) return [record.id];
      const job = await stores.jobs.get(record.job.id);
      const tasks = job ? await tasksOf(job) : [];
      return tasks.filter((task) => task.job?.after === undefined && !isFinished(task)).map(({ id }) => id);
    },
    tidy,
  };
}

function endOf(task: Task): TaskEnd | null {
  return isFinished(task) ? (task.status as TaskEnd) : null;
}

/** Numbers the extra files of each output separately, as its task does. */
function numberOutputs(
  body: unknown,
  extra: ReadonlyMap<string, LocalFile>,
): { request: unknown; files: ReadonlyMap<number, LocalFile>[] } {
  const outputs: unknown = Object(body).outputs;
  if (!Array.isArray(outputs)) return { request: body, files: [] };
  const numbered = outputs.map((output, index) => {
    const start = `outputs.${index}.`;
    const own = [...extra].filter(([param]) => param.startsWith(start));
    return numberExtraFiles(output, new Map(own.map(([param, file]) => [param.slice(start.length), file])));
  });
  return {
    request: { ...Object(body), outputs: numbered.map(({ request }) => request) },
    files: numbered.map(({ files }) => files),
  };
}
