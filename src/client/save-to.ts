import { MediaError } from "../core/errors.ts";
import type { ReadOptions } from "./requests.ts";

const FORBIDDEN: ReadonlySet<string> = new Set([
  "NotAllowedError",
  "NoModificationAllowedError",
  "SecurityError",
]);

/**
 * Writes a stream to a file that the visitor chose; on failure the file keeps its content. Rejects with `storage_full`,
 * `forbidden`, `upload_failed`, the signal's reason, or as the stream does.
 */
export async function saveTo(
  handle: FileSystemFileHandle,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { signal }: ReadOptions = {},
): Promise<void> {
  let file: FileSystemWritableFileStream;
  try {
    file = await handle.createWritable();
  } catch (thrown) {
    await body.cancel();
    throw saveError(thrown);
  }
  try {
    await body.pipeTo(file, signal && { signal });
  } catch (thrown) {
    signal?.throwIfAborted();
    throw saveError(thrown);
  }
}

function saveError(thrown: unknown): MediaError {
  if (thrown instanceof MediaError) return thrown;
  const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : "";
  const cause = thrown;
  if (name === "QuotaExceededError") {
    return new MediaError(
      "storage_full",
      "There is no room for the file; free some space and save it again.",
      {
        cause,
      },
    );
  }
  if (FORBIDDEN.has(name)) {
    return new MediaError("forbidden", "Writing the file is not allowed; ask the visitor for it again.", {
      cause,
    });
  }
  return new MediaError("upload_failed", "The file could not be written.", { cause });
}
