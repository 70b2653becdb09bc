import { MediaError } from "../../src/index.ts";

export interface Watch {
  readonly signal: AbortSignal;
  /** Receives the bytes done and the total; null when unknown. */
  onProgress(done: number, total: number | null): void;
}

const NOT_ALLOWED: ReadonlySet<string> = new Set([
  "NotAllowedError",
  "NoModificationAllowedError",
  "SecurityError",
]);

/**
 * Writes a stream to a file; on failure the file keeps its content. Rejects with `storage_full`, `forbidden`,
 * `upload_failed`, as the stream does, or with the signal's reason.
 */
export async function writeFile(
  handle: FileSystemFileHandle,
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  let file: FileSystemWritableFileStream;
  try {
    file = await handle.createWritable();
  } catch (thrown) {
    await stream.cancel().catch(() => {});
    throw saveFault(thrown);
  }
  try {
    await (stream as ReadableStream<Uint8Array<ArrayBuffer>>).pipeTo(file, { signal });
  } catch (thrown) {
    signal.throwIfAborted();
    throw saveFault(thrown);
  }
}

/** Passes a stream through and reports the bytes. */
export function counted(
  stream: ReadableStream<Uint8Array>,
  onBytes: (count: number) => void,
): ReadableStream<Uint8Array> {
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.length);
      controller.enqueue(chunk);
    },
  });
  return stream.pipeThrough(count);
}

/** Describes why something could not be saved, and what to do. */
export function saveFault(thrown: unknown): MediaError {
  if (thrown instanceof MediaError) return thrown;
  const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : "";
  const cause = thrown;
  if (name === "QuotaExceededError") {
    return new MediaError("storage_full", "The disk is full. Free some space and save again.", {
      cause,
    });
  }
  if (NOT_ALLOWED.has(name)) {
    const message =
      "The browser is not allowed to write there. Choose another folder, or allow it when asked.";
    return new MediaError("forbidden", message, { cause });
  }
  if (name === "NotFoundError") {
    return new MediaError("upload_failed", "The folder no longer exists. Choose another.", {
      cause,
    });
  }
  return new MediaError(
    "upload_failed",
    "The file could not be written. Choose another folder and save again.",
    {
      cause,
    },
  );
}
