import { CORE_CACHE } from "../../encoders/wasm/load-core.ts";
import { isId } from "../../runs/ids.ts";
import { clearMedia, runOf } from "../../runs/steps/media-keys.ts";
import { isFinished } from "../../runs/transitions.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import type { LocalUsage, MediaApi, MediaSettings, Run } from "../media-api.ts";
import type { Delegation } from "./delegate.ts";
import { type InputFiles, runOfInput } from "./local-files.ts";
import { ignoreErrors, type RunStores, typeOf } from "./run-records.ts";
import type { RunTurns } from "./run-turns.ts";
import type { RunUploads } from "./run-upload.ts";

export interface CleanupTools {
  stores: RunStores;
  storage: OpfsStorage;
  turns: Pick<RunTurns, "settled">;
  cancel: MediaApi["cancel"];
  remove: MediaApi["remove"];
  /** Removes a job whose tasks are gone. */
  tidyJob(id: string): Promise<void>;
  settings: Pick<MediaSettings, "core" | "threadedCore">;
}

/** Counts and deletes the library's data in the browser. */
export type Cleanup = Pick<MediaApi, "usage" | "clear">;

export function createCleanup(tools: CleanupTools): Cleanup {
  const { stores, storage, turns, cancel, remove } = tools;
  const { core, threadedCore } = tools.settings;
  const names = [core?.cache, threadedCore?.cache].flatMap((name) =>
    name === null ? [] : [name ?? CORE_CACHE],
  );
  const cacheNames = [...new Set(names)];

  async function usage(): Promise<LocalUsage> {
    const [rows, work, out, records, core] = await Promise.all([
      stores.inputs.all(),
      storage.files("work/"),
      storage.files("out/"),
      stores.recordBytes(),
      Promise.all(cacheNames.map(cacheBytes)),
    ]);
    const parts = {
      inputs: sum(rows.map(({ file }) => (file instanceof Blob ? file.size : 0))),
      work: sum(work.map(({ file }) => file.size)),
      outputs: sum(out.map(({ file }) => file.size)),
      records,
      core: sum(core),
    };
    return { ...parts, total: sum(Object.values(parts)) };
  }

  async function clearRun(record: Run, everything: boolean): Promise<void> {
    const { object, id } = record;
    if (!isFinished(record)) {
      if (!everything) return;
      await ignoreErrors(["task_finished", "step_finished", `${object}_not_found`], cancel(object, id));
    }
    await turns.settled(id);
    await ignoreErrors([`${object}_not_found`], remove(object, id));
  }

  async function clearStrays(): Promise<void> {
    for (const { id } of await stores.jobs.all()) await tools.tidyJob(id);
    const [runs, jobs] = await Promise.all([stores.all(), stores.jobs.all()]);
    const ids = new Set([...runs, ...jobs].map(({ id }) => id));
    const files = [...(await storage.files("work/")), ...(await storage.files("out/"))];
    const strays = new Set(files.map(({ key }) => runOf(key)).filter((id) => !ids.has(id)));
    for (const id of strays) await clearMedia(storage, id, ["work", "out"]);
    for (const { id } of await stores.inputs.all())
      if (!ids.has(runOfInput(id))) await stores.inputs.delete(id);
  }

  return {
    usage,
    async clear(everything) {
      for (const record of await stores.all()) await clearRun(record, everything);
      await clearStrays();
      if (everything) await Promise.all(cacheNames.map((name) => caches.delete(name)));
      return usage();
    },
  };
}

