import type { Storage } from "../src/core/ports.ts";
import { type Inputs, openStored } from "../src/steps/inputs.ts";
import { createHostGuard } from "../src/storage/host-guard.ts";
import { openHttp } from "../src/storage/http-reader.ts";
import { storageReader } from "../src/storage/storage-reader.ts";
import type { OwnStorage } from "./connections/own-storage.ts";
import type { Env } from "./env.ts";
import type { Signer } from "./media/signer.ts";
import { createOutsideOf } from "./outside-of.ts";
import { numberSetting, readHostRules } from "./settings.ts";

// A source of the greatest size that is allowed, and the time to fetch it.
const MAX_INPUT_BYTES = 5e9;
const INGEST_SECONDS = 3600;

/** Builds the inputs of a run over its storage, the network and the caller's own storage, with the limits of the settings. */
export function createInputs(env: Env, storage: Storage, signer: Signer, own: OwnStorage): Inputs {
  const guard = createHostGuard(readHostRules(env));
  const outside = createOutsideOf(env);
  const max_bytes = numberSetting(env.MAX_INPUT_BYTES, MAX_INPUT_BYTES);
  const total_ms = numberSetting(env.INGEST_SECONDS, INGEST_SECONDS) * 1000;
  const timeouts = { total_ms, headers_ms: Math.min(20_000, total_ms), idle_ms: Math.min(30_000, total_ms) };
  return {
    async open(url, signal) {
      if (/^s3:/i.test(url)) {
        const file = await own.open(url, { signal, timeouts, max_bytes });
        return { reader: file.reader, mime: file.mime, file };
      }
      const key = await signer.resolve(url);
      if (key !== null) return openStored(storage, key, url, (stored) => storageReader(storage, stored));
      const file = await openHttp(url, {
        fetch: outside.fetch,
        guard,
        signal,
        timeouts,
        max_bytes,
      });
      return { reader: file.reader, mime: file.mime, file };
    },
  };
}
