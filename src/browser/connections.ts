import { createS3Bucket, type S3Bucket } from "../storage/s3/bucket.ts";
import type { S3Connection } from "../storage/s3/s3-connection.ts";
import {
  createAskingSigner,
  createS3Signer,
  type PresignRequest,
  type S3Signer,
  type SignedRequest,
} from "../storage/s3/s3-sign.ts";
import { sleep } from "../util/async.ts";
import { GIB } from "../util/bytes.ts";
import type { ConnectionUser } from "./errors.ts";
import * as errors from "./errors.ts";

/** A connection in the media worker: with keys, or without them when the page signs each request. */
export interface ConnectionSettings {
  id: string;
  is_default: boolean;
  /** Keys that sign requests; null if the page signs them. */
  keys: S3Connection | null;
  /** Whether large files are uploaded in parts. */
  parts: boolean;
}

/** The S3 storage of a client, never stored. */
export interface Connections {
  /**
   * Throws `connection_required` when none is available, `connection_not_found` for an unknown id; `param` names the
   * offending field.
   */
  check(id: string | null, param: string, user: ConnectionUser): void;
  signer(bucket: string, id: string | null): S3Signer;
  /** Returns a bucket, and the largest file to upload in one request; null for the default limit. Throws as `check` does. */
  bucket(name: string, id: string | null): { bucket: S3Bucket; singleBytes: number | null };
}

const OFFLINE_MS = 600_000;
const OFFLINE_PAUSE_MS = 1000;
const TRIES = 4;
// S3's limit for one request.
const MAX_SINGLE_BYTES = 5 * GIB;

/** Creates a client's connections; `ask` has the page sign a request. */
export function createConnections(
  settings: readonly ConnectionSettings[],
  ask: (id: string, request: PresignRequest) => Promise<SignedRequest>,
): Connections {
  function find(id: string | null, param: string, user: ConnectionUser): ConnectionSettings {
    const connection = settings.find((each) => (id === null ? each.is_default : each.id === id));
    if (connection) return connection;
    throw id === null ? errors.connectionRequired({ param, user }) : errors.connectionNotFound({ param });
  }
  const signerOf = (bucket: string, { id, keys }: ConnectionSettings) =>
    keys ? createS3Signer(keys, bucket) : createAskingSigner(bucket, (request) => ask(id, request));
  return {
    check: (id, param, user) => void find(id, param, user),
    signer: (bucket, id) => signerOf(bucket, find(id, "input", `s3://${bucket}`)),
    bucket(name, id) {
      const connection = find(id, "output", `s3://${name}`);
      const signer = signerOf(name, connection);
      const bucket = createS3Bucket(signer, { reconnect: createReconnect(), tries: TRIES });
      return { bucket, singleBytes: connection.parts ? null : MAX_SINGLE_BYTES };
    },
  };
}

// While the browser reports that it is offline, attempts do not count; the report may be outdated, so they are still made.
function createReconnect(): (signal?: AbortSignal) => Promise<boolean> {
  let since: number | null = null;
  return async (signal) => {
    since = navigator.onLine ? null : (since ?? Date.now());
    if (since === null || Date.now() - since > OFFLINE_MS) return false;
    await sleep(OFFLINE_PAUSE_MS, signal);
    return true;
  };
}
