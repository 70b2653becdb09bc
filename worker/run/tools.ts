import { createLightEncoder } from "../../src/encoders/light/light.ts";
import { createNativeEncoder } from "../../src/encoders/native/native.ts";
import { importContentKey } from "../../src/encoders/run/encrypt-segments.ts";
import { parseBlock } from "../../src/media/features/encryption.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import type { Step } from "../../src/runs/step.ts";
import type { SharedInput } from "../../src/runs/steps/inputs.ts";
import type { StepTools } from "../../src/runs/steps/step-tools.ts";
import { destinationOf, outputStem } from "../../src/runs/steps/upload.ts";
import type { Task } from "../../src/runs/task.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { parseS3Url } from "../../src/storage/s3/s3-connection.ts";
import { createSealOf, openKey } from "../connections/seal.ts";
import type { Env } from "../env.ts";
import { createScriptFonts } from "../media/script-fonts.ts";
import { createSigner } from "../media/signed-urls.ts";
import { patiently } from "../network/durable-objects.ts";
import { createNatives, createOffers, NATIVE_CORES } from "./encoders.ts";
import { outputExpires } from "./schedule.ts";
import { createInputs, createOwnStorage, createPinnedMedia } from "./storage.ts";

// The light encoder does one job at a time, and the bytes pass through this Worker's memory.
const LIGHT_IN_FLIGHT = 1;
const WRITE_SECONDS = 12 * 3600;

/** The input of a run's workflow. */
export interface RunBegin {
  project: string;
  /** Base of the run's URLs. */
  base: string;
  record: Task | Step;
  /** The run's sealed encryption key; null for none. */
  sealed_key: string | null;
}

/**
 * Creates the tools of one run from the Worker's bindings. Its URLs are valid until the output expires. `heavyTurn` waits until the
 * run may use a native encoder.
 */
export function createRunTools(
  env: Env,
  { project, base, record, sealed_key }: RunBegin,
  heavyTurn: () => Promise<void>,
): StepTools {
  const { settings } = env;
  const signer = createSigner(settings.MEDIA_SIGNING_KEY, () => Date.now());
  const storage = createPinnedMedia(env, signer);
  const awaySeconds = settings.ENCODER_AWAY_SECONDS;
  const light = createLightEncoder({
    fetch: (url, init) => env.ENCODER.fetch(url, init),
    limits: { awaySeconds },
  });
  const { instances, base: native_base, max_in_flight } = createNatives(env, base);
  const native = createNativeEncoder({
    instances,
    token: settings.NATIVE_ENCODER_TOKEN,
    lane: project,
    timeouts: { awayMs: awaySeconds * 1000 },
  });
  const expires = outputExpires(record, settings.MEDIA_TTL);
  const ownStorage = createOwnStorage(env, project, record.id);
  const target = destinationOf(record);
  const destination = target && parseS3Url(target.url);
  const shared = record.object === "task" ? createSharedInput(env, record) : null;
  const input = record.object === "task" ? record.input : (record.input?.url ?? "");
  return {
    storage,
    stem: outputStem(input),
    async contentKey() {
      const key = sealed_key && (await openKey(createSealOf(env), sealed_key, record.id));
      return key ? importContentKey(parseBlock(key)) : null;
    },
    max_seconds: settings.MAX_INPUT_SECONDS,
    inputs: createInputs(env, { project, run_id: record.id, base }, storage, signer),
    shared,
    pin: (pin) =>
      patiently(() => (shared ? env.JOB.getByName(shared.id) : env.TASK.getByName(record.id)).pin.set(pin)),
    destination: destination && { key: destination.key, open: () => ownStorage.bucket(destination.bucket) },
    encoders: instances.length > 0 ? [light, native] : [light],
    offers: createOffers({ light, native, instances: instances.length, cores: NATIVE_CORES, max_in_flight }),
    inFlight: (encoder) => (encoder === light ? LIGHT_IN_FLIGHT : max_in_flight),
    async turn(encoder) {
      if (encoder === native) await heavyTurn();
    },
    open: (key) => storageReader(storage, key),
    remote:
      instances.length > 0
        ? {
            url: (key) => signer.sign(key, expires, native_base),
            folder: (prefix) => signer.signFolder(prefix, Date.now() / 1000 + WRITE_SECONDS, native_base),
          }
        : null,
    probe: (reader, hints, signal, onWait) =>
      probeMedia(reader, hints, (input, until) => light.probe(input, until, onWait), signal),
    font: async () => (await import("../media/burn-font.ts")).loadBurnFont(),
    scriptFonts: createScriptFonts(env),
    url: (key) => signer.sign(key, expires, base),
    key: (url) => signer.resolve(url),
  };
}

const WAIT_MS = 5000;
const BEAT_MS = 8000;

/** Returns the input that a task shares with its job's other tasks; null when it has its own. */
function createSharedInput(env: Env, { id, job }: Task): SharedInput | null {
  if (!job || job.after !== undefined) return null;
  const object = () => env.JOB.getByName(job.id);
  const lead = (ms: number) => object().lead.take(id, ms);
  return {
    id: job.id,
    async withLock(work, signal, onWait) {
      while (!(await patiently(() => lead(WAIT_MS)))) {
        signal.throwIfAborted();
        await onWait();
      }
      const beat = setInterval(() => void lead(0).catch(() => {}), BEAT_MS);
      try {
        return await work(await patiently(() => object().known.get()));
      } finally {
        clearInterval(beat);
        await object()
          .lead.leave(id)
          .catch(() => {});
      }
    },
    siblings: () => patiently(() => object().known.beside(id)),
    saveSource: (source) => patiently(() => object().known.keep(source)),
  };
}
