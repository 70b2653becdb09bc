import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import { clearMedia } from "../../src/steps/media-keys.ts";
import { createR2Uploads } from "../media/r2-uploads.ts";
import { createR2Storage } from "../network/r2-storage.ts";
import type { RunRows } from "./run-rows.ts";

/** Drops the uploads of a finished run that are not complete, and removes its working files; of one that did not succeed or has its output elsewhere, its output too. */
export async function clearRun(bucket: R2Bucket, record: Task | Step, rows: RunRows): Promise<void> {
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
