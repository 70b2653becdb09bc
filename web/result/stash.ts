import { MediaError } from "../../src/index.ts";
import { bytes } from "../words/quantities.ts";
import type { StashOrder } from "./stash-worker.ts";
import { saveFault, writeFile } from "./write-file.ts";

const FOLDER = "framewright-downloads";
// Acceptable even for a tab on a phone.
const MOST_IN_MEMORY = 500_000_000;
const lockOf = (name: string) => `${FOLDER}/${name}`;

/**
 * Writes a stream of `total` bytes, null when unknown, to the browser's own file system, so that a download of any size can
 * be served from there, and keeps it while this page is open. Where the browser denies the page files, as in some private
 * windows, holds it in memory, and rejects one of more than 500 MB with `storage_full`.
 */
export async function stash(
  stream: ReadableStream<Uint8Array>,
  total: number | null,
  signal: AbortSignal,
): Promise<Blob> {
  const folder = await openFolder().catch(() => null);
  try {
    if (!folder) return await holdInMemory(stream, { total, most: MOST_IN_MEMORY, signal });
    await clearStash(folder);
    const name = crypto.randomUUID();
    await hold(name);
    const handle = await folder.getFileHandle(name, { create: true });
    try {
      if ("createWritable" in handle) await writeFile(handle, stream, signal);
      else await writeInWorker([FOLDER, name], stream, signal);
      return await handle.getFile();
    } catch (thrown) {
      await folder.removeEntry(name).catch(() => {});
      throw thrown;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw saveFault(thrown);
  }
}

// Deletes what closed pages have left behind.
async function clearStash(folder: FileSystemDirectoryHandle): Promise<void> {
  try {
    for await (const name of folder.keys()) {
      await navigator.locks.request(lockOf(name), { ifAvailable: true }, async (lock) => {
        if (lock) await folder.removeEntry(name);
      });
    }
  } catch {
    // Tried again with the next download.
  }
}

async function openFolder(): Promise<FileSystemDirectoryHandle> {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
}

// The lock ends with the page.
function hold(name: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  void navigator.locks.request(lockOf(name), () => {
    resolve();
    return new Promise(() => {});
  });
  return promise;
}

/**
 * Writes a stream to a file in the browser's own file system from a worker, for browsers that support no other way (Safari
 * before 26). Rejects with a DOMException, as the stream does, or with the signal's reason.
 */
async function writeInWorker(
  path: readonly [folder: string, name: string],
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const worker = new Worker(new URL("./stash-worker.ts", import.meta.url), { type: "module" });
  // One at a time: the stream waits until its chunk is written.
  const order = (what: StashOrder) =>
    new Promise<void>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<string | null>) =>
        data === null ? resolve() : reject(new DOMException("The worker could not write.", data));
      worker.onerror = () => reject(new DOMException("The worker did not start.", "UnknownError"));
      worker.postMessage(what);
    });
  try {
    const file = new WritableStream<Uint8Array>({
      start: () => order({ path }),
      write: (piece) => order(piece),
      close: () => order("close"),
      abort: () => order("close"),
    });
    await stream.pipeTo(file, { signal });
  } finally {
    worker.terminate();
  }
}

export interface HoldLimits {
  /** Bytes of the stream; null when unknown before it is read. */
  readonly total: number | null;
  readonly most: number;
  readonly signal: AbortSignal;
}

/**
 * Reads a whole stream into memory. Rejects with `storage_full` as soon as it is known to be too large, as the stream does,
 * or with the signal's reason.
 */
export async function holdInMemory(
  stream: ReadableStream<Uint8Array>,
  { total, most, signal }: HoldLimits,
): Promise<Blob> {
  if (total !== null && total > most) {
    await stream.cancel().catch(() => {});
    throw tooLarge(most);
  }
  const pieces: Blob[] = [];
  let size = 0;
  const sink = new WritableStream<Uint8Array<ArrayBuffer>>({
    write(piece) {
      size += piece.length;
      if (size > most) throw tooLarge(most);
      // A browser may keep a blob outside the page's memory.
      pieces.push(new Blob([piece]));
    },
  });
  await (stream as ReadableStream<Uint8Array<ArrayBuffer>>).pipeTo(sink, { signal });
  return new Blob(pieces);
}

function tooLarge(most: number): MediaError {
  const message = `This window has no file storage, as in some private windows, so at most ${bytes(most)} can be downloaded at once. Choose fewer files, or open the page in another window.`;
  return new MediaError("storage_full", message);
}
