import type { S3Connection } from "../storage/s3/s3-connection.ts";
import type { PresignRequest, SignedRequest } from "../storage/s3/s3-sign.ts";
import type { ConnectionSettings } from "./connections.ts";
import * as errors from "./errors.ts";
import type { PageResponse } from "./media-api.ts";
import { answerOf } from "./rpc.ts";

/**
 * S3 storage for outputs and inputs `s3://…`, with keys, which stay in memory, or with a function that has each request signed
 * elsewhere.
 */
export type LocalConnection = {
  /** Name for the `connection_id` of upload steps. */
  id?: string;
  /**
   * Whether it is the connection of runs that name none.
   *
   * @default true for the first one
   */
  is_default?: boolean;
  /**
   * Whether large files are uploaded in parts; with false each file is one request of at most 5 GB.
   *
   * @default true
   */
  parts?: boolean;
} & (
  | S3Connection
  | {
      /** Has each request signed, so that no key reaches the page. */
      sign: SignRequest;
    }
);

/**
 * Has a request signed by a holder of the keys, such as a server with `presignS3`; resolves to the URL, or to the URL and the
 * headers that the signature covers.
 */
export type SignRequest = (request: PresignRequest) => Promise<string | SignedRequest>;

/** The page's side of a client's connections. */
export interface PageConnections {
  /** The settings for the media worker. */
  settings: ConnectionSettings[];
  /** Signs a request with a connection's function; never rejects. */
  sign(id: string, request: PresignRequest): Promise<PageResponse<SignedRequest>>;
}

/** Separates the settings for the media worker from the functions, which stay in the page. */
export function createPageConnections(connections: readonly LocalConnection[] = []): PageConnections {
  const functions = new Map<string, SignRequest>();
  const first = Math.max(
    0,
    connections.findIndex(({ is_default }) => is_default),
  );
  const settings = connections.map((connection, index): ConnectionSettings => {
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
    sign: (id, request) =>
      answerOf(
        async () => {
          const answer = await functions.get(id)?.(request);
          if (typeof answer === "string") return { url: answer, headers: {} };
          if (answer) return { url: answer.url, headers: { ...answer.headers } };
          throw errors.signedUrlMissing();
        },
        (cause) => errors.unsigned({ cause }),
      ),
  };
}
