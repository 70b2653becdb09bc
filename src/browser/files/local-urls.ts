import type { LocalFile } from "../media-api.ts";

/** URLs of files on this machine: outputs and visitors' files. */
export interface LocalUrls {
  /** Returns `opfs:/<folder>/<key>`, the URL of a stored object. */
  of(key: string): string;
  /** Returns the key of one of the client's stored objects; null for any other URL. */
  key(url: string): string | null;
}

/** Creates the URLs of objects in a folder of the origin private file system. */
export function createLocalUrls(folder: string): LocalUrls {
  const start = `opfs:/${folder}/`;
  return {
    of: (key) => start + key,
    key: (url) => (url.startsWith(start) && url.length > start.length ? url.slice(start.length) : null),
  };
}

/** Returns the URL of a visitor's file on its task: `file:` and its name. */
export function fileUrl(name: string): string {
  return `file:${name.replaceAll(/[%?#/\\\p{Cc}]/gu, (each) => encodeURIComponent(each))}`;
}

/** Returns the URL of a standalone step's file, by which later steps find it: with the step's id as fragment. */
export function ownFileUrl(name: string, step_id: string): string {
  return `${fileUrl(name)}#${step_id}`;
}

export function runOfFile(url: string): string | null {
  return /^file:[^#]*#(step_[0-9a-z]{26})$/.exec(url)?.[1] ?? null;
}

/** Returns the URL of a visitor's further file; its fragment is the file's index among the further inputs. */
export function furtherFileUrl(name: string, at: number): string {
  return `${fileUrl(name)}#${at}`;
}

/** Returns the index in the URL of a visitor's further file; null for any other URL. */
export function furtherOfFile(url: string): number | null {
  const [, at] = /^file:[^#]*#(\d{1,4})$/.exec(url) ?? [];
  return at === undefined ? null : Number(at);
}

/** Returns whether a URL is a path in the origin private file system, `opfs:/folder/file`. */
export function isOpfsPath(url: unknown): url is string {
  return typeof url === "string" && url.startsWith("opfs:/");
}

/** Returns the file at a path in the origin private file system; null when there is none. */
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
