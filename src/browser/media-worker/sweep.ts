import { isId } from "../../core/ids.ts";
import { isFinished } from "../../core/transitions.ts";
import { clearMedia, runOf } from "../../runs/steps/media-keys.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import { type InputFiles, runOfInput } from "../files/input-files.ts";
import type { RunUploads } from "../files/run-upload.ts";
import type { MediaSettings, Run } from "../media-api.ts";
import { typeOf } from "./run-records.ts";
import type { RunTurns } from "./run-turns.ts";
import type { RunStores } from "./terminal-buffer.ts";

export interface SweepTools {
  settings: Pick<MediaSettings, "keepSeconds" | "name">;
  stores: RunStores;
  storage: OpfsStorage;
  files: InputFiles;
  uploads: RunUploads;
  turns: RunTurns;
  tidy(record: Run): Promise<void>;
  /** Removes what the tasks of a job share once they are finished, and the job once they are gone. */
  tidyJob(id: string): Promise<void>;
}

/** Returns the name of the lock that a sweep holds; a run whose pieces are stored before its record shares it meanwhile. */
export function sweepLock(name: string): string {
  return `${name} sweep`;
}

/** Returns the name of the lock that a run's creation holds, from before its first file is stored until its record is. */
export function creationLock(name: string, id: string): string {
  return `${name} creation ${id}`;
}

/**
 * Resumes unfinished runs and deletes what is no longer needed: expired outputs and leftovers of runs that ended with their
 * page.
 */
export async function sweep(tools: SweepTools): Promise<void> {
  const { settings, stores, storage, files, uploads, turns, tidy, tidyJob } = tools;
  const all = (await stores.all()).sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const record of all) if (!isFinished(record)) turns.join(record.id);
  const oldest = Date.now() - settings.keepSeconds * 1000;
  const known = new Map(all.map((record) => [record.id, record]));
  const isOld = (record: Run) => isFinished(record) && (record.finished_at ?? 0) <= oldest;
  const left: Run[] = [];
  // One tab is enough.
  await navigator.locks.request(sweepLock(settings.name), { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    const worked_on = new Set((await storage.files("work/")).map(({ key }) => runOf(key)));
    for (const id of worked_on) {
      if (isId("job", id)) continue;
      const record = known.get(id) ?? (await stores.get(typeOf(id), id));
      if (!record) await clearMedia(storage, id, ["work", "out"]);
      else if (isFinished(record)) await tidy(record);
    }
    for (const id of await stores.pieces.runs()) {
      if (isId("job", id)) continue;
      const record = known.get(id) ?? (await stores.get(typeOf(id), id));
      if (!record) await stores.pieces.clear(id);
      else if (isFinished(record)) await tidy(record);
    }
    for (const record of all) {
      if (!isOld(record)) continue;
      await clearMedia(storage, record.id, ["work", "out"]);
      await files.remove(record.id);
      if (uploads.isLeft(record)) left.push(record);
      else await stores.pieces.clear(record.id);
    }
    const jobs = await stores.jobs.all();
    const inputs = (await stores.inputs.all()).map(({ id }) => id);
    // A page that is closed while it creates a job leaves a file without a record.
    const stored = [...worked_on, ...(await stores.pieces.runs()), ...inputs].filter((id) => isId("job", id));
    for (const id of new Set([...stored, ...jobs.map((job) => job.id)])) await tidyJob(id);
    // So does one that is closed while it creates a run. A lock that is gone by now left a record, or never will.
    const { held = [] } = await navigator.locks.query();
    const locks = new Set(held.map((lock) => lock.name));
    for (const id of new Set(inputs.map(runOfInput))) {
      if (isId("job", id) || known.has(id) || locks.has(creationLock(settings.name, id))) continue;
      if (!(await stores.get(typeOf(id), id))) await files.remove(id);
    }
    for (const { id, tasks } of jobs) {
      const still = tasks.flatMap((task) => known.get(task) ?? []);
      if (still.length > 0 && still.every(isOld)) await files.remove(id);
    }
  });
  // Without the lock, because an unreachable bucket takes its time. Their outputs are gone, so no retry resumes them.
  for (const record of left) {
    await uploads.drop(record);
    await stores.pieces.clear(record.id);
  }
}
