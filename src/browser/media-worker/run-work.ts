import { MediaError } from "../../core/errors.ts";
import type { EncodeRequest } from "../../core/options.ts";
import type { ByteReader, StepWork, Storage, StoredInfo } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import type { Hosts } from "../../runs/steps/decide-encode.ts";
import type { SharedInput } from "../../runs/steps/inputs.ts";
import { furtherKey, sourceKey } from "../../runs/steps/media-keys.ts";
import type { StepTools } from "../../runs/steps/step-tools.ts";
import { createStepWork } from "../../runs/steps/step-work.ts";
import { destinationOf, outputStem } from "../../runs/steps/upload.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import { createBlobReader } from "../../storage/readers.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import type { Connections } from "../connections.ts";
import { findFurther } from "../files/further-files.ts";
import type { InputFiles } from "../files/input-files.ts";
import { inputIdOf } from "../files/job-input.ts";
import { createLocalInputs } from "../files/local-inputs.ts";
import type { LocalUrls } from "../files/local-urls.ts";
import type { RunUploads } from "../files/run-upload.ts";
import { storedFiles } from "../files/stored-files.ts";
import type { Run } from "../media-api.ts";

export interface RunWorkTools extends Hosts {
  storage: OpfsStorage;
  files: InputFiles;
  urls: LocalUrls;
  inFlight: StepTools["inFlight"];
  probe: StepTools["probe"];
  font: NonNullable<StepTools["font"]>;
  connections: Connections;
  uploads: RunUploads;
  pieces: PieceStore;
  /** Returns the input that a run shares with others; null where it has its own. */
  shared(record: Run): SharedInput | null;
}

/** Name of the piece that holds a run's encryption key, as a `CryptoKey` that is not extractable. */
export const CONTENT_KEY = "content key";

/** Creates the work of a run's steps; null while its file cannot be read. */
export async function createRunWork(tools: RunWorkTools, record: Run): Promise<StepWork | null> {
  const { files, urls, encoders, offers, inFlight, probe, font, connections, uploads, pieces } = tools;
  const input = record.object === "task" ? record.input : (record.input?.url ?? "");
  const taken = await uploads.taken(record.id);
  const input_id = inputIdOf(record);
  const needs_file = !taken && (await files.has(input_id));
  const blob = needs_file ? await files.find(input_id) : null;
  if (needs_file && !blob) return null;
  // A further file that cannot be read fails only when it is opened.
  const own_files = new Map(
    (await findFurther(files, record)).map(({ at, blob }) => [furtherKey(record.id, at), blob]),
  );
  if (blob) own_files.set(sourceKey(input_id), blob);
  const storage = own_files.size > 0 ? withOwnFiles(tools.storage, own_files) : tools.storage;
  const open = async (key: string): Promise<ByteReader> => {
    const file = await storage.file(key);
    if (!file) throw new MediaError("media_not_found", `Nothing is stored as ${key}.`);
    return createBlobReader(file);
  };
  const own = blob ? { url: input, blob } : null;
  const inputs = createLocalInputs({ own, files, storage, urls, connections, open });
  const work = createStepWork(
    {
      ...{ storage, encoders, offers, inFlight, probe, font, open, remote: null },
      inputs,
      shared: tools.shared(record),
      ensureRoom: tools.storage.ensureRoom,
      max_seconds: MOST_SECONDS,
      stem: outputStem(input),
      contentKey: async () =>
        ((await pieces.get(record.id, CONTENT_KEY))?.value as CryptoKey | undefined) ?? null,
      url: async (key) => urls.of(key),
      key: async (url) => urls.key(url),
    },
    record.object === "task" ? record : null,
  );
  return {
    ...work,
    probe: async (url, context) => taken?.probe ?? work.probe(url, context),
    async ingest(source, context) {
      return taken?.ingest ?? work.ingest(source, context);
    },
    async encode(source, request, context) {
      if (taken) return taken.encode;
      await tools.storage.ensureRoom(outputBytes(source, request));
      return work.encode(source, request, context);
    },
    async upload(source, context) {
      if (!destinationOf(record)) return work.upload(source, context);
      const { found, main } = await storedFiles(
        { storage: tools.storage, own: blob, urls, inputs },
        source,
        context,
      );
      return uploads.run(record, source, found, main, context);
    },
  };
}

// A month: a file that claims to last longer is damaged.
const MOST_SECONDS = 30 * 86_400;

// Twice the output, because for a while both the parts and the whole are stored.
function outputBytes({ filesize = 0, duration = 0 }: Source, { options }: EncodeRequest): number {
  const bitrate = "bitrate" in options ? options.bitrate : undefined;
  return bitrate !== undefined && duration > 0 ? (2 * bitrate * duration) / 8 : Math.min(filesize, LEAST);
}

// Least room to require for an output of unknown size.
const LEAST = 16_777_216;

interface FileStorage extends Storage {
  file(key: string): Promise<Blob | null>;
}

/**
 * Storage with the visitor's files as read-only objects, so that they are processed in place and never copied; clearing
 * them deletes nothing.
 */
function withOwnFiles(storage: FileStorage, own: ReadonlyMap<string, Blob>): FileStorage {
  return {
    async read(key, range) {
      const blob = own.get(key);
      if (!blob) return storage.read(key, range);
      const part = range ? blob.slice(range.start, range.end) : blob;
      return { ...infoOf(blob), body: part.stream() };
    },
    async head(key) {
      const blob = own.get(key);
      return blob ? infoOf(blob) : storage.head(key);
    },
    write: (key, body, mime) => storage.write(key, body, mime),
    clear: (prefix) => storage.clear(prefix),
    file: async (key) => own.get(key) ?? storage.file(key),
  };
}

function infoOf(blob: Blob): StoredInfo {
  const modified = "lastModified" in blob ? String(blob.lastModified) : "0";
  return {
    size: blob.size,
    etag: `${blob.size.toString(36)}-${modified}`,
    mime: blob.type || "application/octet-stream",
  };
}
