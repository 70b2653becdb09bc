import { MediaError } from "../core/errors.ts";
import { fingerprintOf } from "../storage/blob-reader.ts";
import type { InputStore } from "../stores/indexeddb.ts";
import type { InputRecord } from "../stores/indexeddb-schema.ts";
import type { LocalFile, WaitingFile } from "./media-api.ts";

/** The visitors' files that runs work on. */
export interface InputFiles {
  /** Remembers the file of a run; rejects with `input_unreachable` when it cannot be read. */
  add(run_id: string, file: LocalFile): Promise<void>;
  /** Takes over the file of another run; false when that had none. */
  copy(from: string, to: string): Promise<boolean>;
  /** True when the run works on a file of the visitor. */
  has(run_id: string): Promise<boolean>;
  /** Gives the file, readable; null when it is not there any more or may not be read. */
  find(run_id: string): Promise<Blob | null>;
  /** Tells what the file was and why it cannot be found; null when there never was one. */
  missing(run_id: string): Promise<WaitingFile | null>;
  /** Gives the handle of the file; null when it has none. */
  handle(run_id: string): Promise<FileSystemFileHandle | null>;
  /** Gives a run its file again; rejects with `invalid_input` when it is another one. */
  replace(run_id: string, file: LocalFile): Promise<void>;
  remove(run_id: string): Promise<void>;
}

/**
 * Keeps the files of runs: handles, and files of so many bytes at most, in the store, so that they outlive the page; others as long as it is open.
 * A browser copies a file that it stores.
 */
export function createInputFiles(rows: InputStore, keep_bytes: number): InputFiles {
  const held = new Map<string, Blob>();

  async function put(run_id: string, file: LocalFile, blob: Blob, fingerprint: string): Promise<void> {
    const { size, type } = blob;
    const stored = isHandle(file) || size <= keep_bytes ? file : null;
    held.set(run_id, blob);
    await rows.put({ id: run_id, file: stored, name: nameOf(file), size, type, fingerprint });
  }

  async function find(run_id: string): Promise<Blob | null> {
    const own = held.get(run_id);
    if (own && (await isReadable(own))) return own;
    const row = await rows.get(run_id);
    if (!row?.file) return null;
    const blob = await open(row.file).catch(() => null);
    if (!blob || blob.size !== row.size || !(await isReadable(blob))) return null;
    held.set(run_id, blob);
    return blob;
  }

  return {
    async add(run_id, file) {
      const blob = await open(file);
      const { sha256 } = await fingerprintOf(blob);
      await put(run_id, file, blob, sha256);
    },
    async copy(from, to) {
      const row = await rows.get(from);
      if (!row) return false;
      const own = held.get(from);
      if (own) held.set(to, own);
      await rows.put({ ...row, id: to });
      return true;
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
      if (!row)
        throw new MediaError("invalid_input", "The run has no file of the visitor.", { param: "file" });
      const blob = await open(file);
      const { sha256 } = await fingerprintOf(blob);
      if (blob.size !== row.size || sha256 !== row.fingerprint) {
        const message = `That is another file than ${row.name} of ${row.size} bytes, which the run began with.`;
        throw new MediaError("invalid_input", message, { param: "file" });
      }
      await put(run_id, file, blob, sha256);
    },
    async remove(run_id) {
      held.delete(run_id);
      await rows.delete(run_id);
    },
  };
}

/** The name of a visitor's file; `blob` where it has none. */
export function nameOf(file: LocalFile): string {
  return "name" in file && typeof file.name === "string" && file.name !== "" ? file.name : "blob";
}

function isHandle(file: LocalFile): file is FileSystemFileHandle {
  return "getFile" in file;
}

async function open(file: LocalFile): Promise<Blob> {
  try {
    return isHandle(file) ? await file.getFile() : file;
  } catch (cause) {
    throw new MediaError("input_unreachable", `The file ${nameOf(file)} cannot be read.`, {
      cause,
      retryable: false,
    });
  }
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
