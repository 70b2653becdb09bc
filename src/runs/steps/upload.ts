import { manifestsOf } from "../../media/ffmpeg/manifest-entries.ts";
import { referencedPaths } from "../../media/ffmpeg/manifests.ts";
import type { Source } from "../../media/source.ts";
import * as storageErrors from "../../storage/errors.ts";
import type { FileBody } from "../../storage/http/writer.ts";
import type { S3Bucket } from "../../storage/s3/bucket.ts";
import { putS3File, type UploadMemory } from "../../storage/s3/upload.ts";
import { readAll, requireEncoded } from "../../storage/storage.ts";
import { inParallel, throttle } from "../../util/async.ts";
import { decodeUri } from "../../util/text.ts";
import type { StepContext, Storage, StoredInfo } from "../ports.ts";
import type { Step } from "../step.ts";
import type { Task } from "../task.ts";

/** A place in the caller's own storage for the output of a run. */
export interface Destination {
  /** Key of the file to open; when it ends in a slash, the file's name is appended. */
  key: string;
  /** Opens the bucket; rejects when its connection no longer exists. */
  open(): Promise<S3Bucket>;
}

export interface UploadTools {
  storage: Storage;
  /** Returns the key behind one of our own URLs; null for any other. */
  key(url: string): Promise<string | null>;
}

/**
 * Copies the file stored under `key`, with all other files of an adaptive video or storyboard, to a destination. Returns the source
 * with the URLs there.
 */
export async function uploadOutput(
  source: Source,
  key: string,
  destination: Destination,
  { storage, key: keyOf }: UploadTools,
  context: StepContext,
  signal: AbortSignal,
): Promise<Source> {
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const main = key.slice(folder.length);
  const names = await listNames(source);
  const files = await Promise.all(names.map((name) => fileOf(storage, folder, name)));
  const progress = throttle((share: number) => context.progress(share * 100).catch(() => undefined));
  const uploaded = await uploadFiles({
    files,
    main,
    signal,
    key: destination.key,
    bucket: await destination.open(),
    onProgress: (share) => void progress(share),
  });
  const { size, etag, mime } = uploaded.info;
  return {
    ...source,
    url: uploaded.url,
    mime,
    etag,
    filesize: source.filesize ?? size,
    ...(source.renditions && { renditions: await Promise.all(source.renditions.map(withNewUrl)) }),
    ...(source.files && { files: await Promise.all(source.files.map(withNewUrl)) }),
  };

  async function listNames({ kind, format, files = [] }: Source): Promise<string[]> {
    if (kind === "adaptive_video") return listStreamFiles(storage, folder, manifestsOf(main, format));
    const keys = await Promise.all(files.map((file) => keyOf(file.url)));
    const names = keys.flatMap((each) => (each?.startsWith(folder) ? [each.slice(folder.length)] : []));
    return [...new Set([...names, main])];
  }

  async function withNewUrl<F extends { url: string }>(file: F): Promise<F> {
    const fileKey = await keyOf(file.url);
    return fileKey?.startsWith(folder)
      ? { ...file, url: uploaded.urlOf(fileKey.slice(folder.length)) }
      : file;
  }
}

async function fileOf(storage: Storage, folder: string, name: string): Promise<OutputFile> {
  const { size, mime } = requireEncoded(await storage.head(folder + name), "upload");
  return {
    name,
    size,
    mime,
    async open(range) {
      const object = await storage.read(folder + name, range);
      return readAll(requireEncoded(object, "upload").body);
    },
  };
}

/** Lists all files of an adaptive video by following its manifests; each manifest comes after the files it references. */
async function listStreamFiles(
  storage: Storage,
  folder: string,
  manifests: readonly string[],
): Promise<string[]> {
  const read = async (name: string) => {
    const object = await storage.read(folder + name);
    return object ? referencedPaths(name, new TextDecoder().decode(await readAll(object.body))) : [];
  };
  const references = (await Promise.all(manifests.map(read))).flat();
  const playlists = references.filter((name) => name.endsWith(".m3u8"));
  const segments = await Promise.all(playlists.map(read));
  const files = references.filter((name) => !playlists.includes(name));
  return [...new Set([...segments.flat(), ...files, ...playlists, ...manifests])];
}

