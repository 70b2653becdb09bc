import { AwsV4Signer } from "aws4fetch";
import { sha256Hex } from "../../util/hex.ts";
import { objectUrl, type S3Connection } from "./s3-connection.ts";

/** A request to an object, or with an empty key to the bucket. */
export interface S3Request {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  key: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Bytes are signed with their SHA-256, which the service checks; a Blob is read while it is sent, and is not. */
  body?: Uint8Array<ArrayBuffer> | Blob;
}

/** Where a signed request goes, and the headers that it must have. */
export interface SignedRequest {
  url: string;
  headers: Record<string, string>;
}

/** Gives requests to one bucket what lets them in. */
export interface S3Signer {
  readonly bucket: string;
  sign(request: S3Request): Promise<SignedRequest>;
  /** Takes the time that the service has, in milliseconds, for all that is signed from now on; false when that is no news. */
  setClock(server_ms: number): boolean;
}

/** What a presigned URL is asked for: plain data, so that it can be sent to whoever has the keys. */
export interface PresignRequest {
  method: S3Request["method"];
  bucket: string;
  key: string;
  /** `uploads`, `uploadId`, `partNumber` …, as S3 has them; they are part of the URL. */
  query: Record<string, string>;
  /** Content-Type that is sent; null for none. */
  content_type: string | null;
  /** Bytes that are sent. */
  content_length: number;
}

/** Signs nothing itself but asks for each request: for those who hold no keys. Headers in the answer are sent, too. */
export function createAskingSigner(
  bucket: string,
  ask: (request: PresignRequest) => Promise<SignedRequest>,
): S3Signer {
  return {
    bucket,
    async sign({ method, key, query, headers = {}, body }) {
      const given = await ask({
        ...{ method, bucket, key, query: { ...query } },
        content_type: headers["content-type"] ?? null,
        content_length: body instanceof Blob ? body.size : (body?.length ?? 0),
      });
      return { url: given.url, headers: { ...headers, ...given.headers } };
    },
    setClock: () => false,
  };
}

/** Seconds that a presigned URL may be good for at most: seven days. */
export const MAX_PRESIGN_SECONDS = 604_800;

// Less than what services allow (15 minutes), more than a request takes on its way.
const NEWS_MS = 60_000;

/** Signs requests with the keys of a connection. The keys are in no URL and in no message. */
export function createS3Signer(connection: S3Connection, bucket: string): S3Signer {
  const keys = keysOf(connection);
  let ahead_ms = 0;
  return {
    bucket,
    async sign({ method, key, query, headers = {}, body }) {
      const url = objectUrl(connection, { bucket, key }, query);
      const hash = body instanceof Blob ? "UNSIGNED-PAYLOAD" : await sha256Hex(body ?? new Uint8Array(0));
      // Only what no browser, proxy or runtime changes on the way is signed.
      const signed = { "x-amz-content-sha256": hash };
      const signer = new AwsV4Signer({
        ...{ ...keys, method, url, headers: signed },
        datetime: stamp(Date.now() + ahead_ms),
      });
      const made = await signer.sign();
      return { url, headers: { ...headers, ...Object.fromEntries(made.headers) } };
    },
    setClock(server_ms) {
      const difference = server_ms - Date.now();
      if (!Number.isFinite(server_ms) || Math.abs(difference - ahead_ms) < NEWS_MS) return false;
      ahead_ms = difference;
      return true;
    },
  };
}

/**
 * Signs a request in its URL, so that whoever has the URL may send it, without a key, for so many seconds (1 to 604 800). Headers given, such
 * as Content-Type and Content-Length, are bound: they must be sent just so.
 */
export async function presignS3(
  connection: S3Connection,
  bucket: string,
  { method, key, query, headers = {} }: Omit<S3Request, "body">,
  seconds: number,
): Promise<string> {
  const most = Math.min(MAX_PRESIGN_SECONDS, Math.max(1, Math.floor(seconds)));
  const url = objectUrl(connection, { bucket, key }, { ...query, "X-Amz-Expires": String(most) });
  const signer = new AwsV4Signer({
    ...{ ...keysOf(connection), method, url, headers: { ...headers } },
    ...{ signQuery: true, allHeaders: true },
  });
  const signed = (await signer.sign()).url;
  // A plus is a space to some services and a plus to others.
  signed.search = signed.search.replaceAll("+", "%20");
  return signed.href;
}

function keysOf({ access_key_id, secret_access_key, session_token, region }: S3Connection) {
  return {
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    ...(session_token !== undefined && { sessionToken: session_token }),
    ...{ service: "s3", region },
  };
}

// As SigV4 writes times: 20261121T150405Z.
function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[:-]|\.\d{3}/g, "");
}
