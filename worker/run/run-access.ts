import * as runErrors from "../../src/runs/errors.ts";
import { isId } from "../../src/runs/ids.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { type Env, mediaBucket } from "../env.ts";
import * as errors from "../errors.ts";
import { patiently } from "../network/durable-objects.ts";
import { serviceSettings } from "../settings.ts";
import { type ArchiveKind, createArchive, timeOfId } from "./archive.ts";
import { writeEvent } from "./events.ts";
import type { RunKind } from "./run-index.ts";
import type { FindStep, Runs } from "./runs.ts";
import { mirrorKey } from "./schedule.ts";

/** Creates the access to tasks or steps, each stored by its own TaskObject and listed in the index of its project. */
export function createRuns<T extends Task | Step>(env: Env, object: T["object"]): Runs<T> {
  const read = (project: string, id: string) => readRun(env, object, project, id);
  const get = (project: string, id: string) => findRun<T>(env, object, project, id);
  return {
    async create(project, record, setup) {
      const isListed = await patiently(() => env.TASK.getByName(record.id).create(project, record, setup));
      if (!isListed) throw errors.notListed(object);
      return record;
    },
    webhookUrl: (project, id) => env.TASK.getByName(id).webhookUrl(project),
    sealedKey: (project, id) => env.TASK.getByName(id).sealedKey(project),
    get,
    read,
    async follow(project, id, lastVersion) {
      const events = isId(object, id) ? await env.TASK.getByName(id).follow(project, lastVersion) : null;
      if (events !== null) return events;
      const record = await get(project, id);
      if (!record || lastVersion > 0) return record && "over";
      const { bytes } = writeEvent({ version: 1, record });
      return new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
    },
    async list(project, query) {
      const { records, more } = await env.PROJECT.getByName(project).runs.list(object, query);
      return { records: records.map((text) => JSON.parse(text) as T), more };
    },
    async cancel(project, id) {
      const answer = isId(object, id) ? await env.TASK.getByName(id).cancel(project) : "unknown";
      if (answer === "unknown" && !(await get(project, id))) throw errors.notFound(object, { id });
      if (answer === "unknown" || answer === "finished") {
        throw runErrors.notCancellable(object);
      }
      return JSON.parse(answer.record) as T;
    },
    async delete(project, id) {
      const answer = isId(object, id) ? await env.TASK.getByName(id).remove(project) : "unknown";
      if (answer === "running") throw runErrors.running(object);
      if (answer === "unknown" && !(await removeArchived(env, object, project, id)))
        throw errors.notFound(object, { id });
      // A record that was archived but not yet freed is in both places.
      if (answer === "removed" && mayBeArchived(env, object, id))
        await createArchive(mediaBucket(env), project).remove(object, id);
    },
  };
}

/** Creates the function that finds a standalone step, or a step of a task through the index of the project. */
export function createFindStep(env: Env): FindStep {
  return async (project, id) => {
    const standalone = await findRun<Step>(env, "step", project, id);
    if (standalone) return { step: standalone, task_id: null };
    const task = isId("step", id) ? await findTaskOf(env, project, id) : null;
    const step = task?.steps.find((each) => each.id === id);
    return step && task ? { step, task_id: task.id } : null;
  };
}

async function findTaskOf(env: Env, project: string, step_id: string): Promise<Task | null> {
  const { runs } = env.PROJECT.getByName(project);
  const task_id = await runs.parentOf(step_id);
  if (task_id) return findRun<Task>(env, "task", project, task_id);
  if (!mayBeArchived(env, "step", step_id)) return null;
  const archived = await createArchive(mediaBucket(env), project).taskOf(step_id);
  const task = archived === null ? null : (JSON.parse(archived) as Task);
  return task && !(await runs.isGone(task.id)) ? task : null;
}

async function removeArchived(env: Env, object: RunKind, project: string, id: string): Promise<boolean> {
  if (!(await readRun(env, object, project, id))) return false;
  await createArchive(mediaBucket(env), project).remove(object, id);
  await env.PROJECT.getByName(project).remove(id);
  await env.KV.delete(mirrorKey({ id, object }));
  return true;
}

async function findRun<T extends Task | Step>(
  env: Env,
  object: T["object"],
  project: string,
  id: string,
): Promise<T | null> {
  const text = await readRun(env, object, project, id);
  return text === null ? null : (JSON.parse(text) as T);
}

// Reads the object first, because KV may lag by a minute; KV and the archive serve records whose object is gone.
async function readRun(env: Env, object: RunKind, project: string, id: string): Promise<string | null> {
  if (!isId(object, id)) return null;
  const text = await env.TASK.getByName(id).read(project);
  if (text === "foreign") return null;
  if (text !== null) return text;
  const mirror = await env.KV.get<{ project: string; record: object }>(mirrorKey({ id, object }), "json");
  if (mirror && mirror.project !== project) return null;
  const archived = mirror === null && mayBeArchived(env, object, id);
  const copy = archived
    ? await createArchive(mediaBucket(env), project).get(object, id)
    : mirror && JSON.stringify(mirror.record);
  // KV returns a deleted record for up to a minute, the archive until it is removed there.
  return copy === null || (await env.PROJECT.getByName(project).runs.isGone(id)) ? null : copy;
}

const DAY_MS = 86_400_000;

/** Whether a record is old enough to be in the archive, allowing for earlier settings with shorter times. */
export function mayBeArchived(env: Bindings, object: ArchiveKind, id: string): boolean {
  const { RECORD_TTL, MEDIA_TTL } = serviceSettings(env);
  const youngest = Math.min(DAY_MS, RECORD_TTL * 1000, MEDIA_TTL * 1000);
  return timeOfId(object, id) <= Date.now() - youngest;
}
