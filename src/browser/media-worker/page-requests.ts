import { MediaError } from "../../media/errors.ts";
import type { Size } from "../../media/picture-geometry.ts";
import type { PresignRequest, SignedRequest } from "../../storage/s3/s3-sign.ts";
import { within } from "../../util/async.ts";
import { createSlotQueue } from "../../util/slot-queue.ts";
import { DRAW_MS, type MediaApi, type MediaEvent, type PageResponse, slowDrawing } from "../media-api.ts";
import { errors } from "./errors.ts";

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
  const turns = createSlotQueue(1, Number.POSITIVE_INFINITY);
  return {
    sign: (connection, request) => signing.ask((asked) => tell({ type: "sign", asked, connection, request })),
    signed: async (asked, answer) => signing.answer(asked, answer),
    async draw(file, size, signal) {
      const end = await turns.take(1, signal);
      let drawn = 0;
      const send = (asked: number) => {
        drawn = asked;
        tell({ type: "draw", asked, file, size });
      };
      try {
        return await drawing.ask(send, signal);
      } catch (thrown) {
        tell({ type: "undraw", asked: drawn });
        throw thrown;
      } finally {
        end();
      }
    },
    drawn: async (asked, answer) => drawing.answer(asked, answer),
  };
}

function createRequests<T>(ms: number, late: () => never) {
  const asks = new Map<number, PromiseWithResolvers<T>>();
  let last = 0;
  return {
    ask(send: (asked: number) => void, signal?: AbortSignal): Promise<T> {
      const asked = ++last;
      const waiting = Promise.withResolvers<T>();
      asks.set(asked, waiting);
      send(asked);
      const abort = () => waiting.reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      return within(waiting.promise, ms, late).finally(() => {
        asks.delete(asked);
        signal?.removeEventListener("abort", abort);
      });
    },
    answer(asked: number, { made, error }: PageResponse<T>): void {
      const waiting = asks.get(asked);
      if (error === null) waiting?.resolve(made);
      else waiting?.reject(new MediaError(error.kind, error.message, { retryable: error.retryable }));
    },
  };
}
