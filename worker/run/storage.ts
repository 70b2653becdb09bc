import { waitUntil } from "cloudflare:workers";
import { isId } from "../../src/runs/ids.ts";
import type { ByteRange, Storage } from "../../src/runs/ports.ts";
import { type Inputs, type OpenInput, openStored } from "../../src/runs/steps/inputs.ts";
import { runFolder, runOf, sourceKey } from "../../src/runs/steps/media-keys.ts";
import type { ByteSource } from "../../src/storage/byte-source.ts";
import { createHostGuard } from "../../src/storage/http/host-guard.ts";
import { createHttpSource, type HttpFile, openHttp } from "../../src/storage/http/reader.ts";
import type { HttpOptions } from "../../src/storage/http/request.ts";
import {
  createExtents,
  createPinnedStorage,
  type FetchLock,
  type Pin,
  pinnedFacts,
  pinOf,
} from "../../src/storage/pinned.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { createS3Bucket, type S3Bucket } from "../../src/storage/s3/bucket.ts";
import { openS3, signedOptions } from "../../src/storage/s3/objects.ts";
import { parseS3Url, type S3Connection } from "../../src/storage/s3/s3-connection.ts";
import { createS3Signer } from "../../src/storage/s3/s3-sign.ts";
import { toBase64Url } from "../../src/util/bytes.ts";
import { createConnections } from "../connections/connections.ts";
import { s3Options } from "../connections/s3.ts";
import { createSealOf } from "../connections/seal.ts";
import { createOutsideOf, type Env, hostRules, mediaBucket } from "../env.ts";
import * as errors from "../errors.ts";
import { STAY_MS } from "../jobs/job-object.ts";
import { requireQuota } from "../limits/quota.ts";
import type { Signer } from "../media/signed-urls.ts";
import { createPageUploadsOf } from "../media/upload-object.ts";
import { patiently } from "../network/durable-objects.ts";
import { createR2Objects, createR2Storage } from "../network/r2-storage.ts";

/** The run whose inputs are read. */
export interface InputOwner {
  project: string;
  run_id: string;
  /** Base of the run's URLs. */
  base: string;
}

/** The inputs of a run. */
export interface RunInputs extends Inputs {
  /** Opens a range of a pinned input; reading rejects with `input_changed` once the input has another version. */
  openPinned(pin: Pin, range: ByteRange, signal?: AbortSignal): Promise<ByteSource>;
}

type Location = { stored: string } | { s3: string; connection_id: string | null } | { http: string };

/** Creates the inputs of a run from its storage, the network and the caller's own storage, within the limits of the settings. */
export function createInputs(
  env: Env,
  { project, run_id, base }: InputOwner,
  storage: Storage,
  signer: Signer,
): RunInputs {
  const guard = createHostGuard(hostRules(env));
  const outside = createOutsideOf(env);
  const uploads = createPageUploadsOf(env);
  const ownStorage = createOwnStorage(env, project, run_id);
  const { MAX_INPUT_BYTES: maxBytes, INGEST_SECONDS } = env.settings;
  const totalMs = INGEST_SECONDS * 1000;
  const quota = async (bytes: number) =>
    requireQuota(await patiently(() => env.PROJECT.getByName(project).quota.takeFetched(bytes)));
  const limits = { maxBytes, admit: quota };
  const timeouts = { totalMs, headersMs: Math.min(20_000, totalMs), idleMs: Math.min(30_000, totalMs) };
  const httpOptions = (signal?: AbortSignal): HttpOptions => ({
    fetch: outside.fetch,
    guard,
    signal,
    timeouts,
    ...limits,
  });

  async function locate(url: string): Promise<Location> {
    if (/^s3:/i.test(url)) return { s3: url, connection_id: null };
    const stored = await signer.resolve(url);
    if (stored !== null) return { stored };
    const upload = await uploads.find(project, url);
    if (upload?.key) return { stored: upload.key };
    if (upload?.output) return { s3: upload.output, connection_id: upload.connection_id };
    if (!url.startsWith(`${base}/uploads/`)) return { http: url };
    throw errors.uploadExpired();
  }

  const toInput = (url: string, file: HttpFile): OpenInput => {
    return { reader: file.reader, mime: file.mime, file, pin: pinOf(url, file) };
  };

  return {
    async open(url, signal) {
      const location = await locate(url);
      if ("stored" in location) {
        await quota(0);
        return openStored(storage, location.stored, url, (stored) => storageReader(storage, stored));
      }
      if ("http" in location) return toInput(url, await openHttp(url, httpOptions(signal)));
      const options = { signal, timeouts, ...limits };
      return toInput(url, await ownStorage.open(location.s3, options, location.connection_id));
    },
    async openPinned(pin, range, signal) {
      const location = await locate(pin.url);
      if ("stored" in location) throw errors.storedFilePinned();
      const { url, options } =
        "http" in location
          ? { url: location.http, options: httpOptions(signal) }
          : await ownStorage.source(location.s3, { signal, timeouts, ...limits }, location.connection_id);
      return createHttpSource(pinnedFacts(pin, url), options, { range });
    },
  };
}