async function cacheBytes(name: string): Promise<number> {
  if (!(await caches.has(name))) return 0;
  const cache = await caches.open(name);
  const responses = await cache.matchAll();
  const sizes = responses.map(async (response) => (await response.blob()).size);
  return sum(await Promise.all(sizes));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

export interface SweepTools {
  settings: Pick<MediaSettings, "keepSeconds" | "name">;
  stores: RunStores;
  storage: OpfsStorage;
  files: InputFiles;
  uploads: RunUploads;
  turns: RunTurns;
  tidy(record: Run): Promise<void>;
  /** Removes the shared files of a job once its tasks are finished, and the job once they are gone. */
  tidyJob(id: string): Promise<void>;
}

/** Returns the name of the lock of a sweep; the creation of a run shares it while pieces are stored without a record. */
export function sweepLock(name: string): string {
  return `${name} sweep`;
}

/** Returns the name of the lock of a run's creation, held from before its first file is stored until its record is. */
export function creationLock(name: string, id: string): string {
  return `${name} creation ${id}`;
}

/**
 * Resumes unfinished runs and deletes expired outputs and the leftovers of runs that ended with their page.
 */
export async function sweep(tools: SweepTools): Promise<void> {
  const { settings, stores, storage, files, uploads, turns, tidy, tidyJob } = tools;
  const all = (await stores.all()).sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const record of all) if (!isFinished(record)) turns.join(record.id);
  const oldest = Date.now() - settings.keepSeconds * 1000;
  const records = new Map(all.map((record) => [record.id, record]));
  const isOld = (record: Run) => isFinished(record) && (record.finished_at ?? 0) <= oldest;
  const unfinishedUploads: Run[] = [];
  await navigator.locks.request(sweepLock(settings.name), { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    const worked_on = new Set((await storage.files("work/")).map(({ key }) => runOf(key)));
    for (const id of worked_on) {
      if (isId("job", id)) continue;
      const record = records.get(id) ?? (await stores.get(typeOf(id), id));
      if (!record) await clearMedia(storage, id, ["work", "out"]);
      else if (isFinished(record)) await tidy(record);
    }
    for (const id of await stores.pieces.runs()) {
      if (isId("job", id)) continue;
      const record = records.get(id) ?? (await stores.get(typeOf(id), id));
      if (!record) await stores.pieces.clear(id);
      else if (isFinished(record)) await tidy(record);
    }
    for (const record of all) {
      if (!isOld(record)) continue;
      await clearMedia(storage, record.id, ["work", "out"]);
      await files.remove(record.id);
      if (uploads.lacksOnlyUpload(record)) unfinishedUploads.push(record);
      else await stores.pieces.clear(record.id);
    }
    const jobs = await stores.jobs.all();
    const inputs = (await stores.inputs.all()).map(({ id }) => id);
    // A page that closes while it creates a job leaves a file without a record.
    const stored = [...worked_on, ...(await stores.pieces.runs()), ...inputs].filter((id) => isId("job", id));
    for (const id of new Set([...stored, ...jobs.map((job) => job.id)])) await tidyJob(id);
    // Once a run's creation lock is released, no record will follow.
    const { held = [] } = await navigator.locks.query();
    const locks = new Set(held.map((lock) => lock.name));
    for (const id of new Set(inputs.map(runOfInput))) {
      if (isId("job", id) || records.has(id) || locks.has(creationLock(settings.name, id))) continue;
      if (!(await stores.get(typeOf(id), id))) await files.remove(id);
    }
    for (const { id, tasks } of jobs) {
      const remaining = tasks.flatMap((task) => records.get(task) ?? []);
      if (remaining.length > 0 && remaining.every(isOld)) await files.remove(id);
    }
  });
  // An unreachable bucket takes long, so this runs outside the lock. No retry can resume uploads that have lost their outputs.
  for (const record of unfinishedUploads) {
    await uploads.drop(record);
    await stores.pieces.clear(record.id);
  }
}

export interface TidyTools {
  storage: OpfsStorage;
  pieces: PieceStore;
  uploads: RunUploads;
  delegation: Delegation;
  tidyJob(id: string): Promise<void>;
}

/** Removes what a finished run and its job no longer need. */
export async function tidyRun(tools: TidyTools, record: Run): Promise<void> {
  await tidyOwnFiles(tools, record);
  if (record.object === "task" && record.job) await tools.tidyJob(record.job.id);
}

async function tidyOwnFiles({ storage, pieces, uploads, delegation }: TidyTools, record: Run): Promise<void> {
  const { id, status } = record;
  if (uploads.lacksOnlyUpload(record)) return clearMedia(storage, id, ["work"]);
  await clearMedia(storage, id, status === "succeeded" ? ["work"] : ["work", "out"]);
  if (status !== "succeeded") await uploads.drop(record);
  if ((await delegation.find(id)) === null) await pieces.clear(id);
}
