import type { Storage, StoredInfo } from "../runs/ports.ts";
import { toHex } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { requirePrefix } from "./storage.ts";

/** Storage in the browser's own files, plus access to them as File objects. */
export interface OpfsStorage extends Storage {
  /** Returns an object as a File, which is read only when used; null when it does not exist. */
  file(key: string): Promise<File | null>;
  /** Returns all objects whose keys start with the prefix, in order of their keys. */
  files(prefix: string): Promise<{ key: string; file: File }[]>;
  /**
   * Rejects with `storage_full` when the browser reports less free space than `bytes`. Writes may still run out of space,
   * because browsers round their estimate.
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
  // The browser's temporary file has the same name plus an extension; one lock covers both.
  const exclusively = <T>(part: string, options: LockOptions, work: (lock: Lock | null) => Promise<T>) =>
    navigator.locks.request(`${name} unfinished ${part.split(".")[0]}`, options, work) as Promise<T>;
  for await (const part of unfinished.keys()) {
    void exclusively(part, { ifAvailable: true }, async (lock) => {
      if (lock) await unfinished.removeEntry(part);
    }).catch(() => {});
  }

  async function find(key: string): Promise<CurrentVersion | null> {
    const object = await openObject(root, key, false);
    return object && findVersion(object);
  }

  async function place(part: OpfsFile, key: string, info: StoredInfo): Promise<void> {
    const object = await openObject(root, key, true);
    if (!object) throw errors.opfsFolderMissing({ key });
    const [latest] = await listVersions(object);
    const target = versionName({ ...info, number: (latest?.number ?? 0) + 1 });
    if (part.move) await part.move(object, target);
    else {
      await fillFile(await object.getFileHandle(target, { create: true }), (await part.getFile()).stream());
      await unfinished.removeEntry(part.name);
    }
    // The latest version may be another tab's.
    for (const older of (await listVersions(object)).slice(1)) {
      await object.removeEntry(versionName(older)).catch(() => {});
    }
  }

  return {
    async read(key, range) {
      const version = await find(key);
      if (!version) return null;
      const bytes = range ? version.file.slice(range.start, Math.max(range.start, range.end)) : version.file;
      return { ...infoOf(version), body: bodyOf(bytes, key) };
    },
    async head(key) {
      const version = await find(key);
      return version && infoOf(version);
    },
    async write(key, body, mime) {
      const etag = crypto.randomUUID();
      return exclusively(etag, {}, async () => {
        try {
          if (body instanceof Uint8Array) await ensureRoom(body.length);
          const part = await unfinished.getFileHandle(etag, { create: true });
          const info = { size: await fillFile(part, body), etag, mime };
          await place(part, key, info);
          return info;
        } catch (thrown) {
          await unfinished.removeEntry(etag).catch(() => {});
          if (!(body instanceof Uint8Array)) await body.cancel(thrown).catch(() => {});
          throw isQuota(thrown) ? errors.opfsFull({ cause: thrown }) : thrown;
        }
      });
    },
    clear: async (prefix) => {
      requirePrefix(prefix);
      await navigator.locks.request(`${name} clear`, () => removeBelow(root, prefix));
    },
    async file(key) {
      const version = await find(key);
      return version && fileFor(version, key);
    },
    async files(prefix) {
      const below = await listBelow(root, prefix);
      const files = await Promise.all(
        below.map(async ({ key, object }) => {
          const version = await findVersion(object);
          return version && { key, file: fileFor(version, key) };
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
    throw errors.opfsDenied({ cause });
  }
}

async function ensureRoom(bytes: number): Promise<void> {
  const { quota, usage } = await navigator.storage.estimate();
  if (quota === undefined || usage === undefined || bytes <= quota - usage) return;
  throw errors.opfsTooSmall({ bytes, freeBytes: Math.max(0, quota - usage) });
}

function infoOf({ size, etag, mime }: Version): StoredInfo {
  return { size, etag, mime };
}

function fileFor({ file, mime }: CurrentVersion, key: string): File {
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
        throw errors.objectChanged({ key, cause });
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** A file handle, including methods that only some browsers, or only workers, have. */
type OpfsFile = Omit<FileSystemFileHandle, "createSyncAccessHandle"> & {
  createSyncAccessHandle?(): Promise<SyncAccess>;
  /** Moves the file atomically. */
  move?(folder: FileSystemDirectoryHandle, name: string): Promise<void>;
};

interface SyncAccess {
  write(bytes: Uint8Array<ArrayBuffer>, options: { at: number }): number;
  flush(): void;
  close(): void;
}

interface Sink {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  close(): Promise<void>;
  /** Closes the file, whatever it holds. */
  abort(): Promise<void>;
}

/** Writes the bytes into an empty file and returns their number; rejects as the stream does, or with `storage_full`. */
async function fillFile(file: OpfsFile, body: ReadableStream<Uint8Array> | Uint8Array): Promise<number> {
  const sink = file.createSyncAccessHandle ? await openSync(file) : await openWritable(file);
  try {
    const size = body instanceof Uint8Array ? await writeAll(sink, [body]) : await writeAll(sink, pull(body));
    await sink.close();
    return size;
  } catch (thrown) {
    await sink.abort().catch(() => {});
    throw thrown;
  }
}

async function writeAll(
  sink: Sink,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<number> {
  let size = 0;
  for await (const piece of pieces) {
    await sink.write(piece as Uint8Array<ArrayBuffer>);
    size += piece.length;
  }
  return size;
}

// Not every browser can iterate over streams.
async function* pull(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function openSync(file: OpfsFile): Promise<Sink> {
  const access = await file.createSyncAccessHandle?.();
  if (!access) throw errors.opfsAccessDenied();
  let at = 0;
  return {
    async write(bytes) {
      for (let rest = bytes; rest.length > 0; ) {
        const written = access.write(rest, { at });
        if (written === 0) throw errors.opfsFull();
        at += written;
        rest = rest.subarray(written);
      }
    },
    async close() {
      access.flush();
      access.close();
    },
    async abort() {
      access.close();
    },
  };
}

async function openWritable(file: OpfsFile): Promise<Sink> {
  const writable = await file.createWritable();
  return {
    async write(bytes) {
      try {
        await writable.write(bytes);
      } catch (thrown) {
        // Chromium reports a large write that runs out of space as an AbortError.
        throw thrown instanceof Error && thrown.name === "AbortError"
          ? errors.opfsFull({ cause: thrown })
          : thrown;
      }
    },
    close: () => writable.close(),
    abort: () => writable.abort(),
  };
}

function isQuota(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "QuotaExceededError";
}

// File systems limit names to 255 characters; a longer segment of a key spans several folders.
const MAX_NAME = 200;

/** The first character of a folder's name: a folder of keys, an object with its versions, or a piece of a long name. */
const MARK = { folder: "+", object: "=", piece: "~" } as const;

/** Encodes a key in characters that every file system supports and keeps distinct; a key's prefix encodes to a prefix. */
function encodeKey(key: string): string {
  const bytes = new TextEncoder().encode(key);
  return Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte);
    return /[a-z0-9._/-]/.test(letter) ? letter : `%${toHex([byte])}`;
  }).join("");
}

