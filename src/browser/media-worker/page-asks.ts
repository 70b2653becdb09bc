import { MediaError } from "../../core/errors.ts";
import type { Size } from "../../plan/size.ts";
import type { PresignRequest, SignedRequest } from "../../storage/s3/s3-sign.ts";
import { within } from "../../util/time.ts";
import type { MediaApi, MediaEvent, PageAnswer } from "../media-api.ts";

/** What only the page can do for the media worker. */
export interface PageAsks extends Pick<MediaApi, "signed" | "drawn"> {
  /** Signs a request to S3 storage. Rejects with `upload_failed` when the page cannot, or takes longer than a minute. */
  sign(connection: string, request: PresignRequest): Promise<SignedRequest>;
  /**
   * Draws an SVG as a PNG. Rejects with `input_unsupported` when the browser cannot, and with `timeout` when it takes longer than 20
   * seconds.
   */
  draw(file: Blob, size: Size): Promise<Blob>;
}

const [SIGN_MS, DRAW_MS] = [60_000, 20_000];

/** Creates the media worker's requests to the page, which `tell` sends. */
export function createPageAsks(tell: (event: MediaEvent) => void): PageAsks {
  const signing = createAsks<SignedRequest>(SIGN_MS, () => {
    throw new MediaError("upload_failed", "The page returned no signed URL within a minute.");
  });
  const drawing = createAsks<Blob>(DRAW_MS, () => {
    throw new MediaError("timeout", "The SVG took longer than 20 seconds to draw.", { retryable: false });
  });
  return {
    sign: (connection, request) => signing.ask((asked) => tell({ type: "sign", asked, connection, request })),
    signed: async (asked, answer) => signing.answer(asked, answer),
    draw: (file, size) => drawing.ask((asked) => tell({ type: "draw", asked, file, size })),
    drawn: async (asked, answer) => drawing.answer(asked, answer),
  };
}

function createAsks<T>(ms: number, late: () => never) {
  const asks = new Map<number, PromiseWithResolvers<T>>();
  let last = 0;
  return {
    ask(send: (asked: number) => void): Promise<T> {
      const asked = ++last;
      const waiting = Promise.withResolvers<T>();
      asks.set(asked, waiting);
      send(asked);
      return within(waiting.promise, ms, late).finally(() => asks.delete(asked));
    },
    answer(asked: number, { made, error }: PageAnswer<T>): void {
      const waiting = asks.get(asked);
      if (error === null) waiting?.resolve(made);
      else waiting?.reject(new MediaError(error.kind, error.message, { retryable: error.retryable }));
    },
  };
}
