import { MediaError } from "../../src/core/errors.ts";
import type { Storage } from "../../src/core/ports.ts";
import { type Inputs, openStored } from "../../src/steps/inputs.ts";
import { createHostGuard } from "../../src/storage/http/host-guard.ts";
import { openHttp } from "../../src/storage/http/http-reader.ts";
import { storageReader } from "../../src/storage/storage-reader.ts";
import type { OwnStorage } from "../connections/own-storage.ts";
import type { Env } from "../env.ts";
import type { Signer } from "../media/signer.ts";
import { createOutsideOf, hostRules } from "../network/outside-of.ts";
import { createPageUploadsOf } from "../uploads/place-of.ts";

/** Creates the inputs of a run from its storage, the network and the caller's own storage, within the limits of the settings. */
export function createInputs(
  env: Env,
  { project, base }: { project: string; base: string },
  storage: Storage,
  signer: Signer,
  own: OwnStorage,
): Inputs {
  const guard = createHostGuard(hostRules(env));
  const outside = createOutsideOf(env);
  const uploads = createPageUploadsOf(env);
  const { MAX_INPUT_BYTES: maxBytes, INGEST_SECONDS } = env.settings;
  const totalMs = INGEST_SECONDS * 1000;
  const timeouts = { totalMs, headersMs: Math.min(20_000, totalMs), idleMs: Math.min(30_000, totalMs) };
  return {
    async open(url, signal) {
      if (/^s3:/i.test(url)) {
        const file = await own.open(url, { signal, timeouts, maxBytes });
        return { reader: file.reader, mime: file.mime, file };
      }
      const key = await signer.resolve(url);
      if (key !== null) return openStored(storage, key, url, (stored) => storageReader(storage, stored));
      const upload = await uploads.find(project, url);
      if (upload?.key)
        return openStored(storage, upload.key, url, (stored) => storageReader(storage, stored));
      if (upload?.output) {
        const file = await own.open(upload.output, { signal, timeouts, maxBytes }, upload.connection_id);
        return { reader: file.reader, mime: file.mime, file };
      }
      if (url.startsWith(`${base}/uploads/`))
        throw new MediaError(
          "input_not_found",
          "There is no such upload any more; they are kept for a limited time.",
        );
      const file = await openHttp(url, {
        fetch: outside.fetch,
        guard,
        signal,
        timeouts,
        maxBytes,
      });
      return { reader: file.reader, mime: file.mime, file };
    },
  };
}
