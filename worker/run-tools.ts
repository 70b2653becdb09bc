import type { Step } from "../src/core/step.ts";
import type { Task } from "../src/core/task.ts";
import { chooseEncoder } from "../src/encoders/choose-encoder.ts";
import { createLightEncoder } from "../src/encoders/light.ts";
import { probeMedia } from "../src/probe/probe.ts";
import type { Env } from "./env.ts";
import { createInputs } from "./inputs.ts";
import { createSigner } from "./media/signer.ts";
import { outputStem } from "./output-name.ts";
import { createR2Storage } from "./r2-storage.ts";
import { numberSetting } from "./settings.ts";
import type { StepTools } from "./step-work.ts";

const MEDIA_TTL = 604_800;
const MAX_INPUT_SECONDS = 21_600;
const MAX_CHUNKS_IN_FLIGHT = 8;

/** Builds what the work of one run is done with, over the bindings of the Worker; its URLs begin with `base` and live as long as the output. */
export function createRunTools(env: Env, base: string, record: Task | Step): StepTools {
  const storage = createR2Storage(env.MEDIA);
  const signer = createSigner(env.MEDIA_SIGNING_KEY ?? "", () => Date.now());
  const light = createLightEncoder({ fetch: (url, init) => env.ENCODER.fetch(url, init) });
  // Counted from the creation, so that a repeated step gives the same URL.
  const expires = Math.floor(record.created_at / 1000) + numberSetting(env.MEDIA_TTL, MEDIA_TTL);
  const input = record.object === "task" ? record.input : (record.input?.url ?? "");
  return {
    storage,
    stem: outputStem(input),
    max_seconds: numberSetting(env.MAX_INPUT_SECONDS, MAX_INPUT_SECONDS),
    inputs: createInputs(env, storage, signer),
    encoders: { light, native: null },
    route(plan, source) {
      const chunk_seconds = plan.kind === "video" ? light.chunkSeconds(plan, source) : null;
      const { reason } = chooseEncoder([{ ...light, can: () => null }], plan, source);
      return { encoder: "light", way: "light", chunk_seconds, reason };
    },
    max_in_flight: numberSetting(env.MAX_CHUNKS_IN_FLIGHT, MAX_CHUNKS_IN_FLIGHT),
    remote: null,
    probe: (reader, given, signal, onWait) =>
      probeMedia(reader, given, (input, until) => light.probe(input, until, onWait), signal),
    url: (key) => signer.sign(key, expires, base),
    key: (url) => signer.resolve(url),
  };
}
