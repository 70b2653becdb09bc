import { errors } from "../errors.ts";
import { isFull } from "../network/r2-storage.ts";
import type { Uploads } from "./uploads.ts";

// The number that R2 puts at the end of its messages: https://developers.cloudflare.com/r2/api/error-codes/
const ERRORS = {
  10011: errors.partTooSmall,
  10024: errors.multipartNotFound,
  10025: errors.partUnknown,
  10048: errors.partSizesDiffer,
};

/** Takes files into an R2 bucket, straight from the network. */
export function createR2Uploads(bucket: R2Bucket): Uploads {
  return {
    put: (key, body, size, mime) =>
      guarded(async () => {
        const options = { httpMetadata: { contentType: mime } };
        return infoOf(await sized(body, size, (known) => bucket.put(key, known, options)));
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
          guarded(async () => (await sized(body, size, (known) => upload.uploadPart(number, known))).etag),
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
