import type { MediaInput } from "../../../src/index.ts";

// Of a folder that holds half a disk, as many as anyone means.
const MOST_FILES = 1000;

/** True where a drag brings something that the queue takes: files or a link. */
export function isTaken(data: DataTransfer | null): boolean {
  return data !== null && (data.types.includes("Files") || data.types.includes("text/uri-list"));
}

/** Gives what was dropped: files, by handles where the browser has them so that they outlive a reload, folders with all that is in them, and links. */
export async function droppedInputs(data: DataTransfer): Promise<MediaInput[]> {
  // What a drop holds is gone after the first wait.
  const items = [...data.items].filter(({ kind }) => kind === "file");
  const entries = items.map(async (item) => {
    const file = item.getAsFile();
    const folder = item.webkitGetAsEntry?.();
    const given = file ? [file] : [];
    const handle = await handleOf(item);
    // A folder may be gone, or closed to the page, before it is walked.
    if (handle) return filesOfHandle(handle).catch(() => given);
    if (folder?.isDirectory) return filesOfFolder(folder as FileSystemDirectoryEntry).catch(() => []);
    return given;
  });
  const links = urlsIn(data.getData("text/uri-list"));
  const files = (await Promise.all(entries)).flat();
  return (files.length > 0 ? files : links).slice(0, MOST_FILES);
}

/** Gives what was pasted: files, else the addresses in a text. */
export function pastedInputs(data: DataTransfer): MediaInput[] {
  const files = [...data.files];
  return files.length > 0 ? files : urlsIn(data.getData("text/plain"));
}

/** Gives the addresses that a text is made of, one a line; none where there is anything else in it. */
export function urlsIn(text: string): string[] {
  const lines = text.split(/\s+/).filter((line) => line !== "");
  return lines.every(isAddress) ? lines : [];
}

/** True for an address of something on the web. */
export function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text);
}

/** Lets the visitor choose files by handles, which outlive a reload; null where the browser has none, empty when the visitor chose none. */
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

async function filesOfHandle(handle: FileSystemHandle): Promise<MediaInput[]> {
  if (handle.kind === "file") return [handle as FileSystemFileHandle];
  const found: MediaInput[] = [];
  for await (const child of (handle as FileSystemDirectoryHandle).values()) {
    if (isHidden(child.name)) continue;
    found.push(...(await filesOfHandle(child)));
    if (found.length >= MOST_FILES) break;
  }
  return found;
}

async function filesOfFolder(folder: FileSystemDirectoryEntry): Promise<MediaInput[]> {
  const reader = folder.createReader();
  const found: MediaInput[] = [];
  // A reader gives a hundred at a time.
  for (let more = await read(reader); more.length > 0; more = await read(reader)) {
    for (const child of more) {
      if (isHidden(child.name)) continue;
      if (child.isDirectory) found.push(...(await filesOfFolder(child as FileSystemDirectoryEntry)));
      else found.push(await fileOf(child as FileSystemFileEntry));
    }
    if (found.length >= MOST_FILES) break;
  }
  return found;
}

function read(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

// Such as .DS_Store, which no visitor sees.
function isHidden(name: string): boolean {
  return name.startsWith(".") || name === "Thumbs.db" || name === "desktop.ini";
}
