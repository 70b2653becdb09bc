import { MediaError } from "../core/errors.ts";

/** Opens a visitor's file; rejects with `input_unreachable` and advice when a handle does not allow reading it. */
export async function openFile(file: Blob | FileSystemFileHandle): Promise<Blob> {
  try {
    return "getFile" in file ? await file.getFile() : file;
  } catch (cause) {
    const why = (cause instanceof Error && HANDLE_FAULTS[cause.name]) || "cannot be read";
    const message = `The file ${nameOf(file)} ${why}.`;
    throw new MediaError("input_unreachable", message, { cause, retryable: false });
  }
}

// By the name of the error that a handle's getFile() rejects with.
const HANDLE_FAULTS: Readonly<Record<string, string>> = {
  NotAllowedError:
    "may not be read before the visitor allows it: call requestPermission() of its handle after a click",
  NotFoundError: "no longer exists: it was moved or deleted after it was chosen; choose it again",
  NotReadableError: "cannot be read: another program may be using it, or it changed after it was chosen",
};

/** Returns the name of a visitor's file; `blob` when it has none. */
export function nameOf(file: Blob | FileSystemFileHandle): string {
  return "name" in file && typeof file.name === "string" && file.name !== "" ? file.name : "blob";
}
