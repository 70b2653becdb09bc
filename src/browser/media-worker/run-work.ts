import type { EncodeRequest } from "../../media/options.ts";
import type { Source } from "../../media/source.ts";
import type { ByteReader, StepContext, StepWork, Storage, StoredInfo } from "../../runs/ports.ts";
import type { Hosts } from "../../runs/steps/decide-encode.ts";
import {
  type Inputs,
  type OpenInput,
  openStored,
  reportBytes,
  runIngest,
  type SharedInput,
} from "../../runs/steps/inputs.ts";
import { extraInputKey, runFolder, sourceKey } from "../../runs/steps/media-keys.ts";
import type { StepTools } from "../../runs/steps/step-tools.ts";
import { createStepWork } from "../../runs/steps/step-work.ts";
import { destinationOf, outputStem } from "../../runs/steps/upload.ts";
import { type HttpFile, openHttp } from "../../storage/http/reader.ts";
import { createMemoryStorage } from "../../storage/memory.ts";
import type { OpfsStorage } from "../../storage/opfs.ts";
import { createBlobReader } from "../../storage/readers.ts";
import { openS3 } from "../../storage/s3/objects.ts";
import { parseS3Url } from "../../storage/s3/s3-connection.ts";
import { readAll } from "../../storage/storage.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import type { Connections } from "../connections.ts";
import * as errors from "../errors.ts";
import type { Run } from "../media-api.ts";
import {
  extraFileIndex,
  findExtraFiles,
  type InputFiles,
  isOpfsPath,
  type LocalUrls,
  openOpfsPath,
  runOfFile,
} from "./local-files.ts";
import type { RunUploads, StoredBlob } from "./run-upload.ts";

export interface RunWorkTools extends Hosts {
  storage: OpfsStorage;
  files: InputFiles;
  urls: LocalUrls;
  inFlight: StepTools["inFlight"];
  probe: StepTools["probe"];
  font: NonNullable<StepTools["font"]>;
  scriptFonts?: StepTools["scriptFonts"];
  connections: Connections;
  uploads: RunUploads;
  pieces: PieceStore;
  /** Returns the input that a run shares with others; null where it has its own. */
  shared(record: Run): SharedInput | null;
  /** Returns whether a service gets the run if no encoder here accepts it; absent without a service. */
  delegates?(record: Run): boolean;
}

/** Name of the piece that holds a run's encryption key, as a `CryptoKey` that is not extractable. */
export const CONTENT_KEY = "content key";

