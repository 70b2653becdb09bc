import type { Step } from "../../src/runs/step.ts";
import { clearMedia, type MediaFolder } from "../../src/runs/steps/media-keys.ts";
import type { Task } from "../../src/runs/task.ts";
import { mediaBucket, mediaStorage } from "../env.ts";
import { terminateInstance } from "../instance.ts";
import { createR2Uploads } from "../media/r2-uploads.ts";
import { createR2Storage } from "../network/r2-storage.ts";
import type { RunRow } from "./run-row.ts";
import type { Leftovers, RunRows } from "./run-rows.ts";
import { CLEANUPS_MS, cleanupDue, EXPIRED } from "./schedule.ts";

/** Aborts a run's incomplete uploads and removes its files from the given folders. */
async function clearFiles(
  bucket: R2Bucket,
  id: string,
  folders: readonly MediaFolder[],
  rows: RunRows,
): Promise<void> {
  const uploads = createR2Uploads(bucket);
  for (const { id, key } of rows.uploads()) {
    // What cannot be dropped, storage drops by itself after a week.
    await uploads
      .resume(key, id)
      .abort()
      .catch(() => {});
    rows.forgetUpload(id);
  }
  await clearMedia(createR2Storage(bucket), id, folders);
}

// The output stays only if the run succeeded and its output is not in the caller's own storage.
function foldersOf(record: Task | Step): readonly MediaFolder[] {
  const own = record.object === "task" && record.output?.startsWith("s3://");
  return record.status === "succeeded" && !own ? ["work"] : ["work", "out"];
}

/** Clears what a deleted run has written since, when that is due. */
export async function clearLeftovers(env: Bindings, rows: RunRows, id: string): Promise<void> {
  const left = rows.leftovers();
  if (!left || Date.now() < left.due_at) return;
  await clearFiles(mediaBucket(env), id, ["work", "out"], rows);
  rows.setLeftovers(leftAfter(left.cleanups + 1));
}

/** Returns what is left to clear of a deleted run whose files were cleared so many times. */
export function leftAfter(cleanups: number): Leftovers | null {
  const pause = CLEANUPS_MS[cleanups];
  return pause === undefined ? null : { cleanups, due_at: Date.now() + pause };
}

/** Clears the files of a finished run that are due; `expires` returns when its output is, in milliseconds since the epoch. */
export async function cleanUp(env: Bindings, rows: RunRows, expires: (row: RunRow) => number): Promise<void> {
  const row = rows.get();
  const due = row && cleanupDue(row, expires(row));
  if (!row || due === null || Date.now() < due) return;
  const most = CLEANUPS_MS.length;
  if (row.cleanups === most) {
    await clearMedia(mediaStorage(env), row.record.id, ["out"]);
    rows.update({ cleanups: EXPIRED });
    return;
  }
  const good = row.record.status === "succeeded";
  if (!good && row.cleanups > 0) await terminateInstance(env, row.record.id);
  await clearFiles(mediaBucket(env), row.record.id, foldersOf(row.record), rows);
  const cleanups = good ? most : row.cleanups + 1;
  rows.update({ cleanups, cleanup_at: Date.now() + (CLEANUPS_MS[cleanups] ?? 0) });
}
