import { MediaError } from "../../src/core/errors.ts";
import { isFull } from "../network/r2-storage.ts";
import type { Uploads } from "./uploads.ts";

// The number that R2 puts at the end of its messages: https://developers.cloudflare.com/r2/api/error-codes/
const CODES = {
  10011: ["request_invalid", "Every part but the last must have at least 5 MiB."],
  10024: ["media_not_found", "There is no such upload any more."],
  10025: ["request_invalid", "A part that is named was not put, or has another ETag."],
  10048: ["request_invalid", "All parts but the last must be of one size."],
} as const;

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
    if (isFull(cause)) throw new MediaError("storage_full", "There is no room left in storage.", { cause });
    const code = /\((\d+)\)/.exec(String(cause))?.[1];
    const [kind, message] = CODES[Number(code) as keyof typeof CODES] ?? [
      "service_unavailable",
      "Storage did not take the bytes.",
    ];
    throw new MediaError(kind, message, { cause });
  }
}

function infoOf({ size, etag, httpMetadata }: R2Object) {
  return { size, etag, mime: httpMetadata?.contentType ?? "application/octet-stream" };
}
