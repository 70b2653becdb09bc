import { MediaError } from "../../src/core/errors.ts";
import { isId } from "../../src/core/ids.ts";
import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import type { Env } from "../env.ts";
import { patiently } from "../network/retry-object-call.ts";
import { writeEvent } from "./event-stream.ts";
import { mirrorKey } from "./mirror-key.ts";
import type { FindStep, Runs } from "./runs.ts";

/** Creates the access to tasks or steps, each stored by its own TaskObject and listed from the index of its project. */
export function createRuns<T extends Task | Step>(env: Env, object: T["object"]): Runs<T> {
  const unknown = (id: string) => new MediaError(`${object}_not_found`, `There is no ${object} ${id}.`);
  const get = (project: string, id: string) => readRun<T>(env, object, project, id);
  return {
    async create(project, record, made) {
      // The object ignores a record that it has already.
      await patiently(() => env.TASK.getByName(record.id).create(project, record, made));
      return record;
    },
    webhookUrl: (project, id) => env.TASK.getByName(id).webhookUrl(project),
    get,
    async follow(project, id, seen) {
      const events = isId(object, id) ? await env.TASK.getByName(id).follow(project, seen) : null;
      if (events !== null) return events;
      const record = await get(project, id);
      if (!record || seen > 0) return record && "over";
      // A record that only the mirror has is final.
      const { bytes } = writeEvent({ version: 1, record });
      return new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
    },
    async list(project, query) {
      const { records, more } = await env.PROJECT.getByName(project).runs.list(object, query);
      return { records: records.map((text) => JSON.parse(text) as T), more };
    },
    async cancel(project, id) {
      const answer = isId(object, id) ? await env.TASK.getByName(id).cancel(project) : "unknown";
      if (answer === "unknown") throw unknown(id);
      if (answer === "finished") {
        throw new MediaError(`${object}_finished`, `The ${object} is finished and cannot be cancelled.`);
      }
      return JSON.parse(answer.record) as T;
    },
    async delete(project, id) {
      const answer = isId(object, id) ? await env.TASK.getByName(id).remove(project) : "unknown";
      if (answer === "unknown") throw unknown(id);
      if (answer === "running")
        throw new MediaError(`${object}_running`, `The ${object} still runs; cancel it first.`);
    },
  };
}

/** Finds a step standing alone, or inside a task by the index of the project. */
export function createFindStep(env: Env): FindStep {
  return async (project, id) => {
    const alone = await readRun<Step>(env, "step", project, id);
    if (alone) return { step: alone, task_id: null };
    const task_id = isId("step", id) ? await env.PROJECT.getByName(project).runs.parentOf(id) : null;
    const task = task_id ? await readRun<Task>(env, "task", project, task_id) : null;
    const step = task?.steps.find((each) => each.id === id);
    return step && task ? { step, task_id: task.id } : null;
  };
}

// The object is asked first: KV may be a minute behind, and is read only where the object is gone.
async function readRun<T extends Task | Step>(
  env: Env,
  object: T["object"],
  project: string,
  id: string,
): Promise<T | null> {
  if (!isId(object, id)) return null;
  const text = await env.TASK.getByName(id).read(project);
  if (text === "deleted") return null;
  if (text !== null) return JSON.parse(text) as T;
  const mirror = await env.KV.get<{ project: string; record: T }>(mirrorKey({ id, object }), "json");
  return mirror?.project === project ? mirror.record : null;
}
