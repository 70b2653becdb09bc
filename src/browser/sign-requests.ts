import { MediaError } from "../core/errors.ts";
import type { S3Connection } from "../storage/s3-connection.ts";
import type { PresignRequest, SignedRequest } from "../storage/s3-sign.ts";
import type { ConnectionSettings } from "./connections.ts";

/** S3 storage for outputs and inputs `s3://…`, as a page gives it: with keys, which stay in memory, or with a function that has each request signed elsewhere. */
export type LocalConnection = {
  /** By which an upload step names it, as `connection_id`. */
  id?: string;
  /** True: it serves where none is named. Default the first. */
  is_default?: boolean;
  /** False: each file goes up in one request, of 5 GB at most, as where only such are signed. Default true: large ones go up in parts. */
  parts?: boolean;
} & (S3Connection | { sign: SignRequest });

/** Has a request signed by whoever holds the keys, such as the service at the edge with `presignS3`: its URL, or that with the headers that it binds. */
export type SignRequest = (request: PresignRequest) => Promise<string | SignedRequest>;

/** What the media worker is told in answer. */
export type SignAnswer =
  | SignedRequest
  | { error: { kind: MediaError["kind"]; message: string; retryable: boolean } };

/** The connections of a client, on the side of its page. */
export interface PageConnections {
  /** For the media worker. */
  settings: ConnectionSettings[];
  /** Has a request signed by the function of a connection; never rejects. */
  sign(id: string, request: PresignRequest): Promise<SignAnswer>;
}

/** Parts what the media worker gets from the functions that stay with the page. */
export function createPageConnections(given: readonly LocalConnection[] = []): PageConnections {
  const functions = new Map<string, SignRequest>();
  const first = Math.max(
    0,
    given.findIndex(({ is_default }) => is_default),
  );
  const settings = given.map((connection, index): ConnectionSettings => {
    const { id = `conn_${index}`, parts = true } = connection;
    const is_default = index === first;
    if ("sign" in connection) {
      functions.set(id, connection.sign);
      return { id, is_default, parts, keys: null };
    }
    return { id, is_default, parts, keys: connection };
  });
  return {
    settings,
    async sign(id, request) {
      try {
        const answer = await functions.get(id)?.(request);
        if (typeof answer === "string") return { url: answer, headers: {} };
        if (answer) return { url: answer.url, headers: { ...answer.headers } };
        throw new MediaError("upload_failed", "The page gave no signed URL.");
      } catch (thrown) {
        const error = thrown instanceof MediaError ? thrown : notSigned(thrown);
        const { kind, message, retryable } = error;
        return { error: { kind, message, retryable } };
      }
    },
  };
}

function notSigned(cause: unknown): MediaError {
  return new MediaError("upload_failed", "The page could not have the request to the storage signed.", {
    cause,
  });
}
