import { MediaError } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";
import type { Queue } from "../queue/queue.ts";
import { isFolder, outputName } from "./file-names.ts";
import { type Taken, takenOf } from "./output-files.ts";
import { stash } from "./stash.ts";
import { counted, type Watch, writeFile } from "./write-file.ts";

type Outputs = Pick<Queue, "output">;

/**
 * Downloads an item that succeeded: its file, or a folder as one zip. Must be called on a click; resolves to false when the
 * visitor chose no file.
 */
export function downloadOne(item: Item, queue: Outputs, watch: Watch): Promise<boolean> {
  const output = item.task?.steps.at(-1)?.output;
  const name = output ? outputName(item.name, output) : item.name;
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
  read: (outputs: readonly Taken[]) => Promise<ReadableStream<Uint8Array>> | ReadableStream<Uint8Array>,
): Promise<boolean> {
  // First, because it needs the click.
  const handle = canPickFile() ? await pickFile(name) : null;
  if (canPickFile() && !handle) return false;
  const outputs = await Promise.all(items.map((item) => takenOf(item, queue)));
  const total = totalOf(outputs);
  let done = 0;
  onProgress(0, total);
  const stream = counted(await read(outputs), (count) => {
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

async function asZip(outputs: readonly Taken[]): Promise<ReadableStream<Uint8Array>> {
  const { zipStream } = await import("./zip-stream.ts");
  return zipStream(outputs);
}

function totalOf(outputs: readonly Taken[]): number | null {
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
  } catch {
    // The file is the visitor's own, and empty.
  }
}

function offer(name: string, file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The download may take long; the URL ends with the page.
}

// Missing in some browsers, and in TypeScript's own types.
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

/** Returns whether the visitor can choose where to save a file, so that it can be written piece by piece. */
function canPickFile(): boolean {
  return pickers().showSaveFilePicker !== undefined;
}

/** Asks where to save a file, which needs a click; resolves to null when the visitor closes the dialog. */
function pickFile(suggestedName: string): Promise<FileSystemFileHandle | null> {
  return asked(pickers().showSaveFilePicker?.({ suggestedName, id: ID }));
}

/** Asks for a writable folder, which needs a click; resolves to null when the visitor closes the dialog. */
export function pickFolder(): Promise<FileSystemDirectoryHandle | null> {
  return asked(pickers().showDirectoryPicker?.({ mode: "readwrite", id: ID }));
}

async function asked<T>(answer: Promise<T> | undefined): Promise<T | null> {
  try {
    return (await answer) ?? null;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") return null;
    throw new MediaError(
      "forbidden",
      "The browser does not let this page save there. Choose another folder.",
      {
        cause,
      },
    );
  }
}
