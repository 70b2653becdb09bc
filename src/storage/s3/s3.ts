import { MediaError } from "../../core/errors.ts";
import type { Storage, StoredInfo, StoredObject } from "../../core/ports.ts";
import { contentLength, parseContentRange } from "../http/http-facts.ts";
import { discard } from "../http/http-request.ts";
import { streamOf } from "../read-all.ts";
import type { S3Connection } from "./s3-connection.ts";
import { clearObjects } from "./s3-list.ts";
import { etagOf, headObject, UNKNOWN_TYPE } from "./s3-multipart.ts";
import { createS3Bucket, type S3Bucket, type S3SendOptions } from "./s3-send.ts";
import { createS3Signer } from "./s3-sign.ts";
import { type PartOptions, uploadStream } from "./s3-upload.ts";

/** A bucket by the keys of a connection, and how it is used. */
export interface S3Options extends S3Connection, S3SendOptions, PartOptions {
  bucket: string;
}

/**
 * Storage in a bucket of any service that speaks S3, on every web-standard runtime. Streams of any length go up in parts side by side, in
 * constant memory; every body is signed with its SHA-256, and the size of what is stored is read back. Reads reject with
 * `input_forbidden`, `input_not_found` (no such bucket) or `input_unreachable`, writes with `upload_forbidden`, `storage_full` or `upload_failed`.
 */
export function createS3Storage(options: S3Options): Storage {
  return storageOf(createS3Bucket(createS3Signer(options, options.bucket), options), options);
}

/** Storage over a bucket that takes requests, whoever signs them. */
export function storageOf(bucket: S3Bucket, options: PartOptions = {}): Storage {
  return {
    async read(key, range) {
      if (range && range.end <= range.start) return empty(await headObject(bucket, key, "read"));
      // Packed text would come without its length; a page cannot say so, and is not asked to.
      const headers: Record<string, string> = { "accept-encoding": "identity" };
      if (range) headers.range = `bytes=${range.start}-${range.end - 1}`;
      const asked = { purpose: "read", expected: [404, 416] } as const;
      const response = await bucket.send({ method: "GET", key, headers }, asked);
      if (response.status === 404) return null;
      // One that starts behind the end.
      if (response.status === 416) return empty(await headObject(bucket, key, "read"));
      return toStored(response, range !== undefined);
    },
    head: (key) => headObject(bucket, key, "read"),
    write: (key, body, mime) => uploadStream(bucket, key, body, mime, options),
    clear: (prefix) => clearObjects(bucket, prefix),
  };
}

async function toStored(response: Response, ranged: boolean): Promise<StoredObject> {
  const { headers, body } = response;
  const range = parseContentRange(headers.get("content-range"));
  const size = ranged ? (range?.total ?? null) : contentLength(response);
  if (size === null || (ranged && response.status !== 206)) {
    await discard(response);
    const message =
      "The storage does not tell which bytes it gives: for pages, the CORS rules of the bucket must expose Content-Range.";
    throw new MediaError("input_unreachable", message, { retryable: false });
  }
  const mime = headers.get("content-type") ?? UNKNOWN_TYPE;
  return { size, etag: etagOf(response), mime, body: body ?? streamOf(new Uint8Array(0)) };
}

function empty(info: StoredInfo | null): StoredObject | null {
  return info && { ...info, body: streamOf(new Uint8Array(0)) };
}
