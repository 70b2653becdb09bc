import { saveFault, writeFile } from "./write-file.ts";

const FOLDER = "framewright-downloads";
const lockOf = (name: string) => `${FOLDER}/${name}`;

/**
 * Puts a stream into the browser's own file system, so that it can be downloaded from there however large it is, and keeps it while this page is
 * open. Where the browser cannot write there piece by piece, it is up to the browser whether it holds the whole in memory.
 */
export async function stash(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<Blob> {
  if (!("createWritable" in FileSystemFileHandle.prototype)) {
    return new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).blob();
  }
  await clearStash();
  const name = crypto.randomUUID();
  await hold(name);
  try {
    const folder = await openFolder();
    const handle = await folder.getFileHandle(name, { create: true });
    try {
      await writeFile(handle, stream, signal);
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

/** Removes what pages that are closed by now have left. Never rejects. */
export async function clearStash(): Promise<void> {
  try {
    const folder = await openFolder();
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
