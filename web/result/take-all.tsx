import type { Fault, Item } from "../queue/item.ts";
import type { Queue } from "../queue/queue.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { canPickFolder, countBytes, downloadAll, pickFolder, writeFile } from "./download.ts";
import { withNumber } from "./file-names.ts";
import { faultOf, OperationView, saveFault, useOperation, type Watch } from "./operation.tsx";
import { type SavedOutput, savedOutputOf } from "./output-files.ts";
import * as strings from "./strings.ts";
import "./take-all.css";

/** Downloads items that succeeded as one zip, or saves them to a folder. */
export function TakeAll({ items }: { items: readonly Item[] }) {
  const { queue } = useWorkbench();
  const operation = useOperation({ outlives: true });
  const zip = () =>
    operation.begin(async (watch) => {
      const isDone = await downloadAll(items, queue, watch);
      return isDone ? strings.zipReady : null;
    });
  const save = () =>
    operation.begin(async (watch) => {
      const folder = await pickFolder();
      return folder && wordsOf(await saveAll(items, folder, queue, watch), items.length);
    });
  return (
    <div class="take-all">
      <div class="row">
        <button type="button" onClick={zip} disabled={operation.progress !== null}>
          <Icon name="download" />
          {strings.downloadAll}
        </button>
        {canPickFolder() && (
          <button type="button" onClick={save} disabled={operation.progress !== null}>
            <Icon name="folder" />
            {strings.saveToFolder}
          </button>
        )}
      </div>
      <OperationView operation={operation} label={strings.saving} />
    </div>
  );
}

function wordsOf({ names, faults }: Saved, count: number): string {
  const done = strings.saved({ count: names.length, total: count });
  return [done, ...faults.map(({ name, fault }) => `${name}: ${fault.message}`)].join(" ");
}

interface Saved {
  /** Names in the folder of the files saved completely. */
  readonly names: readonly string[];
  /** The errors of items that could not be saved. */
  readonly faults: readonly { readonly name: string; readonly fault: Fault }[];
}

/**
 * Saves items that succeeded to a folder, one after the other. Overwrites nothing, and leaves nothing of an item that fails
 * or is stopped. A full disk or a read-only folder ends the whole operation. Rejects with the signal's reason only.
 */
async function saveAll(
  items: readonly Item[],
  folder: FileSystemDirectoryHandle,
  queue: Pick<Queue, "output">,
  { signal, onProgress }: Watch,
): Promise<Saved> {
  const names: string[] = [];
  const faults: { name: string; fault: Fault }[] = [];
  const total = items.reduce<number | null>((sum, item) => {
    const size = item.task?.steps.at(-1)?.output?.filesize;
    return sum === null || size === undefined ? null : sum + size;
  }, 0);
  let done = 0;
  onProgress(0, total);
  for (const item of items) {
    try {
      const output = await savedOutputOf(item, queue);
      names.push(
        await saveOne(output, folder, signal, (count) => {
          done += count;
          onProgress(done, total);
        }),
      );
    } catch (thrown) {
      signal.throwIfAborted();
      const fault = faultOf(saveFault(thrown));
      faults.push({ name: item.name, fault });
      if (fault.kind === "storage_full" || fault.kind === "forbidden") break;
    }
  }
  return { names, faults };
}

async function saveOne(
  { name, is_folder, files }: SavedOutput,
  folder: FileSystemDirectoryHandle,
  signal: AbortSignal,
  onBytes: (count: number) => void,
): Promise<string> {
  const free = await freeNameIn(folder, name);
  const own = is_folder ? await folder.getDirectoryHandle(free, { create: true }) : folder;
  try {
    for (const { path, open } of files) {
      signal.throwIfAborted();
      const handle = await fileAt(own, is_folder ? path : free);
      await writeFile(handle, countBytes(await open(), onBytes), signal);
    }
    return free;
  } catch (thrown) {
    await folder.removeEntry(free, { recursive: true }).catch(() => {});
    throw thrown;
  }
}

async function fileAt(folder: FileSystemDirectoryHandle, path: string): Promise<FileSystemFileHandle> {
  const parts = path.split("/");
  let at = folder;
  for (const part of parts.slice(0, -1)) at = await at.getDirectoryHandle(part, { create: true });
  return at.getFileHandle(parts.at(-1) ?? "", { create: true });
}

async function freeNameIn(folder: FileSystemDirectoryHandle, name: string): Promise<string> {
  let free = name;
  for (let number = 2; await isThere(folder, free); number++) free = withNumber(name, number);
  return free;
}

async function isThere(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  try {
    await folder.getFileHandle(name);
    return true;
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "TypeMismatchError") return true;
    if (thrown instanceof DOMException && thrown.name === "NotFoundError") return false;
    throw thrown;
  }
}
