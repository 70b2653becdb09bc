import {
  type Connection,
  MAX_SIGNED_SECONDS,
  type SignedRequest,
  type SigningRule,
  type SignRequest,
} from "../../src/runs/connection.ts";
import { presignS3 } from "../../src/storage/s3/s3-sign.ts";
import { errors } from "../errors.ts";
import type { OpenConnection } from "./connections.ts";

/** Throws `forbidden` for a request that no rule of the connection allows to sign. */
export function checkSigning({ signing }: Connection, request: SignRequest): void {
  const need = needOf(request);
  const fits = ({ bucket, prefix = "", methods }: SigningRule) =>
    bucket === request.bucket && request.key.startsWith(prefix) && methods.includes(need);
  if (signing.some(fits)) return;
  throw errors.signingForbidden({ method: need });
}

// Parts are a way to write: begun and completed by POST, listed by GET, aborted by DELETE.
function needOf({ method, query }: SignRequest): SigningRule["methods"][number] {
  if (method === "PUT" || method === "POST" || query?.uploadId) return "PUT";
  return method === "DELETE" ? "DELETE" : "GET";
}

/** Signs a request to the storage of a connection in its URL; its type and length are bound where they are given. */
export async function signRequest(
  { force_path_style, ...connection }: OpenConnection,
  {
    method,
    bucket,
    key,
    query = {},
    content_type,
    content_length,
    seconds = MAX_SIGNED_SECONDS,
  }: SignRequest,
  now: number,
): Promise<SignedRequest> {
  const named = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined);
  const keys = { ...connection, ...(force_path_style !== null && { force_path_style }) };
  // Headers that a page sends automatically are bound too, but not listed among those to send.
  const headers: Record<string, string> = content_type ? { "content-type": content_type } : {};
  const bound = {
    ...headers,
    ...(content_length !== undefined && { "content-length": String(content_length) }),
  };
  const url = await presignS3(
    keys,
    bucket,
    { method, key, query: Object.fromEntries(named), headers: bound },
    seconds,
  );
  return { object: "signed_request", url, headers, expires_at: now + seconds * 1000 };
}