/**
 * Creates the managed storage together with the pinned sources of unfinished runs, at the keys that copies would have. Stores the
 * ranges it reads in the run's folder. It caches pins, so every request and every run needs a new one.
 */
export function createPinnedMedia(env: Env, signer: Signer): Storage {
  const bucket = mediaBucket(env);
  const storage = createR2Storage(bucket);
  const objects = createR2Objects(bucket);
  return createPinnedStorage(storage, {
    async find(key) {
      const run_id = runOf(key);
      if (key !== sourceKey(run_id)) return null;
      // The pin is kept by an object, not in the run's folder, to which encoders can write.
      const owner = () => (isId("job", run_id) ? env.JOB.getByName(run_id) : env.TASK.getByName(run_id));
      const pinned = await patiently(() => owner().pin.get());
      if (pinned === null) return null;
      const { project, base, pin } = pinned;
      const inputs = createInputs(env, { project, run_id, base }, storage, signer);
      return {
        pin,
        extents: createExtents(objects, extentsFolder(run_id, pin)),
        open: (range) => inputs.openPinned(pin, range),
        lock: isId("job", run_id) ? fetchTurns(env, run_id) : undefined,
      };
    },
    later: waitUntil,
  });
}

function fetchTurns(env: Env, job_id: string): FetchLock {
  const fetches = () => env.JOB.getByName(job_id).fetches;
  return {
    async acquire(range) {
      const number = await patiently(() => fetches().take(range));
      if (number === null) return null;
      const staying = setInterval(
        () =>
          void fetches()
            .stay(number)
            .catch(() => {}),
        STAY_MS,
      );
      return async () => {
        clearInterval(staying);
        await fetches()
          .leave(number)
          .catch(() => {});
      };
    },
  };
}

function extentsFolder(run_id: string, { etag, size }: Pin): string {
  return `${runFolder("work", run_id)}extents/${toBase64Url(new TextEncoder().encode(etag))}-${size}/`;
}

/** The caller's own S3 storage, through the run's connection. Every method rejects with `connection_not_found` once that is deleted. */
export interface OwnStorage {
  /** Opens `s3://<bucket>/<key>` as a source, through `connection_id` instead of the run's connection if set. */
  open(
    url: string,
    options: Omit<HttpOptions, "guard" | "fetch">,
    connection_id?: string | null,
  ): Promise<HttpFile>;
  /** Returns a placeholder URL for an object, and the options to read its ranges with. */
  source(
    url: string,
    options: Omit<HttpOptions, "guard" | "fetch">,
    connection_id?: string | null,
  ): Promise<{ url: string; options: HttpOptions }>;
  bucket(name: string): Promise<S3Bucket>;
}

/** Creates the own storage of a run; each call reads the connection. */
export function createOwnStorage(env: Env, project: string, run_id: string): OwnStorage {
  const outside = createOutsideOf(env);
  const connections = createConnections((name) => env.PROJECT.getByName(name), createSealOf(env));

  async function connect(id: string | null = null): Promise<ReturnType<typeof s3Options> & S3Connection> {
    const connection =
      id === null ? await connections.openOf(project, run_id) : await connections.open(project, id);
    if (!connection) throw errors.connectionOfRunDeleted();
    await outside.guard(connection.endpoint);
    return s3Options(connection, outside);
  }

  return {
    async open(url, options, connection_id) {
      const { bucket, key } = parseS3Url(url);
      const { fetch, ...connection } = await connect(connection_id);
      return openS3(createS3Signer(connection, bucket), key, { ...options, fetch });
    },
    async source(url, options, connection_id) {
      const { bucket, key } = parseS3Url(url);
      const { fetch, ...connection } = await connect(connection_id);
      const signer = createS3Signer(connection, bucket);
      return { url: `s3://${bucket}/`, options: signedOptions(signer, key, { ...options, fetch }) };
    },
    async bucket(name) {
      const { fetch, ...connection } = await connect();
      return createS3Bucket(createS3Signer(connection, name), { fetch });
    },
  };
}
