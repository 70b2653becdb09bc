import { MediaError } from "../../core/errors.ts";
import type { StoredInfo } from "../../core/ports.ts";
import { MIB } from "../../util/bytes.ts";
import { createPartReader, type PartReader } from "../byte-source.ts";
import { streamOf } from "../storage.ts";
import {
  abortUpload,
  beginUpload,
  completeUpload,
  MAX_PARTS,
  putObject,
  putPart,
  type S3Part,
  type S3Upload,
} from "./s3-multipart.ts";
import type { S3Bucket } from "./s3-send.ts";

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
export const MIN_PART_BYTES = 5 * MIB;
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
