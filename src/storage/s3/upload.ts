import { MediaError } from "../../media/errors.ts";
import type { StoredInfo } from "../../runs/ports.ts";
import { sideBySide } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import { createPartReader, type PartReader } from "../byte-source.ts";
import type { FileBody } from "../http/writer.ts";
import { streamOf } from "../storage.ts";
import type { S3Bucket } from "./bucket.ts";
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
} from "./objects.ts";

/** How to upload streams. */
export interface PartOptions {
  /**
   * Bytes of each part except the last, at least 5 MiB. Parts that wait or are being sent are held in memory.
   *
   * @default 5 MiB, for objects of up to 52 GB
   */
  partBytes?: number;
  /**
   * Most parts to send at once.
   *
   * @default 4
   */
  partsAtOnce?: number;
}

/** Bytes of the smallest part that S3 accepts, except for the last. */
const MIN_PART_BYTES = 5 * MIB;
/** Default number of parts to send at once. */
export const PARTS_AT_ONCE = 4;

/**
 * Stores a stream of any length as an object, in one request or in parallel parts, in constant memory. A failed upload
 * leaves nothing behind.
 */
export async function uploadStream(
  bucket: S3Bucket,
  key: string,
  body: ReadableStream<Uint8Array> | Uint8Array,
  mime: string,
  options: PartOptions = {},
): Promise<StoredInfo> {
  const partBytes = Math.max(MIN_PART_BYTES, options.partBytes ?? MIN_PART_BYTES);
  const parts = createPartReader(body instanceof Uint8Array ? streamOf(body) : body, partBytes);
  try {
    const first = await parts.next();
    if (first.last) return await putObject(bucket, key, first.bytes, mime);
    const upload = await beginUpload(bucket, key, mime);
    try {
      const sent = await sendParts(upload, first.bytes, parts, options);
      return await completeUpload(upload, sent.parts, sent.size);
    } catch (thrown) {
      await abortUpload(upload);
      throw thrown;
    }
  } catch (thrown) {
    await parts.cancel(thrown);
    throw thrown;
  }
}

async function sendParts(
  upload: S3Upload,
  first: Uint8Array<ArrayBuffer>,
  reader: PartReader,
  { partsAtOnce = PARTS_AT_ONCE }: PartOptions,
): Promise<{ parts: S3Part[]; size: number }> {
  const stop = new AbortController();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const sent: S3Part[] = [];
  let size = 0;

  const start = (part: number, bytes: Uint8Array<ArrayBuffer>) => {
    size += bytes.length;
    const run = putPart(upload, part, bytes, stop.signal)
      .then((done) => {
        sent.push(done);
        reader.recycle(bytes);
      })
      .catch((thrown: unknown) => {
        failures.push(thrown);
        // Stops the others, so that none arrives after the upload was aborted.
        stop.abort(thrown);
      })
      .finally(() => running.delete(run));
    running.add(run);
  };

  try {
    start(1, first);
    for (let part = 2, last = false; !last && failures.length === 0; part++) {
      if (running.size >= partsAtOnce) await Promise.race(running);
      const next = await reader.next();
      last = next.last;
      if (next.bytes.length === 0) break;
      if (part > MAX_PARTS)
        throw new MediaError("upload_failed", `The object has more than ${MAX_PARTS} parts.`, {
          retryable: false,
        });
      start(part, next.bytes);
    }
  } catch (thrown) {
    failures.unshift(thrown);
    stop.abort(thrown);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  return { parts: sent, size };
}

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
