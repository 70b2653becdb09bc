import type { ByteRange, Storage } from "../../src/runs/ports.ts";
import { type Inputs, type OpenInput, openStored } from "../../src/runs/steps/inputs.ts";
import type { ByteSource } from "../../src/storage/byte-source.ts";
import { createHostGuard } from "../../src/storage/http/host-guard.ts";
import { createHttpSource, type HttpFile, openHttp } from "../../src/storage/http/reader.ts";
import type { HttpOptions } from "../../src/storage/http/request.ts";
import { type Pin, pinnedFacts, pinOf } from "../../src/storage/pinned.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { createOwnStorage } from "../connections/own-storage.ts";
import { createOutsideOf, type Env, hostRules } from "../env.ts";
import { errors } from "../errors.ts";
import { requireQuota } from "../limits/quota.ts";
import type { Signer } from "../media/signer.ts";
import { patiently } from "../network/retry-object-call.ts";
import { createPageUploadsOf } from "../uploads/place-of.ts";

/** Whose inputs are read. */
export interface InputOwner {
  project: string;
  run_id: string;
  /** Base of the run's URLs. */
  base: string;
}

/** The inputs of a run. */
export interface RunInputs extends Inputs {
  /** Opens a range of a pinned input; reading rejects with `input_changed` when it has another version by now. */
  openPinned(pin: Pin, range: ByteRange, signal?: AbortSignal): Promise<ByteSource>;
}

// Where the bytes behind a URL are.
type Place = { stored: string } | { s3: string; connection_id: string | null } | { http: string };

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
  const own = createOwnStorage(env, project, run_id);
  const { MAX_INPUT_BYTES: maxBytes, INGEST_SECONDS } = env.settings;
  const totalMs = INGEST_SECONDS * 1000;
  const quota = async (bytes: number) =>
    requireQuota(await patiently(() => env.PROJECT.getByName(project).quota.takeFetched(bytes)));
  const limits = { maxBytes, admit: quota };
  const timeouts = { totalMs, headersMs: Math.min(20_000, totalMs), idleMs: Math.min(30_000, totalMs) };
  const httpOptions = (signal?: AbortSignal): HttpOptions => ({
    ...{ fetch: outside.fetch, guard, signal, timeouts, ...limits },
  });

  async function find(url: string): Promise<Place> {
    if (/^s3:/i.test(url)) return { s3: url, connection_id: null };
    const stored = await signer.resolve(url);
    if (stored !== null) return { stored };
    const upload = await uploads.find(project, url);
    if (upload?.key) return { stored: upload.key };
    if (upload?.output) return { s3: upload.output, connection_id: upload.connection_id };
    if (!url.startsWith(`${base}/uploads/`)) return { http: url };
    throw errors.uploadExpired();
  }

  const opened = (url: string, file: HttpFile): OpenInput => {
    return { reader: file.reader, mime: file.mime, file, pin: pinOf(url, file) };
  };

  return {
    async open(url, signal) {
      const place = await find(url);
      if ("stored" in place) {
        await quota(0);
        return openStored(storage, place.stored, url, (stored) => storageReader(storage, stored));
      }
      if ("http" in place) return opened(url, await openHttp(url, httpOptions(signal)));
      return opened(url, await own.open(place.s3, { signal, timeouts, ...limits }, place.connection_id));
    },
    async openPinned(pin, range, signal) {
      const place = await find(pin.url);
      if ("stored" in place) throw errors.storedFilePinned();
      const { url, options } =
        "http" in place
          ? { url: place.http, options: httpOptions(signal) }
          : await own.source(place.s3, { signal, timeouts, ...limits }, place.connection_id);
      return createHttpSource(pinnedFacts(pin, url), options, { range });
    },
  };
}
