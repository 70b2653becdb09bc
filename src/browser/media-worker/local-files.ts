import { nameOf, openFile } from "../../client/media-input.ts";
import type { WaitingFile } from "../../client/update.ts";
import { extraInputs, mapExtraInputs } from "../../media/extra-inputs.ts";
import { fingerprintOf } from "../../storage/readers.ts";
import type { InputStore } from "../../stores/indexeddb.ts";
import type { InputRecord } from "../../stores/indexeddb-schema.ts";
import * as errors from "../errors.ts";
import type { LocalFile, Run } from "../media-api.ts";

/** The visitors' files that runs work on. */
export interface InputFiles {
  /** Stores a run's file, or an extra file under its {@link extraFileId}; rejects with `input_unreachable` when it cannot be read. */
  add(run_id: string, file: LocalFile): Promise<void>;
  /** Reuses the files of another run; returns false when that run has none. */
  copy(from: string, to: string): Promise<boolean>;
  /** Returns whether the run works on a visitor's file. */
  has(run_id: string): Promise<boolean>;
  /** Returns the file if it can be read; null when it is gone or not allowed. */
  find(run_id: string): Promise<Blob | null>;
  /** Describes a file that cannot be read; null when the run never had one. */
  missing(run_id: string): Promise<WaitingFile | null>;
  handle(run_id: string): Promise<FileSystemFileHandle | null>;
  /** Replaces a run's file with the same file, chosen again; rejects with `invalid_input` for a different one. */
  replace(run_id: string, file: LocalFile): Promise<void>;
  /** Removes a run's file and its extra files. */
  remove(run_id: string): Promise<void>;
}

/** Returns the id under which a run's extra file is stored. */
export function extraFileId(run_id: string, at: number): string {
  return `${run_id}/${at}`;
}

/** Returns the id of the run that a stored file belongs to. */
export function runOfInput(id: string): string {
  return id.split("/")[0] ?? id;
}

/**
 * Creates the storage of runs' files. It stores handles, and copies of files of at most `keep_bytes`, which survive the page; larger
 * files last as long as the page is open.
 */
export function createInputFiles(rows: InputStore, keep_bytes: number): InputFiles {
  const blobs = new Map<string, Blob>();

  async function put(run_id: string, file: LocalFile, blob: Blob, fingerprint: string): Promise<void> {
    const { size, type } = blob;
    const stored = isHandle(file) || size <= keep_bytes ? file : null;
    blobs.set(run_id, blob);
    await rows.put({ id: run_id, file: stored, name: nameOf(file), size, type, fingerprint });
  }

  async function find(run_id: string): Promise<Blob | null> {
    const own = blobs.get(run_id);
    if (own && (await isReadable(own))) return own;
    const row = await rows.get(run_id);
    if (!row?.file) return null;
    const blob = await openFile(row.file).catch(() => null);
    if (!blob || blob.size !== row.size || !(await isReadable(blob))) return null;
    blobs.set(run_id, blob);
    return blob;
  }

  async function idsOf(run_id: string): Promise<string[]> {
    return (await rows.all()).map(({ id }) => id).filter((id) => runOfInput(id) === run_id);
  }

  return {
    async add(run_id, file) {
      const blob = await openFile(file);
      const { sha256 } = await fingerprintOf(blob);
      await put(run_id, file, blob, sha256);
    },
    async copy(from, to) {
      const ids = await idsOf(from);
      for (const id of ids) {
        const copied = to + id.slice(from.length);
        const own = blobs.get(id);
        if (own) blobs.set(copied, own);
        const row = await rows.get(id);
        if (row) await rows.put({ ...row, id: copied });
      }
      return ids.includes(from);
    },
    has: async (run_id) => (await rows.get(run_id)) !== null,
    find,
    async missing(run_id) {
      const row = await rows.get(run_id);
      if (!row) return null;
      const { name, size } = row;
      return { name, size, reason: (await mustAsk(row)) ? "permission" : "gone" };
    },
    async handle(run_id) {
      const file = (await rows.get(run_id))?.file;
      return file && isHandle(file) ? file : null;
    },
    async replace(run_id, file) {
      const row = await rows.get(run_id);
      if (!row) throw errors.noVisitorFile();
      const blob = await openFile(file);
      const { sha256 } = await fingerprintOf(blob);
      if (blob.size !== row.size || sha256 !== row.fingerprint) {
        throw errors.fileDiffers({ name: row.name, bytes: row.size });
      }
      await put(run_id, file, blob, sha256);
    },
    async remove(run_id) {
      for (const id of new Set([run_id, ...(await idsOf(run_id))])) {
        blobs.delete(id);
        await rows.delete(id);
      }
    },
  };
}

