import { MediaError } from "../../core/errors.ts";
import type { PresignRequest, SignedRequest } from "../../storage/s3/s3-sign.ts";
import { within } from "../../util/time.ts";
import type { MediaApi, MediaEvent } from "../media-api.ts";

/** Requests that the page signs for S3 storage. */
export interface PageAsks {
  /** Rejects with `upload_failed` when the page cannot, or takes longer than a minute. */
  sign(connection: string, request: PresignRequest): Promise<SignedRequest>;
  signed: MediaApi["signed"];
}

const ANSWER_MS = 60_000;

/** Creates the media worker's requests to the page, which `tell` sends. */
export function createPageAsks(tell: (event: MediaEvent) => void): PageAsks {
  const asks = new Map<number, PromiseWithResolvers<SignedRequest>>();
  let last = 0;
  return {
    sign(connection, request) {
      const asked = ++last;
      const waiting = Promise.withResolvers<SignedRequest>();
      asks.set(asked, waiting);
      tell({ type: "sign", asked, connection, request });
      const late = () => {
        throw new MediaError("upload_failed", "The page returned no signed URL within a minute.");
      };
      return within(waiting.promise, ANSWER_MS, late).finally(() => asks.delete(asked));
    },
    async signed(asked, answer) {
      if (!("error" in answer)) return asks.get(asked)?.resolve(answer);
      const { kind, message, retryable } = answer.error;
      asks.get(asked)?.reject(new MediaError(kind, message, { retryable }));
    },
  };
}
