import { MediaError } from "../../src/media/errors.ts";
import { partSizes, type UploadPart } from "../../src/runs/upload.ts";
import { createS3Bucket, type S3Bucket } from "../../src/storage/s3/bucket.ts";
import {
  abortUpload,
  beginUpload,
  completeUpload,
  headObject,
  listParts,
  type S3Part,
  type S3Upload,
} from "../../src/storage/s3/objects.ts";
import { parseS3Url } from "../../src/storage/s3/s3-connection.ts";
import { createS3Signer, presignS3 } from "../../src/storage/s3/s3-sign.ts";
import type { OpenConnection } from "../connections/connections.ts";
import { s3Options } from "../connections/s3-options.ts";
import { errors } from "../errors.ts";
import { STATUS } from "../http/errors.ts";
import type { Outside } from "../network/outside.ts";
import { bare } from "./managed-place.ts";
import type { UploadPlace } from "./place.ts";

// The caller waits for the answer.
const PATIENCE = { tries: 3, timeoutMs: 10_000 };

/** A bucket of the caller's own as a place for uploads: pages put to it themselves, by URLs that are signed with the keys of its connection. */
export function createS3Place(
  open: () => Promise<OpenConnection>,
  outside: Outside,
  now: () => number,
): UploadPlace {
  async function reach(output: string | null) {
    const { bucket, key } = parseS3Url(output ?? "");
    const connection = await open();
    await outside.guard(connection.endpoint);
    const { fetch, ...keys } = s3Options(connection, outside);
    const sent: S3Bucket = createS3Bucket(createS3Signer(keys, bucket), { ...PATIENCE, fetch });
    return { name: bucket, bucket: sent, key, keys };
  }
  return {
    begin: (upload) =>
      told(async () => {
        const { bucket, key } = await reach(upload.output);
        if (partSizes(upload.size).length === 1) return null;
        return (await beginUpload(bucket, key, upload.content_type)).id;
      }),
    sign: ({ upload, begun }) =>
      told(async () => {
        const { name, key, keys } = await reach(upload.output);
        const seconds = (upload.expires_at - now()) / 1000;
        const headers: Record<string, string> = begun === null ? { "content-type": upload.content_type } : {};
        const sign = async (size: number, part: number): Promise<UploadPart> => {
          const query = begun === null ? {} : { partNumber: String(part), uploadId: begun };
          const bound = { ...headers, "content-length": String(size) };
          const url = await presignS3(keys, name, { method: "PUT", key, query, headers: bound }, seconds);
          return { part, size, url, headers };
        };
        return Promise.all(partSizes(upload.size).map((size, index) => sign(size, index + 1)));
      }),
    complete: ({ upload, begun }, given) =>
      told(async () => {
        const { bucket, key } = await reach(upload.output);
        const { size, content_type } = upload;
        if (begun !== null) {
          const parts = given?.map((part): S3Part => ({ ...part, etag: bare(part.etag), size: null }));
          const there = parts ?? (await listed({ bucket, key, id: begun }));
          const count = partSizes(size).length;
          if (there === null) {
            // It may be done, and the answer was lost.
            const info = await headObject(bucket, key, "write");
            if (info?.size === size && info.etag.endsWith(`-${count}`)) return info.etag;
          }
          const missing = count - (there?.length ?? 0);
          if (there === null || missing !== 0) throw errors.partsMissing({ count: missing });
          return (await completeUpload({ bucket, key, id: begun }, there, size)).etag;
        }
        const info = await headObject(bucket, key, "write");
        if (!info) throw errors.partsMissing({ count: 1 });
        const same = !given || bare(given[0]?.etag ?? "") === info.etag;
        if (same && info.size === size && info.mime === content_type) return info.etag;
        throw errors.objectDiffers();
      }),
    async drop({ upload, begun }) {
      if (upload.status !== "waiting" || begun === null) return;
      // Without its connection it is left to the rules of the bucket.
      const found = await reach(upload.output).catch(() => null);
      if (found) await abortUpload({ bucket: found.bucket, key: found.key, id: begun });
    },
  };
}

async function listed(upload: S3Upload): Promise<S3Part[] | null> {
  const found = await listParts(upload);
  if (found === "unknown") throw errors.partsUnlisted();
  return found;
}

// Faults of the storage are the caller's: the connection and the bucket are.
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof MediaError) || Object.hasOwn(STATUS, thrown.kind)) throw thrown;
    const { message, retryable } = thrown;
    const options = retryable ? { cause: thrown } : { cause: thrown, param: "output" };
    throw new MediaError(retryable ? "service_unavailable" : "request_invalid", message, options);
  }
}
