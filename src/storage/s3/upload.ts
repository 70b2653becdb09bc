import { MediaError } from "../../media/errors.ts";
import type { StoredInfo } from "../../runs/ports.ts";
import { inParallel } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import { createPartReader, type PartReader } from "../byte-source.ts";
import * as errors from "../errors.ts";
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
   * Bytes of each part except the last, at least 5 MiB. Memory holds the parts in flight and those waiting.
   *
   * @default 5 MiB, for objects of up to 52 GB
   */
  partBytes?: number;
  /**
   * Maximum number of parts to send at once.
   *
   * @default 4
   */
  partsAtOnce?: number;
}

/** S3's minimum size of a part, except for the last. */
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
      const result = await sendParts(upload, first.bytes, parts, options);
      return await completeUpload(upload, result.parts, result.size);
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
  const results: S3Part[] = [];
  let size = 0;

  const start = (part: number, bytes: Uint8Array<ArrayBuffer>) => {
    size += bytes.length;
    const run = putPart(upload, part, bytes, stop.signal)
      .then((done) => {
        results.push(done);
        reader.recycle(bytes);
      })
      .catch((thrown: unknown) => {
        failures.push(thrown);
        // No other part may arrive after the abort.
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
      if (part > MAX_PARTS) throw errors.tooManyParts({ max: MAX_PARTS });
      start(part, next.bytes);
    }
  } catch (thrown) {
    failures.unshift(thrown);
    stop.abort(thrown);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  return { parts: results, size };
}

/** Stores the progress of an upload across restarts, as plain values by name. */
export interface UploadMemory {
  get(name: string): Promise<unknown>;
  put(name: string, value: unknown): Promise<void>;
}

export interface PutFileOptions extends PartOptions {
  signal: AbortSignal;
  /**
   * Lets a multipart upload of the same bytes resume without sending stored parts again. If absent, a failed upload leaves
   * nothing behind.
   */
  memory?: UploadMemory;
  /** Files up to this many bytes go in one request. Default: the size of a part. */
  singleBytes?: number;
  /** Receives the number of bytes stored so far. */
  onProgress?(bytes: number): void;
}

/** The start of an upload, as stored in the memory. */
interface UploadRecord {
  key: string;
  upload: string;
  partBytes: number;
  size: number;
}

interface Progress {
  upload: S3Upload;
  record: UploadRecord;
  done: Map<number, S3Part>;
}

/**
 * Stores a file of known size as an object, in one request or in parallel parts. After a retryable failure the stored parts
 * remain if there is a memory; otherwise they are removed. Rejects as writes to S3 storage do.
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
    const resumable = !signal.aborted && thrown instanceof MediaError && thrown.retryable;
    if (!memory || !resumable) {
      await abortUpload(progress.upload);
      await memory?.put("begun", null);
    }
    throw thrown;
  }
}

/** Aborts an unfinished upload that will not resume. Never rejects. */
export async function dropUpload(bucket: S3Bucket, memory: UploadMemory): Promise<void> {
  const record = (await memory.get("begun").catch(() => null)) as UploadRecord | null;
  if (record) await abortUpload(uploadOf(bucket, record));
}

async function beginOrResume(
  bucket: S3Bucket,
  key: string,
  size: number,
  mime: string,
  { signal, memory, partBytes }: PutFileOptions,
): Promise<Progress> {
  const record = ((await memory?.get("begun")) ?? null) as UploadRecord | null;
  if (record && memory) {
    const isSameFile = record.size === size && record.key === key;
    const upload = uploadOf(bucket, record);
    const parts = isSameFile ? await listParts(upload, signal) : null;
    if (parts) return { upload, record, done: await storedParts(record, parts, memory) };
    if (!isSameFile) await abortUpload(upload);
  }
  const bytes = Math.max(MIN_PART_BYTES, partBytes ?? 0, Math.ceil(size / MAX_PARTS));
  const upload = await beginUpload(bucket, key, mime, signal);
  const newRecord: UploadRecord = { key, upload: upload.id, partBytes: bytes, size };
  await memory?.put("begun", newRecord);
  return { upload, record: newRecord, done: new Map() };
}

async function storedParts(
  record: UploadRecord,
  parts: S3Part[] | "unknown",
  memory: UploadMemory,
): Promise<Map<number, S3Part>> {
  const done = new Map<number, S3Part>();
  for (let part = 1; part <= partCount(record); part++) {
    const stored =
      parts === "unknown"
        ? ((await memory.get(`part ${part}`)) as (S3Part & { upload: string }) | null)
        : parts.find((each) => each.part === part);
    if (stored && "upload" in stored && stored.upload !== record.upload) continue;
    const { start, end } = rangeOf(record, part);
    if (stored?.size === end - start) done.set(part, { part, etag: stored.etag, size: stored.size });
  }
  return done;
}

async function putParts(
  { upload, record, done }: Progress,
  body: FileBody,
  { signal, memory, onProgress, partsAtOnce = PARTS_AT_ONCE }: PutFileOptions,
): Promise<S3Part[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const report = () => onProgress?.([...done.values()].reduce((sum, { size }) => sum + (size ?? 0), 0));
  const missing = Array.from({ length: partCount(record) }, (_, n) => n + 1).filter(
    (part) => !done.has(part),
  );
  const put = async (part: number) => {
    const bytes = await body.open(rangeOf(record, part));
    const result = await putPart(upload, part, bytes, either);
    done.set(part, result);
    await memory?.put(`part ${part}`, { ...result, upload: upload.id });
    report();
  };
  report();
  await inParallel(missing, partsAtOnce, put, (thrown) => {
    if (!(memory && thrown instanceof MediaError && thrown.retryable)) stop.abort(thrown);
  });
  return [...done.values()];
}

function uploadOf(bucket: S3Bucket, { key, upload: id }: UploadRecord): S3Upload {
  return { bucket, key, id };
}

function partCount({ size, partBytes }: UploadRecord): number {
  return Math.ceil(size / partBytes);
}

function rangeOf({ size, partBytes }: UploadRecord, part: number) {
  const start = (part - 1) * partBytes;
  return { start, end: Math.min(size, start + partBytes) };
}