function isHandle(file: LocalFile): file is FileSystemFileHandle {
  return "getFile" in file;
}

async function isReadable(blob: Blob): Promise<boolean> {
  try {
    await blob.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function mustAsk({ file }: InputRecord): Promise<boolean> {
  const query = file && (Reflect.get(file, "queryPermission") as (() => Promise<string>) | undefined);
  return query ? (await query.call(file).catch(() => "denied")) === "prompt" : false;
}

/**
 * Replaces the extra files of a request by URLs that carry their indexes. Returns the request, and the files by index; `extra`
 * has them by the paths of their URLs in the request.
 */
export function numberExtraFiles(
  request: unknown,
  extra: ReadonlyMap<string, LocalFile>,
): { request: unknown; files: ReadonlyMap<number, LocalFile> } {
  const files = new Map<number, LocalFile>();
  if (extra.size === 0) return { request, files };
  let at = -1;
  const numbered = mapExtraInputs(Object(request) as { options?: unknown }, (url, _, param) => {
    at++;
    const file = extra.get(param);
    if (!file) return url;
    files.set(at, file);
    return extraFileUrl(nameOf(file), at);
  });
  return { request: numbered, files };
}

/** Returns the extra files that the page can still read, each with its index and the path of its URL in the request. */
export async function findExtraFiles(
  files: InputFiles,
  record: Run,
): Promise<{ at: number; param: string; blob: Blob }[]> {
  const readable: { at: number; param: string; blob: Blob }[] = [];
  for (const [at, { url, param }] of extraInputs(record).entries()) {
    const blob = extraFileIndex(url) === null ? null : await files.find(extraFileId(record.id, at));
    if (blob) readable.push({ at, param, blob });
  }
  return readable;
}

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

/** Returns the URL of a standalone step's file; later steps find the file by the fragment, the step's id. */
export function ownFileUrl(name: string, step_id: string): string {
  return `${fileUrl(name)}#${step_id}`;
}

export function runOfFile(url: string): string | null {
  return /^file:[^#]*#(step_[0-9a-z]{26})$/.exec(url)?.[1] ?? null;
}

/** Returns the URL of a visitor's extra file; its fragment is the file's index among the extra inputs. */
function extraFileUrl(name: string, at: number): string {
  return `${fileUrl(name)}#${at}`;
}

/** Returns the index in the URL of a visitor's extra file; null for any other URL. */
export function extraFileIndex(url: string): number | null {
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

/** An input on this machine: the visitor's file, if any, and the URL in the request. */
export interface LocalInput {
  file: LocalFile | null;
  url: string | null;
}

/** Returns the input of a request when it is on this machine; null otherwise. */
export async function findLocalInput(
  request: unknown,
  file: LocalFile | null,
  urls: LocalUrls,
): Promise<LocalInput | null> {
  const input: unknown = Object(request).input;
  const url: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "url") : input;
  if (file) return { file, url: null };
  if (isOpfsPath(url)) return { file: urls.key(url) === null ? await openOpfsPath(url) : null, url };
  return typeof url === "string" && runOfFile(url) !== null ? { file: null, url } : null;
}
