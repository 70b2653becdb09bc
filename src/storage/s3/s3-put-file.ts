import { MediaError } from "../../core/errors.ts";
import type { StoredInfo } from "../../core/ports.ts";
import { sideBySide } from "../../util/async.ts";
import type { FileBody } from "../http/writer.ts";
import {
  abortUpload,
  beginUpload,
  completeUpload,
  listParts,
  MAX_PARTS,
  putObject,
  putPart,
  type S3Part,
  type S3Upload,
} from "./s3-multipart.ts";
import type { S3Bucket } from "./s3-send.ts";
import { MIN_PART_BYTES, PARTS_AT_ONCE, type PartOptions } from "./s3-upload.ts";

/** Remembers the progress of an upload across restarts, as plain values by name. */
export interface UploadMemory {
  get(name: string): Promise<unknown>;
  put(name: string, value: unknown): Promise<void>;
}

export interface PutFileOptions extends PartOptions {
  signal: AbortSignal;
  /**
   * Lets a multipart upload of the same bytes resume: parts that the service has are not sent again. Without it, a failed
   * upload leaves nothing behind.
   */
  memory?: UploadMemory;
  /** Files up to this many bytes go in one request. Default: the size of a part. */
  singleBytes?: number;
  /** Receives the number of bytes stored so far. */
  onProgress?(sent: number): void;
}

/** How an upload began, as it is remembered. */
interface Begun {
  key: string;
  upload: string;
  partBytes: number;
  size: number;
}

/** A multipart upload and the parts of it that are stored. */
interface Progress {
  upload: S3Upload;
  begun: Begun;
  done: Map<number, S3Part>;
}

/**
 * Stores a file of known size as an object, in one request or in parallel parts. After a retryable failure the stored parts
 * are kept when there is a memory; otherwise they are removed. Rejects as writes to S3 storage do.
 */
export async function putS3File(
  bucket: S3Bucket,
  key: string,
  body: FileBody,
  mime: string,
  options: PutFileOptions,
): Promise<StoredInfo> {
  const { signal, memory, onProgress } = options;
  const { size } = body;
  if (size <= (options.singleBytes ?? options.partBytes ?? MIN_PART_BYTES)) {
    const info = await putObject(bucket, key, await body.open({ start: 0, end: size }), mime, signal);
    onProgress?.(size);
    return info;
  }
  const progress = await beginOrResume(bucket, key, size, mime, options);
  try {
    const parts = await putParts(progress, body, options);
    const info = await completeUpload(progress.upload, parts, size, signal);
    await memory?.put("begun", null);
    return info;
  } catch (thrown) {
    const passing = !signal.aborted && thrown instanceof MediaError && thrown.retryable;
    if (!memory || !passing) {
      await abortUpload(progress.upload);
      await memory?.put("begun", null);
    }
    throw thrown;
  }
}

/** Removes what an upload that will not continue has left behind. Never rejects. */
export async function dropUpload(bucket: S3Bucket, memory: UploadMemory): Promise<void> {
  const begun = (await memory.get("begun").catch(() => null)) as Begun | null;
  if (begun) await abortUpload(uploadOf(bucket, begun));
}

async function beginOrResume(
  bucket: S3Bucket,
  key: string,
  size: number,
  mime: string,
  { signal, memory, partBytes }: PutFileOptions,
): Promise<Progress> {
  const before = ((await memory?.get("begun")) ?? null) as Begun | null;
  if (before && memory) {
    const same = before.size === size && before.key === key;
    const upload = uploadOf(bucket, before);
    const there = same ? await listParts(upload, signal) : null;
    if (there) return { upload, begun: before, done: await known(before, there, memory) };
    if (!same) await abortUpload(upload);
  }
  const most = Math.max(MIN_PART_BYTES, partBytes ?? 0, Math.ceil(size / MAX_PARTS));
  const upload = await beginUpload(bucket, key, mime, signal);
  const begun: Begun = { key, upload: upload.id, partBytes: most, size };
  await memory?.put("begun", begun);
  return { upload, begun, done: new Map() };
}

// The service's list takes precedence; without one, what was remembered.
async function known(
  begun: Begun,
  there: S3Part[] | "unknown",
  memory: UploadMemory,
): Promise<Map<number, S3Part>> {
  const done = new Map<number, S3Part>();
  for (let part = 1; part <= countOf(begun); part++) {
    const found =
      there === "unknown"
        ? ((await memory.get(`part ${part}`)) as (S3Part & { upload: string }) | null)
        : there.find((each) => each.part === part);
    if (found && "upload" in found && found.upload !== begun.upload) continue;
    const { start, end } = rangeOf(begun, part);
    if (found?.size === end - start) done.set(part, { part, etag: found.etag, size: found.size });
  }
  return done;
}

async function putParts(
  { upload, begun, done }: Progress,
  body: FileBody,
  { signal, memory, onProgress, partsAtOnce = PARTS_AT_ONCE }: PutFileOptions,
): Promise<S3Part[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const tell = () => onProgress?.([...done.values()].reduce((sum, { size }) => sum + (size ?? 0), 0));
  const missing = Array.from({ length: countOf(begun) }, (_, n) => n + 1).filter((part) => !done.has(part));
  const put = async (part: number) => {
    const bytes = await body.open(rangeOf(begun, part));
    const sent = await putPart(upload, part, bytes, either);
    done.set(part, sent);
    await memory?.put(`part ${part}`, { ...sent, upload: upload.id });
    tell();
  };
  tell();
  await sideBySide(missing, partsAtOnce, put, (thrown) => {
    // If the upload will resume, let requests in flight finish; otherwise they would be wasted.
    if (!(memory && thrown instanceof MediaError && thrown.retryable)) stop.abort(thrown);
  });
  return [...done.values()];
}

function uploadOf(bucket: S3Bucket, { key, upload: id }: Begun): S3Upload {
  return { bucket, key, id };
}

function countOf({ size, partBytes }: Begun): number {
  return Math.ceil(size / partBytes);
}

function rangeOf({ size, partBytes }: Begun, part: number) {
  const start = (part - 1) * partBytes;
  return { start, end: Math.min(size, start + partBytes) };
}
