import { MediaError } from "../../media/errors.ts";
import type { Size } from "../../media/picture-geometry.ts";
import type { PresignRequest, SignedRequest } from "../../storage/s3/s3-sign.ts";
import { createSlotQueue, within } from "../../util/async.ts";
import * as errors from "../errors.ts";
import { DRAW_MS, type MediaApi, type MediaEvent, type PageResponse, slowDrawing } from "../media-api.ts";

/** The media worker's requests to the page. */
export interface PageRequests extends Pick<MediaApi, "signed" | "drawn"> {
  /** Signs a request to S3 storage. Rejects with `upload_failed` when the page cannot, or takes longer than a minute. */
  sign(connection: string, request: PresignRequest): Promise<SignedRequest>;
  /**
   * Draws an SVG as a PNG, one at a time. Rejects with `input_unsupported` when the browser cannot, with `timeout` after 20 seconds, and
   * when `signal` aborts.
   */
  draw(file: Blob, size: Size, signal: AbortSignal): Promise<Blob>;
}

const SIGN_MS = 60_000;

/** Creates the media worker's requests to the page, which `tell` sends. */
export function createPageRequests(tell: (event: MediaEvent) => void): PageRequests {
  const signing = createRequests<SignedRequest>(SIGN_MS, () => {
    throw errors.lateSignature();
  });
  const drawing = createRequests<Blob>(DRAW_MS, () => {
    throw slowDrawing();
  });
  // The page draws on one thread; time in this queue does not count against a drawing.
  const queue = createSlotQueue(1, Number.POSITIVE_INFINITY);
  return {
    sign: (connection, request) =>
      signing.send((requestId) => tell({ type: "sign", requestId, connection, request })),
    signed: async (requestId, answer) => signing.answer(requestId, answer),
    async draw(file, size, signal) {
      const end = await queue.take(1, signal);
      let requestId = 0;
      const request = (id: number) => {
        requestId = id;
        tell({ type: "draw", requestId, file, size });
      };
      try {
        return await drawing.send(request, signal);
      } catch (thrown) {
        tell({ type: "undraw", requestId });
        throw thrown;
      } finally {
        end();
      }
    },
    drawn: async (requestId, answer) => drawing.answer(requestId, answer),
  };
}

function createRequests<T>(ms: number, late: () => never) {
  const pending = new Map<number, PromiseWithResolvers<T>>();
  let last = 0;
  return {
    send(request: (id: number) => void, signal?: AbortSignal): Promise<T> {
      const id = ++last;
      const response = Promise.withResolvers<T>();
      pending.set(id, response);
      request(id);
      const abort = () => response.reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      return within(response.promise, ms, late).finally(() => {
        pending.delete(id);
        signal?.removeEventListener("abort", abort);
      });
    },
    answer(id: number, { result, error }: PageResponse<T>): void {
      const response = pending.get(id);
      if (error === null) response?.resolve(result);
      else response?.reject(new MediaError(error.kind, error.message, { retryable: error.retryable }));
    },
  };
}
