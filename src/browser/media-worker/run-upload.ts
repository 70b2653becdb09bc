import type { Source } from "../../media/source.ts";
import type { StepContext } from "../../runs/ports.ts";
import { runFolder } from "../../runs/steps/media-keys.ts";
import { destinationOf, type OutputFile, uploadFiles } from "../../runs/steps/upload.ts";
import type { Task } from "../../runs/task.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import { createBlobReader } from "../../storage/readers.ts";
import { parseS3Url } from "../../storage/s3/s3-connection.ts";
import { dropUpload, type UploadMemory } from "../../storage/s3/upload.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import { throttle } from "../../util/async.ts";
import type { Connections } from "../connections.ts";
import * as errors from "../errors.ts";
import type { Run } from "../media-api.ts";

export interface StoredBlob {
  /** Path relative to the output folder. */
  name: string;
  blob: Blob;
  mime: string;
}

/** Resumable uploads of runs with an S3 destination. */
export interface RunUploads {
  /** Executes the upload step: sends the files of its input to the run's destination, `main` last. */
  run(record: Run, source: Source, files: StoredBlob[], main: string, context: StepContext): Promise<Source>;
  /** Returns whether a failed task lacks only its upload. */
  lacksOnlyUpload(record: Run): boolean;
  /** Lets a new task resume the upload of such a task, if its output still exists. */
  takeOver(before: Task, after: Task): Promise<void>;
  /** Returns the outputs of the steps before the upload, for a task that took over from another; null for any other. */
  priorOutputs(run_id: string): Promise<PriorOutputs | null>;
  /** Aborts an upload that will not be resumed. Never rejects. */
  drop(record: Run): Promise<void>;
}

export type PriorOutputs = Record<"probe" | "ingest" | "encode", Source>;

const NAMES = "uploads";
const PRIOR_OUTPUTS = "taken over";
// Larger ranges stay Blobs, which the browser reads while it sends them.
const IN_MEMORY = 2 ** 25;

export function createRunUploads(
  connections: Connections,
  storage: OpfsStorage,
  pieces: PieceStore,
): RunUploads {
  const memoryOf = (run_id: string, name: string): UploadMemory => ({
    get: async (piece) => (await pieces.get(run_id, `upload ${name} ${piece}`))?.value ?? null,
    put: (piece, value) => pieces.put(run_id, `upload ${name} ${piece}`, value),
  });
  const namesOf = async (run_id: string) => ((await pieces.get(run_id, NAMES))?.value ?? []) as string[];

  async function copyMemory(from: string, to: string, name: string): Promise<void> {
    const [before, after] = [memoryOf(from, name), memoryOf(to, name)];
    const record = (await before.get("begun")) as { size: number; partBytes: number } | null;
    const count = record ? Math.ceil(record.size / record.partBytes) : 0;
    const parts = Array.from({ length: count }, (_, n) => `part ${n + 1}`);
    for (const piece of ["begun", "done", ...parts]) {
      const value = await before.get(piece);
      if (value !== null) await after.put(piece, value);
    }
  }

  return {
    async run(record, source, files, main, { run_id, durably, progress }) {
      const destination = destinationOf(record);
      if (!destination) throw errors.destinationMissing();
      const { bucket: name, key } = parseS3Url(destination.url);
      return durably("upload", async (signal) => {
        const { bucket, singleBytes } = connections.bucket(name, destination.connection_id);
        await pieces.put(
          run_id,
          NAMES,
          files.map((file) => file.name),
        );
        const tell = throttle((share: number) => progress(share * 100).catch(() => {}));
        const { info, url, urlOf } = await uploadFiles({
          files: files.map(toOutput),
          main,
          bucket,
          key,
          signal,
          memory: (file) => memoryOf(run_id, file),
          onProgress: (share) => void tell(share),
          ...(singleBytes !== null && { singleBytes }),
        });
        const folder = source.url.slice(0, source.url.lastIndexOf("/") + 1);
        const moved = <F extends { url: string }>(each: F) => ({
          ...each,
          url: urlOf(each.url.slice(folder.length)),
        });
        const filesize = source.filesize ?? info.size;
        return {
          ...source,
          url,
          etag: info.etag,
          mime: info.mime,
          filesize,
          ...(source.renditions && { renditions: source.renditions.map(moved) }),
          ...(source.files && { files: source.files.map(moved) }),
        };
      });
    },
    lacksOnlyUpload(record) {
      if (record.object !== "task" || record.status !== "failed" || !destinationOf(record)) return false;
      return record.error?.step_id === record.steps.at(-1)?.id;
    },
    async takeOver(before, after) {
      const [from, to] = [runFolder("out", before.id), runFolder("out", after.id)];
      const files = await storage.files(from);
      if (files.length === 0) return;
      for (const { key, file } of files) {
        await storage.write(to + key.slice(from.length), file.stream(), file.type);
      }
      const names = await namesOf(before.id);
      for (const name of names) await copyMemory(before.id, after.id, name);
      await pieces.put(after.id, NAMES, names);
      const [probe, ingest, encode] = before.steps.map(({ output }) => output);
      const moved = JSON.parse(JSON.stringify(encode).replaceAll(from, to));
      await pieces.put(after.id, PRIOR_OUTPUTS, { probe, ingest, encode: moved });
      await pieces.clear(before.id);
      await storage.clear(from);
    },
    priorOutputs: async (run_id) =>
      ((await pieces.get(run_id, PRIOR_OUTPUTS))?.value ?? null) as PriorOutputs | null,
    async drop(record) {
      try {
        const destination = destinationOf(record);
        const names = destination ? await namesOf(record.id) : [];
        if (!destination || names.length === 0) return;
        const { bucket: name } = parseS3Url(destination.url);
        const { bucket } = connections.bucket(name, destination.connection_id);
        for (const file of names) await dropUpload(bucket, memoryOf(record.id, file));
      } catch {
        // The bucket's lifecycle rules remove the upload if the connection is gone.
      }
    },
  };
}

function toOutput({ name, blob, mime }: StoredBlob): OutputFile {
  const reader = createBlobReader(blob);
  return {
    name,
    mime,
    size: blob.size,
    async open(range) {
      if (range.end - range.start > IN_MEMORY) return blob.slice(range.start, range.end);
      return (await reader.read(range)) as Uint8Array<ArrayBuffer>;
    },
  };
}
