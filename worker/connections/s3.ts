import { toMediaError } from "../../src/media/errors.ts";
import {
  type Connection,
  type ConnectionTest,
  MAX_SIGNED_SECONDS,
  type SignedRequest,
  type SigningRule,
  type SignRequest,
} from "../../src/runs/connection.ts";
import type { Storage } from "../../src/runs/ports.ts";
import { createS3Bucket } from "../../src/storage/s3/bucket.ts";
import { storageOf } from "../../src/storage/s3/s3.ts";
import type { S3Connection } from "../../src/storage/s3/s3-connection.ts";
import { createS3Signer, presignS3 } from "../../src/storage/s3/s3-sign.ts";
import { readSome } from "../../src/storage/storage.ts";
import * as errors from "../errors.ts";
import type { Outside } from "../network/outside.ts";
import type { OpenConnection } from "./connections.ts";

/** Returns the options to access a connection's storage: its keys, and a fetch that checks the host on each request. */
export function s3Options(
  connection: OpenConnection,
  outside: Outside,
): S3Connection & { fetch(url: string, init: RequestInit): Promise<Response> } {
  const { endpoint, region, access_key_id, secret_access_key, force_path_style } = connection;
  return {
    endpoint,
    region,
    access_key_id,
    secret_access_key,
    ...(force_path_style !== null && { force_path_style }),
    fetch: outside.fetch,
  };
}

/** Throws `forbidden` for a request that no rule of the connection allows to sign. */
export function checkSigning({ signing }: Connection, request: SignRequest): void {
  const need = needOf(request);
  const covers = ({ bucket, prefix = "", methods }: SigningRule) =>
    bucket === request.bucket && request.key.startsWith(prefix) && methods.includes(need);
  if (signing.some(covers)) return;
  throw errors.signingForbidden({ method: need });
}

// All requests of a multipart upload count as writing: POST begins and completes it, GET lists the parts, DELETE aborts it.
function needOf({ method, query }: SignRequest): SigningRule["methods"][number] {
  if (method === "PUT" || method === "POST" || query?.uploadId) return "PUT";
  return method === "DELETE" ? "DELETE" : "GET";
}

/** Presigns a request to a connection's storage; the signature covers the content type and length if stated. */
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
  const parameters = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined);
  const keys = { ...connection, ...(force_path_style !== null && { force_path_style }) };
  // Browsers send the length themselves, so it is signed but not listed among the headers to send.
  const headers: Record<string, string> = content_type ? { "content-type": content_type } : {};
  const bound = {
    ...headers,
    ...(content_length !== undefined && { "content-length": String(content_length) }),
  };
  const url = await presignS3(
    keys,
    bucket,
    { method, key, query: Object.fromEntries(parameters), headers: bound },
    seconds,
  );
  return { object: "signed_request", url, headers, expires_at: now + seconds * 1000 };
}

const RETRY = { tries: 2, timeoutMs: 10_000 };

/** Writes a small object, reads it back and deletes it; never rejects. */
export async function testConnection(
  connection: OpenConnection,
  bucket: string,
  key: string,
  outside: Outside,
): Promise<ConnectionTest> {
  const options = { ...s3Options(connection, outside), ...RETRY };
  const s3 = createS3Bucket(createS3Signer(options, bucket), options);
  const storage = storageOf(s3);
  try {
    await outside.guard(connection.endpoint);
    await storage.write(key, new TextEncoder().encode(key), "text/plain");
    // The credentials may not allow listing, so delete by key.
    const remove = () => s3.ask({ method: "DELETE", key }, { purpose: "write", expected: [404] });
    const same = await isKept(storage, key).finally(remove);
    if (!same) throw errors.testObjectChanged();
    return { object: "connection_test", ok: true, error: null };
  } catch (thrown) {
    const { kind, message } = toMediaError(thrown, "upload_failed");
    return { object: "connection_test", ok: false, error: { kind, message } };
  }
}

async function isKept(storage: Storage, key: string): Promise<boolean> {
  const stored = await storage.read(key);
  if (!stored) return false;
  const { length } = new TextEncoder().encode(key);
  const bytes = await readSome(stored.body, length, AbortSignal.timeout(RETRY.timeoutMs));
  return new TextDecoder().decode(bytes) === key;
}
