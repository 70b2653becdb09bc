import { MediaError } from "../../core/errors.ts";
import { type HttpFile, openHttp } from "../http/reader.ts";
import { discard, type HttpOptions } from "../http/request.ts";
import { createS3Bucket } from "./s3-send.ts";
import type { S3Signer } from "./s3-sign.ts";

const WHY = new Set(["input_forbidden", "input_not_found", "input_unreachable"]);

/**
 * Opens an object as a source by signed range requests, and resumes a body that breaks off. Rejects as `openHttp` does, with
 * the reason when access was refused.
 */
export async function openS3(
  signer: S3Signer,
  key: string,
  options: Omit<HttpOptions, "guard">,
): Promise<HttpFile> {
  const open = () => openHttp(`s3://${signer.bucket}/`, signedOptions(signer, key, options));
  try {
    return await open();
  } catch (thrown) {
    if (!(thrown instanceof MediaError && WHY.has(thrown.kind) && !thrown.retryable)) throw thrown;
    // Asks in a way that returns the reason; a wrong clock is corrected on the way.
    const asked = { purpose: "read", signal: options.signal } as const;
    const bucket = createS3Bucket(signer, { fetch: options.fetch, tries: 2 });
    await discard(await bucket.send({ method: "GET", key, headers: { range: "bytes=0-0" } }, asked));
    return open();
  }
}

/** Returns options that read one object, whatever URL is requested; every request is signed by itself, because signatures expire. */
export function signedOptions(
  signer: S3Signer,
  key: string,
  options: Omit<HttpOptions, "guard">,
): HttpOptions {
  return {
    ...options,
    async fetch(_, { headers, ...init }) {
      const signed = await signer.sign({ method: "GET", key });
      return options.fetch(signed.url, {
        ...init,
        headers: { ...(headers as Record<string, string>), ...signed.headers },
      });
    },
    guard: null,
  };
}
