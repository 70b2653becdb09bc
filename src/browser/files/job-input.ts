import type { Source } from "../../core/source.ts";
import type { SharedInput } from "../../runs/steps/inputs.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import type { Run } from "../media-api.ts";

const SOURCE = "source";

/** Returns the id that names a run's stored input: its job's where the job's tasks share one, else its own. */
export function inputIdOf(record: Run): string {
  if (record.object !== "task" || !record.job || record.job.after !== undefined) return record.id;
  return record.job.id;
}

/** Returns the input that a task shares with the others of its job, in all tabs; null where it has its own. */
export function sharedInput(name: string, pieces: PieceStore, record: Run): SharedInput | null {
  const id = inputIdOf(record);
  if (id === record.id) return null;
  return {
    id,
    alone: (work, signal) =>
      navigator.locks.request(`${name} input ${id}`, { signal }, async () => {
        return work(((await pieces.get(id, SOURCE))?.value ?? null) as Source | null);
      }),
    keep: (source) => pieces.put(id, SOURCE, source),
  };
}
