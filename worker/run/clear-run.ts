import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import { clearMedia } from "../../src/steps/media-keys.ts";
import { terminateInstance } from "../instance.ts";
import { createR2Uploads } from "../media/r2-uploads.ts";
import { mediaBucket, mediaStorage } from "../network/media-bucket.ts";
import { createR2Storage } from "../network/r2-storage.ts";
import type { RunRow } from "./run-row.ts";
import type { RunRows } from "./run-rows.ts";
import { CLEANUPS_MS, cleanupDue, EXPIRED } from "./schedule.ts";

/** Drops the uploads of a finished run that are not complete, and removes its working files; of one that did not succeed or has its output elsewhere, its output too. */
async function clearRun(bucket: R2Bucket, record: Task | Step, rows: RunRows): Promise<void> {
  const uploads = createR2Uploads(bucket);
  for (const { id, key } of rows.uploads()) {
    // What cannot be dropped, storage drops by itself after a week.
    await uploads
      .resume(key, id)
      .abort()
      .catch(() => {});
    rows.forgetUpload(id);
  }
  // What is in the caller's own storage is not kept here too.
  const own = record.object === "task" && record.output?.startsWith("s3://");
  const keeps = record.status === "succeeded" && !own;
  const folders = keeps ? (["work"] as const) : (["work", "out"] as const);
  await clearMedia(createR2Storage(bucket), record.id, folders);
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
  await clearRun(mediaBucket(env), row.record, rows);
  const cleanups = good ? most : row.cleanups + 1;
  rows.update({ cleanups, cleanup_at: Date.now() + (CLEANUPS_MS[cleanups] ?? 0) });
}
