import { MediaError } from "../../core/errors.ts";
import type { StepContext } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import { type Inputs, runIngest } from "../../runs/steps/inputs.ts";
import { runFolder } from "../../runs/steps/media-keys.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import type { LocalUrls } from "./local-urls.ts";
import type { StoredBlob } from "./run-upload.ts";

/** Possible sources of an upload's input. */
export interface UploadSources {
  storage: OpfsStorage;
  /** The visitor's file that the run works on. */
  own: Blob | null;
  urls: LocalUrls;
  inputs: Inputs;
}

/**
 * Returns the files of an upload's input, all of them for adaptive video and storyboards, and the name of the one to open. Copies remote
 * files to this machine first.
 */
export async function storedFiles(
  { storage, own, urls, inputs }: UploadSources,
  source: Source,
  context: StepContext,
): Promise<{ found: StoredBlob[]; main: string }> {
  const toBlob = (name: string, blob: Blob): StoredBlob => ({
    ...{ name, blob },
    mime: blob.type || source.mime || "application/octet-stream",
  });
  const key = urls.key(source.url);
  const main = lastOf(key ?? source.url);
  if (key !== null && (source.kind === "adaptive_video" || source.files)) {
    const folder = key.slice(0, -main.length);
    const all = await storage.files(folder);
    return { found: all.map((each) => toBlob(each.key.slice(folder.length), each.file)), main };
  }
  if (own && key === null) return { found: [toBlob(main, own)], main };
  const at = key ?? `${runFolder("work", context.run_id)}source`;
  if (key === null && !(await storage.head(at))) {
    await context.durably("fetch", async (signal) => {
      const { file } = await inputs.open(source.url, signal);
      await runIngest({ open: async () => file, storage, key: at, signal });
    });
  }
  const file = await storage.file(at);
  if (!file) throw new MediaError("upload_failed", "The file to upload is no longer in storage.");
  return { found: [toBlob(main, file)], main };
}

function lastOf(url: string): string {
  return (
    url
      .replace(/[?#].*$/, "")
      .split("/")
      .findLast((part) => part !== "") ?? "file"
  );
}
