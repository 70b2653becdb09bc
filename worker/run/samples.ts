import { createLightEncoder } from "../../src/encoders/light/light.ts";
import { createNativeEncoder } from "../../src/encoders/native/native.ts";
import type { EncodeRequest } from "../../src/media/options.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import type { OutputEstimate } from "../../src/runs/samples.ts";
import { estimateOutput } from "../../src/runs/steps/estimate.ts";
import { previewOutput } from "../../src/runs/steps/preview.ts";
import { openSample, SAMPLE } from "../../src/runs/steps/sample.ts";
import type { StepTools } from "../../src/runs/steps/step-tools.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { MIB, toBase64 } from "../../src/util/bytes.ts";
import type { Env } from "../env.ts";
import * as errors from "../errors.ts";
import { createScriptFonts } from "../media/script-fonts.ts";
import { createSigner } from "../media/signed-urls.ts";
import type { Estimates, Previews, SampleOwner } from "../services.ts";
import { createNatives, createOffers, NATIVE_CORES } from "./encoders.ts";
import { createInputs, createPinnedMedia } from "./storage.ts";

const ENOUGH_MS = 20_000;
const LIMIT_MS = 28_000;

/** Creates {@link Estimates}, which sample on the light encoder during the request and store nothing. */
export function createEstimates(env: Env): Estimates {
  return async (owner, { input, kind, options }, signal) => {
    const late = AbortSignal.timeout(LIMIT_MS);
    const ended = new AbortController();
    const start = Date.now();
    let last: OutputEstimate | null = null;
    try {
      const sample = await openSample(
        createTools(env, owner),
        { url: input, request: { kind, options } as EncodeRequest },
        AbortSignal.any([signal, late, ended.signal]),
      );
      for await (const estimate of estimateOutput(sample)) {
        last = estimate;
        if (Date.now() - start > ENOUGH_MS) break;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (!late.aborted) throw thrown;
    } finally {
      ended.abort();
    }
    if (last) return last;
    throw errors.sampleTimeout({ seconds: LIMIT_MS / 1000 });
  };
}

/** Creates {@link Previews}, which use the light encoder during the request and store nothing. */
export function createPreviews(env: Env): Previews {
  return async (owner, { input, kind, options, at }, signal) => {
    const late = AbortSignal.timeout(LIMIT_MS);
    const ended = new AbortController();
    try {
      const request = { kind, options } as EncodeRequest;
      const parts = previewOutput(
        { createTools: () => createTools(env, owner) },
        { url: input, request, at: at ?? undefined },
        AbortSignal.any([signal, late, ended.signal]),
      );
      let next = await parts.next();
      while (!next.done) next = await parts.next();
      const { original, output, ...facts } = next.value;
      const bytes = original.size + output.size;
      if (bytes > MAX_PREVIEW) throw errors.previewTooLarge({ bytes, max_bytes: MAX_PREVIEW });
      return { original: await dataUrl(original), output: await dataUrl(output), ...facts };
    } catch (thrown) {
      signal.throwIfAborted();
      throw late.aborted ? errors.sampleTimeout({ seconds: LIMIT_MS / 1000 }) : thrown;
    } finally {
      ended.abort();
    }
  };
}

// An isolate has 128 MB, and building the response copies the files several times.
const MAX_PREVIEW = 12 * MIB;

async function dataUrl(file: Blob): Promise<string> {
  return `data:${file.type};base64,${toBase64(new Uint8Array(await file.arrayBuffer()))}`;
}

function createTools(env: Env, { project, base }: SampleOwner): StepTools {
  const { settings } = env;
  const signer = createSigner(settings.MEDIA_SIGNING_KEY, () => Date.now());
  const media = createPinnedMedia(env, signer);
  const memory = createMemoryStorage({ maxBytes: MAX_STORED });
  const light = createLightEncoder({ fetch: (url, init) => env.ENCODER.fetch(url, init) });
  const { instances, max_in_flight } = createNatives(env, base);
  const native = createNativeEncoder({ instances, token: settings.NATIVE_ENCODER_TOKEN, lane: project });
  return {
    storage: memory,
    stem: "output",
    max_seconds: settings.MAX_INPUT_SECONDS,
    inputs: createInputs(env, { project, run_id: SAMPLE, base }, media, signer),
    // The native encoder reads and writes stored files, which a sample does not have.
    encoders: [light],
    offers: createOffers({ light, native, instances: instances.length, cores: NATIVE_CORES, max_in_flight }),
    inFlight: () => 1,
    async ensureRoom(bytes) {
      if (bytes === 0 || bytes > MAX_COPY) throw errors.sampleNeedsRanges({ max_bytes: MAX_COPY });
    },
    open: (key) => storageReader(memory, key),
    remote: null,
    probe: (reader, hints, signal, onWait) =>
      probeMedia(reader, hints, (input, until) => light.probe(input, until, onWait), signal),
    font: async () => (await import("../media/burn-font.ts")).loadBurnFont(),
    scriptFonts: createScriptFonts(env),
    url: async (key) => key,
    key: async () => null,
  };
}

// An input whose server supports no ranges is copied into memory.
const MAX_COPY = 32 * MIB;
// An isolate has 128 MB, and a file is held twice while it is stored.
const MAX_STORED = 48 * MIB;
