import { MediaError } from "../../core/errors.ts";
import type { Storage, StoredInfo } from "../../core/ports.ts";
import { requirePrefix } from "../require-prefix.ts";
import { fillFile, nameFull, type OpfsFile } from "./opfs-fill.ts";
import { type Version, versionName } from "./opfs-names.ts";
import { type Found, findVersion, listBelow, listVersions, openObject, removeBelow } from "./opfs-tree.ts";

/** Storage in the browser's own files, plus access to them as File objects. */
export interface OpfsStorage extends Storage {
  /** Returns an object as a File, which is read only when used; null when it does not exist. */
  file(key: string): Promise<File | null>;
  /** Returns all objects whose keys start with the prefix, in order of their keys. */
  files(prefix: string): Promise<{ key: string; file: File }[]>;
  /**
   * Rejects with `storage_full` when the browser reports too little room for so many bytes more. Storage may still run full,
   * because browsers round what they report.
   */
  ensureRoom(bytes: number): Promise<void>;
}

const UNFINISHED = "unfinished";

/**
 * Opens storage in a folder of the origin private file system, in a page or, faster, in a dedicated worker. Removes files
 * that a crash left incomplete.
 *
 * @param name The folder's name.
 * @throws `service_unavailable`, not worth a retry, when the browser has no such files or denies access to them, as in some
 * private windows.
 */
export async function createOpfsStorage(name: string): Promise<OpfsStorage> {
  const root = await openRoot(name);
  const unfinished = await root.getDirectoryHandle(UNFINISHED, { create: true });
  // A browser may write to a temporary file with the same name plus an extension.
  const alone = <T>(part: string, options: LockOptions, work: (lock: Lock | null) => Promise<T>) =>
    navigator.locks.request(`${name} unfinished ${part.split(".")[0]}`, options, work) as Promise<T>;
  // Another tab may be writing; it holds a lock on each of its files.
  for await (const part of unfinished.keys()) {
    void alone(part, { ifAvailable: true }, async (lock) => {
      if (lock) await unfinished.removeEntry(part);
    }).catch(() => {});
  }

  async function find(key: string): Promise<Found | null> {
    const object = await openObject(root, key, false);
    return object && findVersion(object);
  }

  async function place(part: OpfsFile, key: string, info: StoredInfo): Promise<void> {
    const object = await openObject(root, key, true);
    if (!object) throw new MediaError("internal_error", `There is no folder for ${key}.`);
    const [latest] = await listVersions(object);
    const target = versionName({ ...info, number: (latest?.number ?? 0) + 1 });
    if (part.move) await part.move(object, target);
    else {
      await fillFile(await object.getFileHandle(target, { create: true }), (await part.getFile()).stream());
      await unfinished.removeEntry(part.name);
    }
    // Keeps only the latest version, even if another tab wrote it.
    for (const older of (await listVersions(object)).slice(1)) {
      await object.removeEntry(versionName(older)).catch(() => {});
    }
  }

  return {
    async read(key, range) {
      const found = await find(key);
      if (!found) return null;
      const bytes = range ? found.file.slice(range.start, Math.max(range.start, range.end)) : found.file;
      return { ...infoOf(found), body: bodyOf(bytes, key) };
    },
    async head(key) {
      const found = await find(key);
      return found && infoOf(found);
    },
    async write(key, body, mime) {
      const etag = crypto.randomUUID();
      return alone(etag, {}, async () => {
        try {
          if (body instanceof Uint8Array) await ensureRoom(body.length);
          const part = await unfinished.getFileHandle(etag, { create: true });
          const info = { size: await fillFile(part, body), etag, mime };
          await place(part, key, info);
          return info;
        } catch (thrown) {
          await unfinished.removeEntry(etag).catch(() => {});
          if (!(body instanceof Uint8Array)) await body.cancel(thrown).catch(() => {});
          throw nameFull(thrown);
        }
      });
    },
    // Two removals of one folder at the same time would refuse each other: a tab that tidies up, and a page that deletes.
    clear: async (prefix) => {
      requirePrefix(prefix);
      await navigator.locks.request(`${name} clear`, () => removeBelow(root, prefix));
    },
    async file(key) {
      const found = await find(key);
      return found && named(found, key);
    },
    async files(prefix) {
      const below = await listBelow(root, prefix);
      const files = await Promise.all(
        below.map(async ({ key, object }) => {
          const found = await findVersion(object);
          return found && { key, file: named(found, key) };
        }),
      );
      return files.filter((file) => file !== null);
    },
    ensureRoom,
  };
}

async function openRoot(name: string): Promise<FileSystemDirectoryHandle> {
  try {
    const origin = await navigator.storage.getDirectory();
    return await origin.getDirectoryHandle(name, { create: true });
  } catch (cause) {
    const message = "The browser denies this page files of its own, as in some private windows.";
    throw new MediaError("service_unavailable", message, { cause, retryable: false });
  }
}

async function ensureRoom(bytes: number): Promise<void> {
  const { quota, usage } = await navigator.storage.estimate();
  if (quota === undefined || usage === undefined || bytes <= quota - usage) return;
  const left = inWords(Math.max(0, quota - usage));
  const message = `This needs ${inWords(bytes)} of room, and the browser has ${left} left for this page; delete finished tasks, or free space on the disk.`;
  throw new MediaError("storage_full", message);
}

function inWords(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

function infoOf({ size, etag, mime }: Version): StoredInfo {
  return { size, etag, mime };
}

// Shares the bytes under the name from the key, without copying.
function named({ file, mime }: Found, key: string): File {
  const { lastModified } = file;
  return new File([file], key.slice(key.lastIndexOf("/") + 1), { type: mime, lastModified });
}

function bodyOf(bytes: Blob, key: string): ReadableStream<Uint8Array> {
  const reader = bytes.stream().getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (cause) {
        const message = `The object stored as ${key} changed while it was being read.`;
        throw new MediaError("internal_error", message, { cause });
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
