import type { LocalFile, WaitingFile } from "../../../src/browser/index.ts";
import { MediaError, type MediaInput } from "../../../src/index.ts";
import type { Item } from "../item.ts";

// Missing in some browsers.
interface AskedHandle extends FileSystemFileHandle {
  queryPermission?(): Promise<PermissionState>;
  requestPermission?(): Promise<PermissionState>;
}

/** Returns which file an unstarted item waits for; null when its file can be read. */
export async function waitingFor({ input, name, size }: Item): Promise<WaitingFile | null> {
  if (input === null) return { name, size: size ?? 0, reason: "gone" };
  if (!isHandle(input)) return null;
  const state = (await input.queryPermission?.().catch(() => "denied" as const)) ?? "granted";
  if (state === "granted") return null;
  return { name, size: size ?? 0, reason: state === "prompt" ? "permission" : "gone" };
}

/**
 * Returns the file that an item waits for: the chosen one if it is the same, or the old one after asking the visitor for
 * permission.
 */
export async function takeFile(item: Item, file?: LocalFile): Promise<MediaInput> {
  const { input, name, size } = item;
  if (!file) {
    const state = input && isHandle(input) ? await input.requestPermission?.() : "denied";
    if (input && state === "granted") return input;
    throw new MediaError("input_unreachable", "The file may not be read.", { retryable: false });
  }
  const { size: given } = "getFile" in file ? await file.getFile() : file;
  if (size !== null && given !== size) {
    throw new MediaError("invalid_input", `This is not the same file as ${name}.`, { param: "file" });
  }
  return file;
}

function isHandle(input: MediaInput): input is AskedHandle {
  return typeof input === "object" && "getFile" in input;
}
