import { nameOf, openFile } from "../../client/media-input.ts";
import type { WaitingFile } from "../../client/update.ts";
import { MediaError } from "../../core/errors.ts";
import { fingerprintOf } from "../../storage/readers.ts";
import type { InputStore } from "../../stores/indexeddb.ts";
import type { InputRecord } from "../../stores/indexeddb-schema.ts";
import type { LocalFile } from "../media-api.ts";

/** The visitors' files that runs work on. */
export interface InputFiles {
  /** Stores a run's file, or a further file under its {@link furtherFileId}; rejects with `input_unreachable` when it cannot be read. */
  add(run_id: string, file: LocalFile): Promise<void>;
  /** Reuses the files of another run; returns false when that has none. */
  copy(from: string, to: string): Promise<boolean>;
  /** Returns whether the run works on a visitor's file. */
  has(run_id: string): Promise<boolean>;
  /** Returns the file if it can be read; null when it is gone or not allowed. */
  find(run_id: string): Promise<Blob | null>;
  /** Describes a file that cannot be read and why; null when there never was one. */
  missing(run_id: string): Promise<WaitingFile | null>;
  handle(run_id: string): Promise<FileSystemFileHandle | null>;
  /** Replaces a run's file by the same one, chosen again; rejects with `invalid_input` for a different file. */
  replace(run_id: string, file: LocalFile): Promise<void>;
  /** Removes a run's file and its further files. */
  remove(run_id: string): Promise<void>;
}

/** Returns the id under which a run's further file is stored. */
export function furtherFileId(run_id: string, at: number): string {
  return `${run_id}/${at}`;
}

/** Returns the id of the run that a stored file belongs to. */
export function runOfInput(id: string): string {
  return id.split("/")[0] ?? id;
}

/**
 * Creates the storage of runs' files. Handles, and files of at most `keep_bytes`, are stored and survive the page, because a
 * browser copies a file that it stores; others last as long as the page is open.
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
    const blob = await openFile(row.file).catch(() => null);
    if (!blob || blob.size !== row.size || !(await isReadable(blob))) return null;
    held.set(run_id, blob);
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
        const own = held.get(id);
        if (own) held.set(copied, own);
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
      if (!row)
        throw new MediaError("invalid_input", "The run has no file from the visitor.", { param: "file" });
      const blob = await openFile(file);
      const { sha256 } = await fingerprintOf(blob);
      if (blob.size !== row.size || sha256 !== row.fingerprint) {
        const message = `This is not the file that the run began with: ${row.name} of ${row.size} bytes.`;
        throw new MediaError("invalid_input", message, { param: "file" });
      }
      await put(run_id, file, blob, sha256);
    },
    async remove(run_id) {
      for (const id of new Set([run_id, ...(await idsOf(run_id))])) {
        held.delete(id);
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
