import { MediaError } from "../../src/media/errors.ts";
import type { Storage } from "../../src/runs/ports.ts";
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
import { s3Options } from "../connections/s3.ts";
import * as errors from "../errors.ts";
import { STATUS } from "../http/errors.ts";
import type { Outside } from "../network/outside.ts";
import type { PartGrant, PartSigner } from "./signed-urls.ts";
import { UPLOAD_LIMITS, type UploadHome, type UploadPlace, type Uploads, uploadKey } from "./uploads.ts";

/** Dependencies of {@link createManagedPlace}. */
export interface ManagedPlaceOptions {
  uploads: Uploads;
  media: Pick<Storage, "head" | "clear">;
  signer: PartSigner;
  home(id: string): UploadHome;
}

/** Creates the place for uploads to managed storage: pages put parts to signed URLs of the service. A small file is a single part, so that it appears only when completed. */
export function createManagedPlace({ uploads, media, signer, home }: ManagedPlaceOptions): UploadPlace {
  return {
    begin: (upload) => uploads.begin(uploadKey(upload), upload.content_type),
    sign({ upload }) {
      const sizes = partSizes(upload.size, UPLOAD_LIMITS.max);
      // Pages send no media type with a slice of a file.
      const content_type = sizes.length === 1 ? upload.content_type : "";
      const headers: Record<string, string> = content_type ? { "content-type": content_type } : {};
      const base = upload.url.slice(0, upload.url.lastIndexOf(`/uploads/${upload.id}/`));
      const grant = (part: number, size: number): PartGrant => ({ id: upload.id, part, size, content_type });
      return Promise.all(
        sizes.map(async (size, index) => {
          const part = index + 1;
          const url = await signer.sign(grant(part, size), upload.expires_at / 1000, base);
          return { part, size, url, headers };
        }),
      );
    },
    async complete(entry, request) {
      const { upload, begun } = entry;
      const key = uploadKey(upload);
      const parts = await home(upload.id).parts();
      const missing = partSizes(upload.size, UPLOAD_LIMITS.max).length - parts.length;
      if (missing > 0) throw errors.partsMissing({ count: missing });
      if (
        request?.some(({ etag }, index) => bare(etag) !== parts[index]?.etag) ||
        (request?.length ?? parts.length) !== parts.length
      )
        throw errors.partsDiffer();
      try {
        return (await uploads.resume(key, begun ?? "").complete(parts)).etag;
      } catch (thrown) {
        // An earlier call may have completed it without its response arriving.
        const info = await media.head(key);
        if (info?.size === upload.size) return info.etag;
        throw thrown;
      }
    },
    async drop({ upload, begun }) {
      if (upload.status === "waiting" && begun !== null) await abort(uploads, uploadKey(upload), begun);
      await media.clear(uploadKey(upload));
    },
  };
}

async function abort(uploads: Uploads, key: string, begun: string): Promise<void> {
  try {
    await uploads.resume(key, begun).abort();
  } catch (thrown) {
    if (!(thrown instanceof MediaError && thrown.kind === "media_not_found")) throw thrown;
  }
}

function bare(etag: string): string {
  return etag.replaceAll('"', "");
}

const RETRY = { tries: 3, timeoutMs: 10_000 };

/** Creates the place for uploads to the caller's own bucket: pages put parts to it directly, at URLs presigned with the connection's keys. */
export function createS3Place(
  open: () => Promise<OpenConnection>,
  outside: Outside,
  now: () => number,
): UploadPlace {
  async function connect(output: string | null) {
    const { bucket, key } = parseS3Url(output ?? "");
    const connection = await open();
    await outside.guard(connection.endpoint);
    const { fetch, ...keys } = s3Options(connection, outside);
    const client: S3Bucket = createS3Bucket(createS3Signer(keys, bucket), { ...RETRY, fetch });
    return { name: bucket, bucket: client, key, keys };
  }
  return {
    begin: (upload) =>
      asRequestErrors(async () => {
        const { bucket, key } = await connect(upload.output);
        if (partSizes(upload.size).length === 1) return null;
        return (await beginUpload(bucket, key, upload.content_type)).id;
      }),
    sign: ({ upload, begun }) =>
      asRequestErrors(async () => {
        const { name, key, keys } = await connect(upload.output);
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
    complete: ({ upload, begun }, request) =>
      asRequestErrors(async () => {
        const { bucket, key } = await connect(upload.output);
        const { size, content_type } = upload;
        if (begun !== null) {
          const parts = request?.map((part): S3Part => ({ ...part, etag: bare(part.etag), size: null }));
          const present = parts ?? (await listUploaded({ bucket, key, id: begun }));
          const count = partSizes(size).length;
          if (present === null) {
            const info = await headObject(bucket, key, "write");
            if (info?.size === size && info.etag.endsWith(`-${count}`)) return info.etag;
          }
          const missing = count - (present?.length ?? 0);
          if (present === null || missing !== 0) throw errors.partsMissing({ count: missing });
          return (await completeUpload({ bucket, key, id: begun }, present, size)).etag;
        }
        const info = await headObject(bucket, key, "write");
        if (!info) throw errors.partsMissing({ count: 1 });
        const same = !request || bare(request[0]?.etag ?? "") === info.etag;
        if (same && info.size === size && info.mime === content_type) return info.etag;
        throw errors.objectDiffers();
      }),
    async drop({ upload, begun }) {
      if (upload.status !== "waiting" || begun === null) return;
      // If the connection is gone, the bucket's own lifecycle rules apply.
      const target = await connect(upload.output).catch(() => null);
      if (target) await abortUpload({ bucket: target.bucket, key: target.key, id: begun });
    },
  };
}

async function listUploaded(upload: S3Upload): Promise<S3Part[] | null> {
  const parts = await listParts(upload);
  if (parts === "unknown") throw errors.partsUnlisted();
  return parts;
}

async function asRequestErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof MediaError) || Object.hasOwn(STATUS, thrown.kind)) throw thrown;
    const { message, retryable } = thrown;
    const options = retryable ? { cause: thrown } : { cause: thrown, param: "output" };
    throw new MediaError(retryable ? "service_unavailable" : "request_invalid", message, options);
  }
}
