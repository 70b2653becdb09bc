import { toMediaError } from "../../core/errors.ts";
import { isFinished } from "../../core/transitions.ts";
import { CORE_CACHE } from "../../encoders/wasm/load-core.ts";
import { clearMedia, runOf } from "../../runs/steps/media-keys.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import { runOfInput } from "../files/input-files.ts";
import type { LocalUsage, MediaApi, MediaSettings, Run } from "../media-api.ts";
import type { RunTurns } from "./run-turns.ts";
import type { RunStores } from "./terminal-buffer.ts";

export interface KeptTools {
  stores: RunStores;
  storage: OpfsStorage;
  turns: Pick<RunTurns, "settled">;
  cancel: MediaApi["cancel"];
  remove: MediaApi["remove"];
  /** Removes a job whose tasks are gone. */
  tidyJob(id: string): Promise<void>;
  settings: Pick<MediaSettings, "core" | "threadedCore">;
}

/** Counts and deletes what the library stores in the browser. */
export type Kept = Pick<MediaApi, "usage" | "clear">;

export function createKept(tools: KeptTools): Kept {
  const { stores, storage, turns, cancel, remove } = tools;
  const { core, threadedCore } = tools.settings;
  const named = [core?.cache, threadedCore?.cache].flatMap((name) =>
    name === null ? [] : [name ?? CORE_CACHE],
  );
  const cacheNames = [...new Set(named)];

  async function usage(): Promise<LocalUsage> {
    const [rows, work, out, records, core] = await Promise.all([
      stores.inputs.all(),
      storage.files("work/"),
      storage.files("out/"),
      stores.recordBytes(),
      Promise.all(cacheNames.map(cacheBytes)),
    ]);
    const parts = {
      // A handle's file is on the visitor's disk and takes no room here.
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
      await unless(["task_finished", "step_finished", `${object}_not_found`], cancel(object, id));
    }
    await turns.settled(id);
    await unless([`${object}_not_found`], remove(object, id));
  }

  // Leftovers of closed pages, without a record.
  async function clearStrays(): Promise<void> {
    for (const { id } of await stores.jobs.all()) await tools.tidyJob(id);
    const [runs, jobs] = await Promise.all([stores.all(), stores.jobs.all()]);
    const known = new Set([...runs, ...jobs].map(({ id }) => id));
    const files = [...(await storage.files("work/")), ...(await storage.files("out/"))];
    const strays = new Set(files.map(({ key }) => runOf(key)).filter((id) => !known.has(id)));
    for (const id of strays) await clearMedia(storage, id, ["work", "out"]);
    for (const { id } of await stores.inputs.all())
      if (!known.has(runOfInput(id))) await stores.inputs.delete(id);
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
  const kept = await cache.matchAll();
  const sizes = kept.map(async (response) => (await response.blob()).size);
  return sum(await Promise.all(sizes));
}

// Ignores a run that another tab has already changed.
async function unless(kinds: readonly string[], work: Promise<unknown>): Promise<void> {
  await work.catch((thrown: unknown) => {
    if (!kinds.includes(toMediaError(thrown).kind)) throw thrown;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
