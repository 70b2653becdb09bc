import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { MediaInput } from "../../src/index.ts";
import { visit } from "../address.ts";
import { jobAt } from "../home/jobs.ts";
import { FirstIcon } from "../ui/first-icon.tsx";
import { useWorkbench } from "../workbench.ts";
import * as strings from "./strings.ts";

const MAX_FILES = 1000;

function acceptsDrop(data: DataTransfer | null): boolean {
  return data !== null && (data.types.includes("Files") || data.types.includes("text/uri-list"));
}

/**
 * Returns the dropped files, as handles where the browser has them, so that they outlive a reload; all files of dropped
 * folders; and links.
 */
async function droppedInputs(data: DataTransfer): Promise<MediaInput[]> {
  // A drop's data is gone after the first await.
  const items = [...data.items].filter(({ kind }) => kind === "file");
  const entries = items.map(async (item) => {
    const file = item.getAsFile();
    const folder = item.webkitGetAsEntry?.();
    const plainFile = file ? [file] : [];
    const handle = await handleOf(item);
    if (handle?.kind === "file") return [handle as FileSystemFileHandle];
    if (!handle && !folder?.isDirectory) return plainFile;
    const { filesOfFolder, filesOfHandle } = await import("./folders.ts");
    if (handle) return filesOfHandle(handle, MAX_FILES).catch(() => plainFile);
    return filesOfFolder(folder as FileSystemDirectoryEntry, MAX_FILES).catch(() => []);
  });
  const links = urlsIn(data.getData("text/uri-list"));
  const files = (await Promise.all(entries)).flat();
  return (files.length > 0 ? files : links).slice(0, MAX_FILES);
}

function pastedInputs(data: DataTransfer): MediaInput[] {
  const files = [...data.files];
  return files.length > 0 ? files : urlsIn(data.getData("text/plain"));
}

/** Returns the URLs that a text consists of, one per line; none when it contains anything else. */
export function urlsIn(text: string): string[] {
  const lines = text.split(/\s+/).filter((line) => line !== "");
  return lines.every(isAddress) ? lines : [];
}

export function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text);
}

/**
 * Lets the visitor choose files as handles, which outlive a reload; null when the browser has none, empty when the visitor
 * chose nothing.
 */
export async function pickHandles(): Promise<MediaInput[] | null> {
  const pick: unknown = Reflect.get(globalThis, "showOpenFilePicker");
  if (typeof pick !== "function") return null;
  try {
    return await pick.call(globalThis, { multiple: true });
  } catch (thrown) {
    const aborted = thrown instanceof DOMException && thrown.name === "AbortError";
    return aborted ? [] : null;
  }
}

async function handleOf(item: DataTransferItem): Promise<FileSystemHandle | null> {
  const get: unknown = Reflect.get(item, "getAsFileSystemHandle");
  return typeof get === "function" ? Promise.resolve(get.call(item)).catch(() => null) : null;
}

/** Accepts what is dropped or pasted anywhere on the page, and shows a drop target during a drag. */
export function DropAnywhere() {
  const { queue, address } = useWorkbench();
  const over = useSignal(false);
  // An effect after the first frame would miss an early drag.
  useLayoutEffect(() => {
    const page = new AbortController();
    const { signal } = page;
    // `dragleave` also fires when the pointer moves into a nested element.
    let depth = 0;
    const addInputs = (inputs: readonly MediaInput[], job = address.peek().job) => {
      queue.add(inputs, job);
      if (inputs.length > 0 && address.peek().view === "console") visit("/files");
    };
    const leave = () => {
      depth = 0;
      over.value = false;
    };
    const enter = (event: DragEvent) => {
      if (!acceptsDrop(event.dataTransfer)) return;
      event.preventDefault();
      depth++;
      over.value = true;
    };
    const move = (event: DragEvent) => {
      if (!acceptsDrop(event.dataTransfer) || isOwnField(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
    };
    const drop = (event: DragEvent) => {
      leave();
      const { dataTransfer } = event;
      if (!dataTransfer || !acceptsDrop(dataTransfer) || event.defaultPrevented || isOwnField(event)) return;
      event.preventDefault();
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const job = (link && jobAt(link.pathname)) ?? undefined;
      void droppedInputs(dataTransfer).then((inputs) => addInputs(inputs, job));
    };
    const paste = (event: ClipboardEvent) => {
      if (isOwnField(event) || !event.clipboardData) return;
      const inputs = pastedInputs(event.clipboardData);
      if (inputs.length === 0) return;
      event.preventDefault();
      addInputs(inputs);
    };
    addEventListener("dragenter", enter, { signal });
    addEventListener("dragover", move, { signal });
    addEventListener("dragleave", () => --depth <= 0 && leave(), { signal });
    addEventListener("drop", drop, { signal });
    addEventListener("paste", paste, { signal });
    return () => page.abort();
  }, [queue, address, over]);
  return (
    <div class={over.value ? "drop-sign frame over" : "drop-sign"} aria-hidden="true">
      <div>
        <FirstIcon name="upload" size={48} />
        {strings.dropToAdd}
      </div>
    </div>
  );
}

function isOwnField(event: Event): boolean {
  const { target } = event;
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}
