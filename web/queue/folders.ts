import type { MediaInput } from "../../src/index.ts";

/** Returns the handle of a file, or those of the files in a folder and its subfolders; stops once it has at least `max`. */
export async function filesOfHandle(handle: FileSystemHandle, max: number): Promise<MediaInput[]> {
  if (handle.kind === "file") return [handle as FileSystemFileHandle];
  const files: MediaInput[] = [];
  for await (const child of (handle as FileSystemDirectoryHandle).values()) {
    if (isHidden(child.name)) continue;
    files.push(...(await filesOfHandle(child, max - files.length)));
    if (files.length >= max) break;
  }
  return files;
}

/** Returns the files of a folder and its subfolders, in a browser without handles; stops once it has at least `max`. */
export async function filesOfFolder(folder: FileSystemDirectoryEntry, max: number): Promise<MediaInput[]> {
  const reader = folder.createReader();
  const files: MediaInput[] = [];
  // Chromium returns at most 100 entries a call.
  for (let more = await read(reader); more.length > 0; more = await read(reader)) {
    for (const child of more) {
      if (isHidden(child.name) || files.length >= max) continue;
      files.push(
        ...(child.isDirectory
          ? await filesOfFolder(child as FileSystemDirectoryEntry, max - files.length)
          : [await fileOf(child as FileSystemFileEntry)]),
      );
    }
    if (files.length >= max) break;
  }
  return files;
}

function read(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function isHidden(name: string): boolean {
  return name.startsWith(".") || name === "Thumbs.db" || name === "desktop.ini";
}
