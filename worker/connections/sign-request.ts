import type { SignedRequest, SignRequest } from "../../src/core/connection.ts";
import { presignS3 } from "../../src/storage/s3/s3-sign.ts";
import type { OpenConnection } from "./connections.ts";

const SECONDS = 3600;

/** Signs a request to the storage of a connection in its URL; its type and length are bound where they are given. */
export async function signRequest(
  { force_path_style, ...connection }: OpenConnection,
  { method, bucket, key, query = {}, content_type, content_length, seconds = SECONDS }: SignRequest,
  now: number,
): Promise<SignedRequest> {
  const keys = { ...connection, ...(force_path_style !== null && { force_path_style }) };
  // Headers that a page sends automatically are bound too, but not listed among those to send.
  const headers: Record<string, string> = content_type ? { "content-type": content_type } : {};
  const bound = {
    ...headers,
    ...(content_length !== undefined && { "content-length": String(content_length) }),
  };
  const url = await presignS3(keys, bucket, { method, key, query, headers: bound }, seconds);
  return { object: "signed_request", url, headers, expires_at: now + seconds * 1000 };
}