function decodeKey(encoded: string): string {
  return decodeURIComponent(encoded);
}

function foldersOf(key: string): string[] {
  const parts = encodeKey(key).split("/");
  return parts.flatMap((part, n) => {
    const pieces = part.match(new RegExp(`.{1,${MAX_NAME}}`, "g")) ?? [""];
    const last = n === parts.length - 1 ? MARK.object : MARK.folder;
    return pieces.map((piece, m) => (m === pieces.length - 1 ? last : MARK.piece) + piece);
  });
}

/** A version of an object: a file whose name holds the metadata, so that bytes and metadata appear atomically. */
interface Version extends StoredInfo {
  /** Number of the version, from 1; the highest is current. */
  number: number;
}

/** Returns the name of a version's file; later versions sort after earlier ones. */
function versionName({ number, size, etag, mime }: Version): string {
  return [String(number).padStart(12, "0"), size, etag, encodeKey(mime).replaceAll("/", "%2f")].join("~");
}

function parseVersion(name: string): Version | null {
  const match = /^(\d{12})~(\d+)~([^~]+)~([^~]*)$/.exec(name);
  if (!match) return null;
  const [, number, size, etag = "", mime = ""] = match;
  return { number: Number(number), size: Number(size), etag, mime: decodeKey(mime) };
}

interface CurrentVersion extends Version {
  /** The bytes, read on demand. */
  file: File;
}

/** A folder or object whose keys all start with a prefix. */
interface Branch {
  parent: FileSystemDirectoryHandle;
  name: string;
  handle: FileSystemDirectoryHandle;
  /** The encoded key; for a folder, the prefix of its keys. */
  key: string;
}

const MAX_LOOKUPS = 5;

async function openObject(
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

async function findVersion(object: FileSystemDirectoryHandle): Promise<CurrentVersion | null> {
  for (let lookup = 0; lookup < MAX_LOOKUPS; lookup++) {
    const versions = await listVersions(object);
    if (versions.length === 0) return null;
    for (const version of versions) {
      const handle = await present(object.getFileHandle(versionName(version)));
      const file = handle && (await present(handle.getFile()));
      if (!file) break;
      // If the size differs, the file is still being copied.
      if (file.size === version.size) return { ...version, file };
    }
  }
  return null;
}

async function listVersions(object: FileSystemDirectoryHandle): Promise<Version[]> {
  const names = (await present(collect(object.keys()))) ?? [];
  return names
    .sort()
    .reverse()
    .map(parseVersion)
    .filter((version) => version !== null);
}

async function removeBelow(root: FileSystemDirectoryHandle, prefix: string): Promise<void> {
  for (const { parent, name } of await collect(branches(root, "", encodeKey(prefix)))) {
    await present(parent.removeEntry(name, { recursive: true }));
  }
}

async function listBelow(root: FileSystemDirectoryHandle, prefix: string) {
  const objects: { key: string; object: FileSystemDirectoryHandle }[] = [];
  const visit = async (siblings: AsyncIterable<Branch>): Promise<void> => {
    for await (const { name, handle, key } of siblings) {
      if (name.startsWith(MARK.object)) objects.push({ key: decodeKey(key), object: handle });
      else await visit(branches(handle, key, ""));
    }
  };
  await visit(branches(root, "", encodeKey(prefix)));
  return objects.sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function present<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === "NotFoundError") return null;
    throw thrown;
  }
}

/** Yields the topmost branches whose keys all start with the prefix. */
async function* branches(
  parent: FileSystemDirectoryHandle,
  above: string,
  prefix: string,
): AsyncGenerator<Branch> {
  // Another run may remove the folder while it is read.
  for (const [name, handle] of (await present(collect(parent.entries()))) ?? []) {
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
