import { clearMedia } from "../../runs/steps/media-keys.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import type { RunUploads } from "../files/run-upload.ts";
import type { Run } from "../media-api.ts";
import type { Delegation } from "./delegate.ts";

export interface TidyTools {
  storage: OpfsStorage;
  pieces: PieceStore;
  uploads: RunUploads;
  delegation: Delegation;
  tidyJob(id: string): Promise<void>;
}

/** Removes what a finished run no longer needs, and what its job does not. */
export async function tidyRun(tools: TidyTools, record: Run): Promise<void> {
  await tidyAlone(tools, record);
  if (record.object === "task" && record.job) await tools.tidyJob(record.job.id);
}

async function tidyAlone({ storage, pieces, uploads, delegation }: TidyTools, record: Run): Promise<void> {
  const { id, status } = record;
  // A retry resumes it.
  if (uploads.isLeft(record)) return clearMedia(storage, id, ["work"]);
  await clearMedia(storage, id, status === "succeeded" ? ["work"] : ["work", "out"]);
  if (status !== "succeeded") await uploads.drop(record);
  if ((await delegation.find(id)) === null) await pieces.clear(id);
}