export interface OutputFile extends FileBody {
  /** Path relative to the output folder. */
  name: string;
  mime: string;
}

/** An output and its destination. */
export interface UploadFiles {
  files: readonly OutputFile[];
  /** Name of the main file, such as the master playlist; it is uploaded last. */
  main: string;
  bucket: S3Bucket;
  /** Key of the main file; when it ends in a slash, the file's name is appended. The other files go into the same folder. */
  key: string;
  signal: AbortSignal;
  /**
   * Returns the persisted state of a file's upload, by which an interrupted upload resumes. When absent, a failed upload is aborted
   * and leaves nothing behind.
   */
  memory?(name: string): UploadMemory;
  /** Files of up to this many bytes are uploaded in one request; see `putS3File`. */
  singleBytes?: number;
  /** Receives the uploaded share, 0 to 1. */
  onProgress?(share: number): void;
}

export interface Uploaded {
  /** Metadata of the main file. */
  info: StoredInfo;
  url: string;
  urlOf(name: string): string;
}

const FILES_AT_ONCE = 4;

/** Uploads the files of an output to a bucket, the main file last. Rejects as writes to S3 storage do. */
export async function uploadFiles(upload: UploadFiles): Promise<Uploaded> {
  const { files, bucket, key, signal, memory, singleBytes, onProgress } = upload;
  const main = files.find(({ name }) => name === upload.main);
  if (!main) throw storageErrors.encodedFileGone("upload");
  const main_key = key.endsWith("/") ? key + main.name : key;
  const folder = main_key.slice(0, main_key.lastIndexOf("/") + 1);
  const keyOf = (name: string) => (name === main.name ? main_key : folder + name);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const bytesByFile = new Map<string, number>();
  const report = (name: string, bytes: number) => {
    bytesByFile.set(name, bytes);
    if (total > 0) onProgress?.([...bytesByFile.values()].reduce((sum, each) => sum + each, 0) / total);
  };

  async function put(file: OutputFile): Promise<StoredInfo> {
    const state = memory?.(file.name);
    const uploaded = ((await state?.get("done")) ?? null) as StoredInfo | null;
    const onProgress = (bytes: number) => report(file.name, bytes);
    const info =
      uploaded ??
      (await putS3File(bucket, keyOf(file.name), file, file.mime, {
        signal,
        onProgress,
        ...(state && { memory: state }),
        ...(singleBytes !== undefined && { singleBytes }),
      }));
    if (!uploaded) await state?.put("done", info);
    report(file.name, file.size);
    return info;
  }

  const others = files.filter((file) => file !== main);
  await inParallel(others, FILES_AT_ONCE, async (file) => void (await put(file)));
  const info = await put(main);
  const urlOf = (name: string) => `s3://${bucket.name}/${keyOf(name)}`;
  return { info, url: urlOf(main.name), urlOf };
}

export interface S3Destination {
  /** `s3://<bucket>/<key>`. */
  url: string;
  /** The requested connection; null for the default one. */
  connection_id: string | null;
}

/** Returns the S3 destination of a run's output; null when it stays in managed storage. */
export function destinationOf(record: Task | Step): S3Destination | null {
  if (record.object === "task") {
    return record.output?.startsWith("s3://") ? { url: record.output, connection_id: null } : null;
  }
  if (record.kind !== "upload" || record.options.url === undefined) return null;
  const { url, connection_id = null } = record.options;
  return { url, connection_id };
}

const MAX_STEM = 64;

/** Returns the base name of a run's output: its input's, made safe for every file system and URL. */
export function outputStem(input: string): string {
  const path = URL.parse(input)?.pathname ?? "";
  const last = path.split("/").findLast((part) => part !== "") ?? "";
  const stem = decodeUri(last)
    .replace(/\.[a-z0-9]{1,5}$/i, "")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, MAX_STEM);
  return stem || "output";
}
