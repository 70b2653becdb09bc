import { outputSource } from "../../client/methods.ts";
import type { WaitingFile } from "../../client/update.ts";
import { isId } from "../../runs/ids.ts";
import { runFolder } from "../../runs/steps/media-keys.ts";
import type { Task } from "../../runs/task.ts";
import { isFinished } from "../../runs/transitions.ts";
import type { RecordType, Run, RunState } from "../media-api.ts";
import type { Delegation } from "./delegate.ts";
import type { LocalJobTools } from "./local-jobs.ts";
import { typeOf } from "./run-records.ts";
import type { RunTurns } from "./run-turns.ts";
import { inputIdOf } from "./run-work.ts";

export interface RunViewParts extends Pick<LocalJobTools, "stores" | "storage" | "records" | "files"> {
  turns: RunTurns;
  delegation: Delegation;
}

/** Reads the runs of a media worker: their records, states, parents, missing inputs and output files. */
export function createRunViews({ stores, storage, records, files, turns, delegation }: RunViewParts) {
  const find = async (id: string): Promise<Run> => records.get(typeOf(id), id);

  async function get(type: RecordType, id: string): Promise<Run> {
    const task = await parentOf(type, id);
    return task?.steps.find((step) => step.id === id) ?? records.get(type, id);
  }

  async function state(type: RecordType, id: string): Promise<RunState> {
    const [record, choice] = await Promise.all([get(type, id), records.choice(id)]);
    const file = await waitingFile(record);
    return { record, choice, ...(file && { waiting: { for: "file", ...file } }) };
  }

  async function waitingFile(record: Run): Promise<WaitingFile | null> {
    const id = inputIdOf(record);
    if (isFinished(record) || !(await files.has(id)) || (await turns.hasExecutor(record.id))) return null;
    return (await files.find(id)) ? null : files.missing(id);
  }

  /** Returns the task that a step is part of; null for a task and for a step that stands alone. */
  async function parentOf(type: RecordType, id: string): Promise<Task | null> {
    if (type !== "step" || !isId("step", id) || (await stores.get("step", id))) return null;
    const all = await stores.all();
    return (all.find((run) => run.object === "task" && run.steps.some((step) => step.id === id)) ??
      null) as Task | null;
  }

  async function outputFiles(id: string) {
    const record = await find(id);
    const source = outputSource(record);
    const remote = (await delegation.find(id))?.remote ?? null;
    if (remote !== null) return { source, remote, files: [] };
    const folder = runFolder("out", id);
    const stored = await storage.files(folder);
    return {
      source,
      remote,
      files: stored.map(({ key, file }) => ({ name: key.slice(folder.length), file })),
    };
  }

  return { find, get, state, waitingFile, parentOf, files: outputFiles };
}
