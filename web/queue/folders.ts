import type { MediaInput } from "../../src/index.ts";

/** Returns a handle, or the handles of all files in its folder, until there are `most`. */
export async function filesOfHandle(handle: FileSystemHandle, most: number): Promise<MediaInput[]> {
  if (handle.kind === "file") return [handle as FileSystemFileHandle];
  const files: MediaInput[] = [];
  for await (const child of (handle as FileSystemDirectoryHandle).values()) {
    if (isHidden(child.name)) continue;
    files.push(...(await filesOfHandle(child, most)));
    if (files.length >= most) break;
  }
  return files;
}

/** Returns all files of a folder, in a browser without handles, until there are `most`. */
export async function filesOfFolder(folder: FileSystemDirectoryEntry, most: number): Promise<MediaInput[]> {
  const reader = folder.createReader();
  const files: MediaInput[] = [];
  // Chromium returns at most 100 entries a call.
  for (let more = await read(reader); more.length > 0; more = await read(reader)) {
    for (const child of more) {
      if (isHidden(child.name)) continue;
      if (child.isDirectory) files.push(...(await filesOfFolder(child as FileSystemDirectoryEntry, most)));
      else files.push(await fileOf(child as FileSystemFileEntry));
    }
    if (files.length >= most) break;
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
