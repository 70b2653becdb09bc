import { MediaError } from "../../src/index.ts";
import { keepsOriginal } from "../options/default-settings.ts";
import type { Item } from "../queue/item.ts";
import type { Queue } from "../queue/queue.ts";
import { bytes } from "../words/quantities.ts";
import { isFolder, numberDuplicates, outputName } from "./file-names.ts";
import { saveFault, type Watch } from "./operation.tsx";
import { type SavedOutput, savedOutputOf } from "./output-files.ts";
import type { StashOrder } from "./stash-worker.ts";
import * as strings from "./strings.ts";

const FOLDER = "framewright-downloads";
// Fits into the memory of a tab on a phone.
const MAX_MEMORY_BYTES = 500_000_000;
const lockOf = (name: string) => `${FOLDER}/${name}`;

/**
 * Writes a stream of `total` bytes, null when unknown, to the browser's own file system, so that a download of any size can
 * be served from there, and keeps it while this page is open. Where the browser denies the page files, as in some private
 * windows, holds it in memory, and rejects one of more than 500 MB with `storage_full`.
 */
async function stash(
  stream: ReadableStream<Uint8Array>,
  total: number | null,
  signal: AbortSignal,
): Promise<Blob> {
  const folder = await openFolder().catch(() => null);
  try {
    if (!folder) return await holdInMemory(stream, { total, max: MAX_MEMORY_BYTES, signal });
    await clearStash(folder);
    const name = crypto.randomUUID();
    await holdLock(name);
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

async function clearStash(folder: FileSystemDirectoryHandle): Promise<void> {
  try {
    for await (const name of folder.keys()) {
      await navigator.locks.request(lockOf(name), { ifAvailable: true }, async (lock) => {
        if (lock) await folder.removeEntry(name);
      });
    }
  } catch {}
}

async function openFolder(): Promise<FileSystemDirectoryHandle> {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
}

function holdLock(name: string): Promise<void> {
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
  // The worker takes one order at a time; the stream waits until its chunk is written.
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
  readonly max: number;
  readonly signal: AbortSignal;
}

/**
 * Reads a whole stream into memory. Rejects with `storage_full` as soon as it is known to be too large, as the stream does,
 * or with the signal's reason.
 */
export async function holdInMemory(
  stream: ReadableStream<Uint8Array>,
  { total, max, signal }: HoldLimits,
): Promise<Blob> {
  if (total !== null && total > max) {
    await stream.cancel().catch(() => {});
    throw tooLarge(max);
  }
  const pieces: Blob[] = [];
  let size = 0;
  const sink = new WritableStream<Uint8Array<ArrayBuffer>>({
    write(piece) {
      size += piece.length;
      if (size > max) throw tooLarge(max);
      // A browser may keep a blob outside the page's memory.
      pieces.push(new Blob([piece]));
    },
  });
  await (stream as ReadableStream<Uint8Array<ArrayBuffer>>).pipeTo(sink, { signal });
  return new Blob(pieces);
}

function tooLarge(max: number): MediaError {
  const message = strings.noFileStorage({ size: bytes(max) });
  return new MediaError("storage_full", message);
}

type Outputs = Pick<Queue, "output">;

/**
 * Downloads an item that succeeded: its file, or a folder as one zip. Must be called on a click; resolves to false when the
 * visitor chose no file.
 */
export function downloadOne(item: Item, queue: Outputs, watch: Watch): Promise<boolean> {
  const output = keepsOriginal(item) ? null : item.task?.steps.at(-1)?.output;
  const name = output ? outputName(item.name, output, item.naming) : item.name;
  if (output && isFolder(output)) return download(`${name}.zip`, [item], queue, watch, asZip);
  return download(name, [item], queue, watch, ([only]) => only?.files[0]?.open() ?? new Blob().stream());
}

/**
 * Downloads items that succeeded as one zip, reading their files while it is written and numbering equal names. Must be
 * called on a click; resolves to false when the visitor chose no file.
 */
export function downloadAll(items: readonly Item[], queue: Outputs, watch: Watch): Promise<boolean> {
  return download("framewright.zip", items, queue, watch, asZip);
}

async function download(
  name: string,
  items: readonly Item[],
  queue: Outputs,
  { signal, onProgress }: Watch,
  read: (outputs: readonly SavedOutput[]) => Promise<ReadableStream<Uint8Array>> | ReadableStream<Uint8Array>,
): Promise<boolean> {
  // The picker needs the click's activation, so it comes first.
  const handle = canPickFile() ? await pickFile(name) : null;
  if (canPickFile() && !handle) return false;
  const outputs = await Promise.all(items.map((item) => savedOutputOf(item, queue)));
  const total = totalOf(outputs);
  let done = 0;
  onProgress(0, total);
  const stream = countBytes(await read(outputs), (count) => {
    done += count;
    onProgress(total === null ? done : Math.min(done, total), total);
  });
  if (!handle) {
    offer(name, await stash(stream, total, signal));
    return true;
  }
  try {
    await writeFile(handle, stream, signal);
  } catch (thrown) {
    await dropEmpty(handle);
    throw thrown;
  }
  return true;
}

/** Streams a zip of outputs, opening one file at a time. Media do not compress, so they are stored. */
async function asZip(outputs: readonly SavedOutput[]): Promise<ReadableStream<Uint8Array>> {
  const { makeZip } = await import("client-zip");
  return makeZip(zipEntries(outputs));
}

async function* zipEntries(outputs: readonly SavedOutput[]) {
  const names = numberDuplicates(outputs.map(({ name }) => name));
  const lastModified = new Date();
  for (const [index, { files, is_folder }] of outputs.entries()) {
    const name = names[index] ?? "";
    for (const { path, open } of files) {
      yield { name: is_folder ? `${name}/${path}` : name, lastModified, input: await open() };
    }
  }
}

function totalOf(outputs: readonly SavedOutput[]): number | null {
  const sizes = outputs.flatMap(({ files }) => files.map(({ size }) => size));
  return sizes.some((size) => size === null)
    ? null
    : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

// The picker creates the file empty; an existing file keeps its content.
async function dropEmpty(handle: FileSystemFileHandle): Promise<void> {
  try {
    const remove = Reflect.get(handle, "remove") as (() => Promise<void>) | undefined;
    if ((await handle.getFile()).size === 0) await remove?.call(handle);
  } catch {}
}

function offer(name: string, file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The URL is never revoked: the download may take long.
}

interface Pickers {
  showSaveFilePicker?(options: { suggestedName: string; id: string }): Promise<FileSystemFileHandle>;
  showDirectoryPicker?(options: { mode: "readwrite"; id: string }): Promise<FileSystemDirectoryHandle>;
}

const ID = "framewright";

const pickers = () => globalThis as Pickers;

/** Returns whether the visitor can choose a folder to save to. */
export function canPickFolder(): boolean {
  return pickers().showDirectoryPicker !== undefined;
}

function canPickFile(): boolean {
  return pickers().showSaveFilePicker !== undefined;
}

/** Asks where to save a file, which needs a click; resolves to null when the visitor closes the dialog. */
function pickFile(suggestedName: string): Promise<FileSystemFileHandle | null> {
  return handleOrNull(pickers().showSaveFilePicker?.({ suggestedName, id: ID }));
}

/** Asks for a writable folder, which needs a click; resolves to null when the visitor closes the dialog. */
export function pickFolder(): Promise<FileSystemDirectoryHandle | null> {
  return handleOrNull(pickers().showDirectoryPicker?.({ mode: "readwrite", id: ID }));
}

async function handleOrNull<T>(answer: Promise<T> | undefined): Promise<T | null> {
  try {
    return (await answer) ?? null;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") return null;
    throw new MediaError("forbidden", strings.folderForbidden, {
      cause,
    });
  }
}

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
export function countBytes(
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
