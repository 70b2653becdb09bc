import type { Storage, StoredInfo, StoredObject } from "../../runs/ports.ts";
import * as errors from "../errors.ts";
import { contentLength, discard, parseContentRange } from "../http/request.ts";
import { streamOf } from "../storage.ts";
import { createS3Bucket, type S3Bucket, type S3SendOptions } from "./bucket.ts";
import { clearObjects, etagOf, headObject, UNKNOWN_TYPE } from "./objects.ts";
import type { S3Connection } from "./s3-connection.ts";
import { createS3Signer } from "./s3-sign.ts";
import { type PartOptions, uploadStream } from "./upload.ts";

/** A bucket with the keys of a connection, and upload options. */
export interface S3Options extends S3Connection, S3SendOptions, PartOptions {
  bucket: string;
}

/**
 * Creates storage in a bucket of any S3-compatible service, on every web-standard runtime. Streams of any length are
 * uploaded in parallel parts in constant memory; every body is signed with its SHA-256, and the stored size is checked.
 * Reads reject with `input_forbidden`, `input_not_found` (no such bucket) or `input_unreachable`; writes with
 * `upload_forbidden`, `storage_full` or `upload_failed`.
 *
 * @example
 * const storage = createS3Storage({
 *   endpoint: "https://s3.eu-west-1.amazonaws.com",
 *   region: "eu-west-1",
 *   bucket: "films",
 *   access_key_id,
 *   secret_access_key,
 * });
 * await storage.write("clip.mp4", file.stream(), "video/mp4");
 */
export function createS3Storage(options: S3Options): Storage {
  return storageOf(createS3Bucket(createS3Signer(options, options.bucket), options), options);
}

/** Creates storage on a bucket. */
export function storageOf(bucket: S3Bucket, partOptions: PartOptions = {}): Storage {
  return {
    async read(key, range) {
      if (range && range.end <= range.start) return empty(await headObject(bucket, key, "read"));
      // A compressed response would lack its length; browsers ignore this header.
      const headers: Record<string, string> = { "accept-encoding": "identity" };
      if (range) headers.range = `bytes=${range.start}-${range.end - 1}`;
      const options = { purpose: "read", expected: [404, 416] } as const;
      const response = await bucket.send({ method: "GET", key, headers }, options);
      if (response.status === 404) return null;
      if (response.status === 416) return empty(await headObject(bucket, key, "read"));
      return toStored(response, range !== undefined);
    },
    head: (key) => headObject(bucket, key, "read"),
    write: (key, body, mime) => uploadStream(bucket, key, body, mime, partOptions),
    clear: (prefix) => clearObjects(bucket, prefix),
  };
}

async function toStored(response: Response, ranged: boolean): Promise<StoredObject> {
  const { headers, body } = response;
  const range = parseContentRange(headers.get("content-range"));
  const size = ranged ? (range?.total ?? null) : contentLength(response);
  if (size === null || (ranged && response.status !== 206)) {
    await discard(response);
    throw errors.rangeHidden();
  }
  const mime = headers.get("content-type") ?? UNKNOWN_TYPE;
  return { size, etag: etagOf(response), mime, body: body ?? streamOf(new Uint8Array(0)) };
}

function empty(info: StoredInfo | null): StoredObject | null {
  return info && { ...info, body: streamOf(new Uint8Array(0)) };
}
