import { MediaError } from "../../core/errors.ts";

/** A file handle, including what only some browsers or only workers offer. */
export type OpfsFile = Omit<FileSystemFileHandle, "createSyncAccessHandle"> & {
  createSyncAccessHandle?(): Promise<SyncAccess>;
  /** Moves the file atomically. */
  move?(folder: FileSystemDirectoryHandle, name: string): Promise<void>;
};

interface SyncAccess {
  write(bytes: Uint8Array<ArrayBuffer>, options: { at: number }): number;
  flush(): void;
  close(): void;
}

/** Receives the bytes of a file in order. */
interface Sink {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  close(): Promise<void>;
  /** Closes the file, whatever it holds. */
  abort(): Promise<void>;
}

/** Writes the bytes into an empty file and returns their number; rejects as the stream does, or with `storage_full`. */
export async function fillFile(
  file: OpfsFile,
  body: ReadableStream<Uint8Array> | Uint8Array,
): Promise<number> {
  const sink = file.createSyncAccessHandle ? await openSync(file) : await openWritable(file);
  try {
    const size = body instanceof Uint8Array ? await writeAll(sink, [body]) : await writeAll(sink, pull(body));
    await sink.close();
    return size;
  } catch (thrown) {
    await sink.abort().catch(() => {});
    throw thrown;
  }
}

async function writeAll(
  sink: Sink,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<number> {
  let size = 0;
  for await (const piece of pieces) {
    await sink.write(piece as Uint8Array<ArrayBuffer>);
    size += piece.length;
  }
  return size;
}

// Not every browser can iterate over streams. Stopping early cancels the stream.
async function* pull(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function openSync(file: OpfsFile): Promise<Sink> {
  const access = await file.createSyncAccessHandle?.();
  if (!access) throw new MediaError("service_unavailable", "The browser denies access to its files.");
  let at = 0;
  return {
    async write(bytes) {
      for (let rest = bytes; rest.length > 0; ) {
        const written = access.write(rest, { at });
        if (written === 0) throw full();
        at += written;
        rest = rest.subarray(written);
      }
    },
    async close() {
      access.flush();
      access.close();
    },
    async abort() {
      access.close();
    },
  };
}

async function openWritable(file: OpfsFile): Promise<Sink> {
  const writable = await file.createWritable();
  return {
    async write(bytes) {
      try {
        await writable.write(bytes);
      } catch (thrown) {
        // Chromium aborts a large write like this when it finds no room for the rest.
        throw thrown instanceof Error && thrown.name === "AbortError" ? full(thrown) : thrown;
      }
    },
    close: () => writable.close(),
    abort: () => writable.abort(),
  };
}

/** Converts a browser's out-of-space error to `storage_full`; returns any other unchanged. */
export function nameFull(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.name === "QuotaExceededError" ? full(thrown) : thrown;
}

function full(cause?: unknown): MediaError {
  const message =
    "The browser has no room left for this page; delete finished tasks, or free space on the disk.";
  return new MediaError("storage_full", message, { cause });
}
