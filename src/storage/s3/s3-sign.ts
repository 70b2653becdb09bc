import { AwsV4Signer } from "aws4fetch";
import { sha256Hex } from "../../util/bytes.ts";
import { objectUrl, type S3Connection } from "./s3-connection.ts";

/** A request to an object, or to the bucket when the key is empty. */
export interface S3Request {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  key: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Bytes are signed by their SHA-256, which the service verifies; a Blob is read while it is sent, so its hash is not signed. */
  body?: Uint8Array<ArrayBuffer> | Blob;
}

/** The URL and headers of a signed request. */
export interface SignedRequest {
  /** The URL; a presigned one contains the signature. */
  url: string;
  /** Headers that must be sent unchanged. */
  headers: Record<string, string>;
}

/** Signs requests to one bucket. */
export interface S3Signer {
  readonly bucket: string;
  sign(request: S3Request): Promise<SignedRequest>;
  /** Adopts the service's clock, in milliseconds, for all later signatures; returns false when it barely differs. */
  setClock(server_ms: number): boolean;
}

/** A request for a presigned URL: plain data that can be sent to the holder of the keys. */
export interface PresignRequest {
  /** HTTP method of the request. */
  method: S3Request["method"];
  /** The bucket. */
  bucket: string;
  /** The object's key; empty for a request to the bucket. */
  key: string;
  /** S3's `uploads`, `uploadId`, `partNumber` …; part of the URL. */
  query: Record<string, string>;
  /** Content-Type to be sent; null for none. */
  content_type: string | null;
  /** Bytes to be sent. */
  content_length: number;
}

/** Creates a signer without keys that calls `ask` to sign each request; headers in the answer are sent too. */
export function createAskingSigner(
  bucket: string,
  ask: (request: PresignRequest) => Promise<SignedRequest>,
): S3Signer {
  return {
    bucket,
    async sign({ method, key, query, headers = {}, body }) {
      const signed = await ask({
        method,
        bucket,
        key,
        query: { ...query },
        content_type: headers["content-type"] ?? null,
        content_length: body instanceof Blob ? body.size : (body?.length ?? 0),
      });
      return { url: signed.url, headers: { ...headers, ...signed.headers } };
    },
    setClock: () => false,
  };
}

/** Longest validity of a presigned URL in seconds: seven days. */
export const MAX_PRESIGN_SECONDS = 604_800;

// Services tolerate 15 minutes; a request takes less than this to arrive.
const MIN_SKEW_MS = 60_000;

/** Creates a signer with the keys of a connection. The keys never appear in URLs or messages. */
export function createS3Signer(connection: S3Connection, bucket: string): S3Signer {
  const keys = keysOf(connection);
  let aheadMs = 0;
  return {
    bucket,
    async sign({ method, key, query, headers = {}, body }) {
      const url = objectUrl(connection, { bucket, key }, query);
      const hash = body instanceof Blob ? "UNSIGNED-PAYLOAD" : await sha256Hex(body ?? new Uint8Array(0));
      const signer = new AwsV4Signer({
        ...keys,
        method,
        url,
        // Sign only headers that no browser, proxy or runtime changes.
        headers: { "x-amz-content-sha256": hash },
        datetime: formatTime(Date.now() + aheadMs),
      });
      const signed = await signer.sign();
      return { url, headers: { ...headers, ...Object.fromEntries(signed.headers) } };
    },
    setClock(server_ms) {
      const difference = server_ms - Date.now();
      if (!Number.isFinite(server_ms) || Math.abs(difference - aheadMs) < MIN_SKEW_MS) return false;
      aheadMs = difference;
      return true;
    },
  };
}

/**
 * Signs a request in its URL, so that anyone who has the URL can send it without a key. The headers, such as Content-Type and
 * Content-Length, are signed too and must be sent unchanged.
 *
 * @param seconds Validity of the URL, limited to 1 to 604 800 (a week).
 * @example const url = await presignS3(connection, "films", { method: "GET", key: "clip.mp4" }, 3600);
 */
export async function presignS3(
  connection: S3Connection,
  bucket: string,
  { method, key, query, headers = {} }: Omit<S3Request, "body">,
  seconds: number,
): Promise<string> {
  const validity = Math.min(MAX_PRESIGN_SECONDS, Math.max(1, Math.floor(seconds)));
  const url = objectUrl(connection, { bucket, key }, { ...query, "X-Amz-Expires": String(validity) });
  const signer = new AwsV4Signer({
    ...keysOf(connection),
    method,
    url,
    headers: { ...headers },
    signQuery: true,
    allHeaders: true,
  });
  const signed = (await signer.sign()).url;
  // Services disagree on whether a plus in a query is a space.
  signed.search = signed.search.replaceAll("+", "%20");
  return signed.href;
}

function keysOf({ access_key_id, secret_access_key, session_token, region }: S3Connection) {
  return {
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    ...(session_token !== undefined && { sessionToken: session_token }),
    service: "s3",
    region,
  };
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/[:-]|\.\d{3}/g, "");
}
