import type { LocalFile } from "./media-api.ts";

/** Names what lies on this machine: outputs and the visitor's files. */
export interface LocalUrls {
  /** `opfs:/<folder>/<key>`: a stored object. */
  of(key: string): string;
  /** The key of a stored object of ours; null for any other URL. */
  key(url: string): string | null;
}

/** Builds the URLs of the objects in a folder of the origin's private file system. */
export function createLocalUrls(folder: string): LocalUrls {
  const start = `opfs:/${folder}/`;
  return {
    of: (key) => start + key,
    key: (url) => (url.startsWith(start) && url.length > start.length ? url.slice(start.length) : null),
  };
}

/** The URL of a visitor's file, as its task shows it: `file:` and its name. */
export function fileUrl(name: string): string {
  return `file:${name.replaceAll(/[%?#/\\\p{Cc}]/gu, (each) => encodeURIComponent(each))}`;
}

/** Gives a standalone step's file a URL of its own, by which later steps find it: with the step's id behind a `#`. */
export function ownFileUrl(name: string, step_id: string): string {
  return `${fileUrl(name)}#${step_id}`;
}

/** The run that a file URL names; null where it names none. */
export function runOfFile(url: string): string | null {
  return /^file:[^#]*#(step_[0-9a-z]{26})$/.exec(url)?.[1] ?? null;
}

/** True for a path in the origin's private file system, `opfs:/folder/file`. */
export function isOpfsPath(url: unknown): url is string {
  return typeof url === "string" && url.startsWith("opfs:/");
}

/** Gives the file at a path in the origin's private file system; null when there is none. */
export async function openOpfsPath(url: string): Promise<LocalFile | null> {
  const parts = url
    .slice("opfs:/".length)
    .split("/")
    .filter((part) => part !== "");
  const last = parts.pop();
  if (last === undefined) return null;
  try {
    let folder = await navigator.storage.getDirectory();
    for (const part of parts) folder = await folder.getDirectoryHandle(part);
    return await folder.getFileHandle(last);
  } catch {
    return null;
  }
}
