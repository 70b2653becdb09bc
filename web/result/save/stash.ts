import { holdInMemory } from "./hold-in-memory.ts";
import { saveFault, writeFile } from "./write-file.ts";
import { writeInWorker } from "./write-in-worker.ts";

const FOLDER = "framewright-downloads";
// What a tab of a phone bears too.
const MOST_IN_MEMORY = 500_000_000;
const lockOf = (name: string) => `${FOLDER}/${name}`;

/**
 * Puts a stream of `total` bytes, null where that is not known, into the browser's own file system, so that it can be downloaded from there
 * however large it is, and keeps it while this page is open. Where the browser gives the page no files, as in some private windows, it is held
 * in memory; one of more than 500 MB is refused with `storage_full` before that is full.
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

// Removes what pages that are closed by now have left.
async function clearStash(folder: FileSystemDirectoryHandle): Promise<void> {
  try {
    for await (const name of folder.keys()) {
      await navigator.locks.request(lockOf(name), { ifAvailable: true }, async (lock) => {
        if (lock) await folder.removeEntry(name);
      });
    }
  } catch {
    // It is tried again with the next download.
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