/** Creates the work of a run's steps; null while its file cannot be read. */
export async function createRunWork(tools: RunWorkTools, record: Run): Promise<StepWork | null> {
  const { files, urls, encoders, offers, inFlight, probe, font, scriptFonts } = tools;
  const { connections, uploads, pieces } = tools;
  const input = record.object === "task" ? record.input : (record.input?.url ?? "");
  const prior = await uploads.priorOutputs(record.id);
  const input_id = inputIdOf(record);
  const needs_file = !prior && (await files.has(input_id));
  const blob = needs_file ? await files.find(input_id) : null;
  if (needs_file && !blob) return null;
  const own_files = new Map(
    (await findExtraFiles(files, record)).map(({ at, blob }) => [extraInputKey(record.id, at), blob]),
  );
  if (blob) own_files.set(sourceKey(input_id), blob);
  const storage = own_files.size > 0 ? withOwnFiles(tools.storage, own_files) : tools.storage;
  const open = openerOf(storage);
  const own = blob ? { url: input, blob } : null;
  const inputs = createLocalInputs({ own, files, storage, urls, connections, open });
  const work = createStepWork(
    {
      storage,
      encoders,
      offers,
      inFlight,
      probe,
      font,
      scriptFonts,
      open,
      remote: null,
      inputs,
      shared: tools.shared(record),
      delegates: tools.delegates?.(record) ?? false,
      ensureRoom: tools.storage.ensureRoom,
      max_seconds: MAX_SECONDS,
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
    probe: async (url, context) => prior?.probe ?? work.probe(url, context),
    async ingest(source, context) {
      return prior?.ingest ?? work.ingest(source, context);
    },
    async encode(source, request, context) {
      if (prior) return prior.encode;
      await tools.storage.ensureRoom(outputBytes(source, request));
      return work.encode(source, request, context);
    },
    async upload(source, context) {
      if (!destinationOf(record)) return work.upload(source, context);
      const { blobs, main } = await storedFiles(
        { storage: tools.storage, own: blob, urls, inputs },
        source,
        context,
      );
      return uploads.run(record, source, blobs, main, context);
    },
  };
}

/** The tools that samples share with runs. */
export type SampleWorkTools = Omit<RunWorkTools, "uploads" | "pieces" | "shared">;

/** The files of a sample. */
export interface SampleFiles {
  /** URL of the input. */
  input: string;
  /** The input when the visitor has it; null for one that must be fetched. */
  blob: Blob | null;
  /** The visitor's other files, by their keys. */
  extra: ReadonlyMap<string, Blob>;
  /** The key that encrypts the output; null for none. */
  content_key: CryptoKey | null;
  /** Called with an input that was fetched. */
  onFetch(blob: Blob): void;
}

/** Creates the tools that encode samples of an input: its bytes are read in place, and everything else stays in memory. */
export function createSampleTools(tools: SampleWorkTools, sample: SampleFiles): StepTools {
  const { encoders, offers, inFlight, probe, font, scriptFonts, files, urls, connections } = tools;
  const { input, blob, extra, content_key, onFetch } = sample;
  const memory = createMemoryStorage();
  const storage = withOwnFiles({ ...memory, file: (key) => readFile(memory, key) }, extra);
  const own = blob ? { url: input, blob } : null;
  const inputs = createLocalInputs({
    own,
    files,
    urls,
    connections,
    storage: tools.storage,
    open: openerOf(tools.storage),
  });
  return {
    storage,
    encoders,
    offers,
    inFlight,
    probe,
    font,
    scriptFonts,
    open: openerOf(storage),
    remote: null,
    inputs: {
      async open(url, signal) {
        const opened = await inputs.open(url, signal);
        const { reader, mime, file } = opened;
        if (url !== input || (reader && "blob" in reader)) return opened;
        // Encoders would fetch a remote file again for each part.
        const headers = { "Content-Type": mime ?? "" };
        const fetched = await new Response(file.stream(), { headers }).blob();
        onFetch(fetched);
        return openBlob(fetched, url);
      },
    },
    max_seconds: MAX_SECONDS,
    stem: outputStem(input),
    contentKey: async () => content_key,
    url: async (key) => urls.of(key),
    key: async (url) => urls.key(url),
  };
}

function openerOf(storage: FileStorage): (key: string) => Promise<ByteReader> {
  return async (key) => {
    const file = await storage.file(key);
    if (!file) throw errors.objectMissing({ key });
    return createBlobReader(file);
  };
}

async function readFile(storage: Storage, key: string): Promise<Blob | null> {
  const stored = await storage.read(key);
  return stored && new Blob([await readAll(stored.body)], { type: stored.mime });
}

const MAX_SECONDS = 30 * 86_400;

// For a while, storage holds both the chunks and the stitched file.
function outputBytes({ filesize = 0, duration = 0 }: Source, { options }: EncodeRequest): number {
  const bitrate = "bitrate" in options ? options.bitrate : undefined;
  return bitrate !== undefined && duration > 0
    ? (2 * bitrate * duration) / 8
    : Math.min(filesize, MIN_OUTPUT_BYTES);
}

const MIN_OUTPUT_BYTES = 16_777_216;

interface FileStorage extends Storage {
  file(key: string): Promise<Blob | null>;
}

/**
 * Adds the visitor's files to storage as read-only objects, so that they are processed in place; clearing never deletes them.
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

export interface LocalInputTools {
  /** The visitor's file that the run works on, and its URL; null for other inputs. */
  own: { url: string; blob: Blob } | null;
  files: InputFiles;
  storage: Storage;
  urls: LocalUrls;
  connections: Connections;
  open(key: string): Promise<ByteReader>;
}

const MAX_BYTES = 5e10;
// A stalled range is requested once more, so a source may stall for 30 s in total.
const TIMEOUTS = { totalMs: 6 * 3_600_000, headersMs: 20_000, idleMs: 15_000 };

/**
 * Creates the inputs of a run: visitors' files, paths in the origin's file system, outputs of other runs, and URLs that this
 * page may read.
 */
