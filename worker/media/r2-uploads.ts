import { runOf } from "../../src/runs/steps/media-keys.ts";
import * as errors from "../errors.ts";
import { isFull } from "../network/r2-storage.ts";
import type { Uploads } from "./uploads.ts";

// R2 puts its error codes at the end of its messages: https://developers.cloudflare.com/r2/api/error-codes/
const ERRORS = {
  10011: errors.partTooSmall,
  10024: errors.multipartNotFound,
  10025: errors.partUnknown,
  10048: errors.partSizesDiffer,
};

/** Creates {@link Uploads} that stream files from the network into an R2 bucket. */
export function createR2Uploads(bucket: R2Bucket): Uploads {
  return {
    put: (key, body, size, mime) =>
      guarded(async () => {
        const options = { httpMetadata: { contentType: mime } };
        return infoOf(await sized(body, size, (stream) => bucket.put(key, stream, options)));
      }),
    begin: (key, mime) =>
      guarded(async () => {
        const upload = await bucket.createMultipartUpload(key, { httpMetadata: { contentType: mime } });
        return upload.uploadId;
      }),
    resume(key, id) {
      const upload = bucket.resumeMultipartUpload(key, id);
      return {
        part: (number, body, size) =>
          guarded(async () => (await sized(body, size, (stream) => upload.uploadPart(number, stream))).etag),
        complete: (parts) =>
          guarded(async () => {
            const uploaded = parts.map(({ part, etag }) => ({ partNumber: part, etag }));
            return infoOf(await upload.complete(uploaded));
          }),
        abort: () => guarded(() => upload.abort()),
      };
    },
  };
}

// R2 accepts only streams of known length.
async function sized<T>(
  body: ReadableStream<Uint8Array>,
  size: number,
  write: (body: ReadableStream) => Promise<T>,
): Promise<T> {
  const { readable, writable } = new FixedLengthStream(size);
  const [written] = await Promise.all([write(readable), body.pipeTo(writable)]);
  return written;
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isFull(cause)) throw errors.storageFull({ cause });
    const code = /\((\d+)\)/.exec(String(cause))?.[1];
    throw (ERRORS[Number(code) as keyof typeof ERRORS] ?? errors.uploadNotStored)({ cause });
  }
}

function infoOf({ size, etag, httpMetadata }: R2Object) {
  return { size, etag, mime: httpMetadata?.contentType ?? "application/octet-stream" };
}

/** Records the open uploads of a run, so that none outlives it. */
export interface UploadLog {
  note(run_id: string, key: string, upload: string): Promise<void>;
  forget(run_id: string, upload: string): Promise<void>;
}

/** Records every multipart upload with the run that owns its folder, until it is completed or aborted. */
export function noteUploads(uploads: Uploads, notes: UploadLog): Uploads {
  return {
    put: uploads.put,
    async begin(key, mime) {
      const upload = await uploads.begin(key, mime);
      await notes.note(runOf(key), key, upload);
      return upload;
    },
    resume(key, id) {
      const upload = uploads.resume(key, id);
      return {
        part: upload.part,
        async complete(parts) {
          const info = await upload.complete(parts);
          await notes.forget(runOf(key), id);
          return info;
        },
        async abort() {
          await upload.abort();
          await notes.forget(runOf(key), id);
        },
      };
    },
  };
}
