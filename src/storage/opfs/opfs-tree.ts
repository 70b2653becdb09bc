import {
  decodeKey,
  encodeKey,
  foldersOf,
  MARK,
  parseVersion,
  type Version,
  versionName,
} from "./opfs-names.ts";

export interface Found extends Version {
  /** The bytes, read on demand. */
  file: File;
}

/** A folder whose keys all start with a prefix, or an object whose key does. */
interface Branch {
  parent: FileSystemDirectoryHandle;
  name: string;
  handle: FileSystemDirectoryHandle;
  /** Encoded; for a folder, the prefix of its keys. */
  key: string;
}

// A version that disappears during the search has a successor, or the object was cleared.
const LOOKS = 5;

/** Returns the folder of a key's versions; null when it does not exist and `create` is false. */
export async function openObject(
  root: FileSystemDirectoryHandle,
  key: string,
  create: boolean,
): Promise<FileSystemDirectoryHandle | null> {
  let folder = root;
  for (const name of foldersOf(key)) {
    const next = await present(folder.getDirectoryHandle(name, { create }));
    if (!next) return null;
    folder = next;
  }
  return folder;
}

/** Returns the latest complete version; null when there is none. */
export async function findVersion(object: FileSystemDirectoryHandle): Promise<Found | null> {
  for (let look = 0; look < LOOKS; look++) {
    const versions = await listVersions(object);
    if (versions.length === 0) return null;
    for (const version of versions) {
      const handle = await present(object.getFileHandle(versionName(version)));
      const file = handle && (await present(handle.getFile()));
      if (!file) break;
      // A file of another size is still being copied.
      if (file.size === version.size) return { ...version, file };
    }
  }
  return null;
}

/** Lists the versions of an object, latest first. */
export async function listVersions(object: FileSystemDirectoryHandle): Promise<Version[]> {
  const names = (await present(collect(object.keys()))) ?? [];
  return names
    .sort()
    .reverse()
    .map(parseVersion)
    .filter((version) => version !== null);
}

export async function removeBelow(root: FileSystemDirectoryHandle, prefix: string): Promise<void> {
  for (const { parent, name } of await collect(branches(root, "", encodeKey(prefix)))) {
    await present(parent.removeEntry(name, { recursive: true }));
  }
}

/** Lists the objects whose keys start with the prefix, in order of their keys. */
export async function listBelow(root: FileSystemDirectoryHandle, prefix: string) {
  const objects: { key: string; object: FileSystemDirectoryHandle }[] = [];
  const visit = async (found: AsyncIterable<Branch>): Promise<void> => {
    for await (const { name, handle, key } of found) {
      if (name.startsWith(MARK.object)) objects.push({ key: decodeKey(key), object: handle });
      else await visit(branches(handle, key, ""));
    }
  };
  await visit(branches(root, "", encodeKey(prefix)));
  return objects.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Resolves to null when the file or folder does not exist. */
async function present<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === "NotFoundError") return null;
    throw thrown;
  }
}

// The topmost branches whose keys all start with the prefix.
async function* branches(
  parent: FileSystemDirectoryHandle,
  above: string,
  prefix: string,
): AsyncGenerator<Branch> {
  for await (const [name, handle] of parent.entries()) {
    if (!isFolder(handle) || !(Object.values(MARK) as string[]).includes(name.charAt(0))) continue;
    const key = above + name.slice(1) + (name.startsWith(MARK.folder) ? "/" : "");
    if (key.startsWith(prefix)) yield { parent, name, handle, key };
    else if (!name.startsWith(MARK.object) && prefix.startsWith(key)) yield* branches(handle, key, prefix);
  }
}

function isFolder(handle: FileSystemHandle): handle is FileSystemDirectoryHandle {
  return handle.kind === "directory";
}

async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const each of all) list.push(each);
  return list;
}