function createLocalInputs({ own, files, storage, urls, connections, open }: LocalInputTools): Inputs {
  return {
    async open(url, signal) {
      if (own?.url === url) return openBlob(own.blob, url);
      const other = runOfFile(url);
      if (other !== null) return openBlob(await files.find(other), url);
      if (extraFileIndex(url) !== null) return openBlob(null, url);
      const key = urls.key(url);
      if (key !== null) return openStored(storage, key, url, open);
      if (isOpfsPath(url)) {
        const file = await openOpfsPath(url);
        return openBlob(file && "getFile" in file ? await file.getFile() : file, url);
      }
      const options = {
        fetch: (at: string, init: RequestInit) => fetch(at, { ...init, credentials: "omit" as const }),
        signal,
        timeouts: TIMEOUTS,
        maxBytes: MAX_BYTES,
      };
      const s3 = /^s3:/i.test(url) ? parseS3Url(url) : null;
      const file = s3
        ? await openS3(connections.signer(s3.bucket, null), s3.key, options)
        : // A page cannot inspect redirects; the first URL was checked when the run was created.
          await openHttp(url, { ...options, guard: null });
      return { reader: file.reader, mime: file.mime, file };
    },
  };
}

function openBlob(blob: Blob | null, url: string): OpenInput {
  if (!blob) throw errors.fileMissing();
  const reader = createBlobReader(blob);
  const mime = blob.type || null;
  const file: HttpFile = {
    url,
    mime,
    reader,
    size: blob.size,
    etag: null,
    version: null,
    ranges: true,
    stream: (watch) => reportBytes(blob.stream(), watch),
    close: async () => {},
  };
  return { reader, mime, file };
}

export interface UploadSources {
  storage: OpfsStorage;
  /** The visitor's file that the run works on. */
  own: Blob | null;
  urls: LocalUrls;
  inputs: Inputs;
}

/**
 * Returns the files of an upload's input, which are many for adaptive video and storyboards, and the name of the one to open. Copies
 * a remote file to this machine first.
 */
async function storedFiles(
  { storage, own, urls, inputs }: UploadSources,
  source: Source,
  context: StepContext,
): Promise<{ blobs: StoredBlob[]; main: string }> {
  const toBlob = (name: string, blob: Blob): StoredBlob => ({
    name,
    blob,
    mime: blob.type || source.mime || "application/octet-stream",
  });
  const key = urls.key(source.url);
  const main = lastOf(key ?? source.url);
  if (key !== null && (source.kind === "adaptive_video" || source.files)) {
    const folder = key.slice(0, -main.length);
    const all = await storage.files(folder);
    return { blobs: all.map((each) => toBlob(each.key.slice(folder.length), each.file)), main };
  }
  if (own && key === null) return { blobs: [toBlob(main, own)], main };
  const at = key ?? `${runFolder("work", context.run_id)}source`;
  if (key === null && !(await storage.head(at))) {
    await context.durably("fetch", async (signal) => {
      const { file } = await inputs.open(source.url, signal);
      await runIngest({ open: async () => file, storage, key: at, signal });
    });
  }
  const file = await storage.file(at);
  if (!file) throw errors.uploadFileMissing();
  return { blobs: [toBlob(main, file)], main };
}

function lastOf(url: string): string {
  return (
    url
      .replace(/[?#].*$/, "")
      .split("/")
      .findLast((part) => part !== "") ?? "file"
  );
}

const SOURCE = "source";

/** Returns the id that names a run's stored input: that of its job when the job's tasks share the input, otherwise its own. */
export function inputIdOf(record: Run): string {
  if (record.object !== "task" || !record.job || record.job.after !== undefined) return record.id;
  return record.job.id;
}

/** Returns the input that a task shares with the other tasks of its job, in all tabs; null when it has its own. */
export function sharedInput(name: string, pieces: PieceStore, record: Run): SharedInput | null {
  const id = inputIdOf(record);
  if (id === record.id) return null;
  return {
    id,
    withLock: (work, signal) =>
      navigator.locks.request(`${name} input ${id}`, { signal }, async () => {
        return work(((await pieces.get(id, SOURCE))?.value ?? null) as Source | null);
      }),
    saveSource: (source) => pieces.put(id, SOURCE, source),
  };
}
