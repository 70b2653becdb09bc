import { MediaError } from "../../core/errors.ts";
import { type HttpFile, openHttp } from "../http/http-reader.ts";
import { discard, type HttpOptions } from "../http/http-request.ts";
import { createS3Bucket } from "./s3-send.ts";
import type { S3Signer } from "./s3-sign.ts";

const WHY = new Set(["input_forbidden", "input_not_found", "input_unreachable"]);

/** Opens an object as a source, by signed requests for its ranges; a body that breaks off is taken up again. It rejects as `openHttp` does, and says why access was refused. */
export async function openS3(
  signer: S3Signer,
  key: string,
  options: Omit<HttpOptions, "guard">,
): Promise<HttpFile> {
  const open = () =>
    openHttp(`s3://${signer.bucket}/`, {
      ...options,
      // Every request is signed anew, as signatures expire.
      async fetch(_, { headers, ...init }) {
        const signed = await signer.sign({ method: "GET", key });
        return options.fetch(signed.url, {
          ...init,
          headers: { ...(headers as Record<string, string>), ...signed.headers },
        });
      },
      guard: null,
    });
  try {
    return await open();
  } catch (thrown) {
    if (!(thrown instanceof MediaError && WHY.has(thrown.kind) && !thrown.retryable)) throw thrown;
    // Asked in the way that gives the reason; where it is a wrong clock, that is set right by it.
    const asked = { purpose: "read", signal: options.signal } as const;
    const bucket = createS3Bucket(signer, { fetch: options.fetch, tries: 2 });
    await discard(await bucket.send({ method: "GET", key, headers: { range: "bytes=0-0" } }, asked));
    return open();
  }
}
