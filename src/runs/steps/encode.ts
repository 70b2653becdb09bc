import { runEncode } from "../../encoders/run/run-encode.ts";
import type { PlanHints } from "../../media/create-plan.ts";
import { MediaError } from "../../media/errors.ts";
import { encodedChunks, PLAN_VERSION, type Plan } from "../../media/plan.ts";
import { isMeasured } from "../../media/quality-search.ts";
import { bytesBesidePictures } from "../../media/rates.ts";
import type { Source } from "../../media/source.ts";
import { describeDecision } from "../../media/words.ts";
import * as storageErrors from "../../storage/errors.ts";
import type { Storage, WorkContext } from "../ports.ts";
import {
  type Decide,
  decideEncode,
  type EncodedInput,
  type EncodeJob,
  encoderOf,
  type InputEncode,
  placeCuts,
  placePlan,
} from "./decide-encode.ts";
import * as errors from "./errors.ts";
import { measureQuality, withRate } from "./measure-quality.ts";
import { extraInputKey, runFolder } from "./media-keys.ts";
import { findSplice, matchParts } from "./parts.ts";
import type { StepTools } from "./step-tools.ts";
import { extraFileKeys } from "./text-scripts.ts";

/** One attempt to encode a video within `target_size`. */
interface SizeTrial {
  /** Number of the trial, from 1. */
  number: number;
  /** Whether the source is encoded although it could be copied. */
  encodes: boolean;
  /** Names of the encoders that missed the size. */
  missed: readonly string[];
  /** Bits per second; null for the plan's own. */
  bitrate: number | null;
  /** Earlier encodes by the same encoder. */
  before: number;
}

const FIRST_TRIAL: SizeTrial = { number: 1, encodes: false, missed: [], bitrate: null, before: 0 };

interface Tried {
  plan: Plan;
  choice: { encoder: string };
  source: Source;
  /** Bytes of the file. */
  size: number;
  /** Maximum bytes. */
  limit: number;
}

// Hardware encoders and OpenH264 may miss repeatedly, whatever the correction; ffmpeg's encoders do not.
const MAX_TRIALS: Readonly<Record<string, number>> = { webcodecs: 2 };
const USUAL_TRIALS = 3;
const AIM = 0.985;
const LEAST_BITRATE = 1000;

/** Returns the next trial after one that exceeded the limit; null when there is none. */
function nextSizeTrial(trial: SizeTrial, { plan, choice, source, size, limit }: Tried): SizeTrial | null {
  const { video } = plan;
  const next = { ...trial, number: trial.number + 1 };
  if (video?.mode !== "encode") return trial.encodes ? null : { ...next, encodes: true };
  if (!("bitrate" in video.rate)) return null;
  const rest = bytesBesidePictures(plan, source);
  const bitrate = Math.floor((video.rate.bitrate * (AIM * limit - rest)) / Math.max(1, size - rest));
  const before = trial.before + 1;
  const { encoder } = choice;
  if (before < (MAX_TRIALS[encoder] ?? USUAL_TRIALS) && bitrate >= LEAST_BITRATE)
    return { ...next, bitrate, before };
  if (!(encoder in MAX_TRIALS)) return null;
  return { ...next, missed: [...trial.missed, encoder], bitrate: null, before: 0 };
}

/** Returns a plan with another video bitrate; null keeps the plan's own. */
function withBitrate(plan: Plan, bitrate: number | null): Plan {
  const { video } = plan;
  return bitrate === null || video?.mode !== "encode"
    ? plan
    : { ...plan, video: { ...video, rate: { bitrate } } };
}

/** Creates the {@link Decide} of a run. */
export function createDecide(tools: StepTools): Decide {
  // A Workflow numbers steps of the same name, so a second durable call would decide again.
  const jobs = new Map<string, Promise<EncodeJob>>();
  return (source, request, hints, context, missed = []) => {
    const again = hints.encodes || missed.length > 0 ? [{ encodes: hints.encodes, missed }] : [];
    const splice = hints.splice ? [hints.splice] : [];
    const facts = [planFacts(source), request.kind, request.options, ...again, ...splice];
    const name = `decide ${PLAN_VERSION} ${fingerprint(facts)}`;
    const job =
      jobs.get(name) ??
      context.durably(name, async () =>
        decideEncode(tools, source, request, hints, await tools.shared?.siblings?.(), missed),
      );
    jobs.set(name, job);
    return job;
  };
}

function planFacts({ url: _, etag: __, mime: ___, ...facts }: Source): object {
  return facts;
}

/**
 * Decides, cuts and runs an encode in durable pieces, and reports the chosen encoder; measures the quality or the ladder first if it is
 * `auto`.
 */
export async function encodeInput(
  tools: StepTools,
  encode: InputEncode,
  context: WorkContext,
): Promise<EncodedInput> {
  if (!isMeasured(encode.request.options)) return encodeSized(tools, encode, context);
  const measured =
    encode.measured ?? (await measureQuality({ tools, encode, encodeInput, createDecide }, context));
  if (!measured) return encodeSized(tools, encode, context);
  const decide: Decide = async (...facts) => {
    const job = await encode.decide(...facts);
    return { ...job, plan: withRate(job.plan, measured) };
  };
  return { ...(await encodeSized(tools, { ...encode, decide }, context)), measured };
}

/** Encodes an input again while it exceeds `target_size`. */
async function encodeSized(
  tools: StepTools,
  encode: InputEncode,
  context: WorkContext,
): Promise<EncodedInput> {
  const { options } = encode.request;
  const limit = "target_size" in options ? options.target_size : undefined;
  if (limit === undefined) return encodeOnce(tools, encode, context, FIRST_TRIAL);
  let leastBytes = Number.POSITIVE_INFINITY;
  for (let trial: SizeTrial | null = FIRST_TRIAL; trial; ) {
    const progress = shareOf(trial, context.progress);
    const tried = await encodeOnce(tools, encode, { ...context, progress }, trial).catch((thrown) => {
      const isRefused = thrown instanceof MediaError && thrown.kind === "encoder_unavailable";
      throw isRefused && leastBytes < Number.POSITIVE_INFINITY
        ? errors.targetSizeMissed({ bytes: limit, leastBytes })
        : thrown;
    });
    const { size } = tried.encoded;
    if (size <= limit) {
      await context.progress(100);
      return tried;
    }
    leastBytes = Math.min(leastBytes, size);
    trial = nextSizeTrial(trial, { ...tried, source: encode.source, size, limit });
  }
  throw errors.targetSizeMissed({ bytes: limit, leastBytes });
}

function shareOf({ number }: SizeTrial, progress: WorkContext["progress"]): WorkContext["progress"] {
  const share = LATER_SHARE ** (number - 1);
  return async (percent) =>
    progress(percent === null ? null : Math.floor(100 * (1 - share) + percent * share * (1 - LATER_SHARE)));
}

// Progress must not fall when a trial repeats the work.
const LATER_SHARE = 0.2;

async function encodeOnce(tools: StepTools, encode: InputEncode, runContext: WorkContext, trial: SizeTrial) {
  const { key, source, request, out, name } = encode;
  const { storage, remote } = tools;
  const again = trial.number > 1 ? `-${trial.number}` : "";
  // A run that resumes under another plan version decides again, and chunks of the earlier plan would not fit.
  const id = `${encode.id}-${PLAN_VERSION}${again}`;
  const context: WorkContext = {
    ...runContext,
    durably: (piece, work) => runContext.durably(`${piece} ${PLAN_VERSION}${again}`, work),
  };
  const { job, splice } = await decideTrial(tools, encode, { runContext, context }, trial);
  const chunks = await context.durably("cut", (signal) =>
    placeCuts(tools, source, job, () => tools.open(key), signal),
  );
  const plan = placePlan(job.plan, chunks);
  const content_key = plan.encryption && ((await tools.contentKey?.()) ?? undefined);
  if (plan.encryption && !content_key) throw errors.encryptionKeyLost();
  const { decision } = job;
  const encoder = encoderOf(tools.encoders, decision.encoder);
  const { refusals, together: size } = decision;
  const batch = size && tools.shared && trial.number === 1 && { id: tools.shared.id, size };
  const hasEncodes = encodedChunks({ chunks }).length > 0;
  const choice = {
    encoder: hasEncodes ? encoder.name : decision.encoder,
    reason: describeDecision(decision),
    ...(refusals.length > 0 && { refusals }),
  };
  await context.reportChoice(choice);
  const extraKeys = await extraFileKeys(tools, { plan, source, request, work: encode.work }, context);
  if (hasEncodes) await tools.turn?.(encoder);
  const encoded = await runEncode({
    plan,
    source,
    encoder,
    storage,
    content_key,
    id,
    out,
    name,
    ...(batch && { batch }),
    max_in_flight: tools.inFlight(encoder),
    input: () => tools.open(key),
    extra: () => Promise.all(extraKeys.map(tools.open)),
    text: (file) => tools.open(extraInputKey(context.run_id, file)),
    ...(remote && {
      remote: {
        input: () => remoteFile(storage, remote, key),
        extra: () => Promise.all(extraKeys.map((extra) => remoteFile(storage, remote, extra))),
        folder: remote.folder,
      },
    }),
    work: `${runFolder("work", context.run_id)}chunks/`,
    durably: context.durably,
    progress: context.progress,
  });
  return { plan, choice, encoded, ...(splice && "fault" in splice && { fallback: splice }) };
}

/** Decides the encode of a trial: what is copied or spliced, the encoder, and the trial's bitrate. */
async function decideTrial(
  tools: StepTools,
  encode: InputEncode,
  { runContext, context }: { runContext: WorkContext; context: WorkContext },
  { encodes, missed, bitrate }: SizeTrial,
): Promise<{ job: EncodeJob; splice: PlanHints["splice"] }> {
  const { source, request, extra, decide } = encode;
  const open = (stored: string) => tools.open(stored);
  const copyJoin = await matchParts(open, encode, context);
  const candidate = await findSplice(open, encode, context);
  const hints = { extra, copyJoin, splice: candidate, ...(encodes && { encodes }) };
  const { splice, ...decided } = await decideSplice(hints, tools.delegates === true, (each) =>
    decide(source, request, each, runContext, missed),
  );
  return { job: { ...decided, plan: withBitrate(decided.plan, bitrate) }, splice };
}

/** Returns the URL of a stored file, and the facts by which a remote encoder checks it. */
async function remoteFile(storage: Storage, remote: NonNullable<StepTools["remote"]>, key: string) {
  const info = await storage.head(key);
  if (!info) throw storageErrors.objectNotFound({ key });
  return { url: await remote.url(key), size: info.size, etag: info.etag };
}

/** Decides an encode. If no encoder accepts the pieces of a smart cut, encodes the whole video, unless another host gets the run. */
async function decideSplice(
  hints: PlanHints,
  delegates: boolean,
  decide: (hints: PlanHints) => Promise<EncodeJob>,
): Promise<EncodeJob & Pick<PlanHints, "splice">> {
  const { splice } = hints;
  try {
    return { ...(await decide(hints)), splice };
  } catch (thrown) {
    if (!isRefusal(thrown) || !splice || "fault" in splice || delegates) throw thrown;
    const whole: PlanHints["splice"] = { fault: "no_encoder" };
    const decided = await decide({ ...hints, splice: whole }).catch((other: unknown) => {
      throw isRefusal(other) ? thrown : other;
    });
    return { ...decided, splice: whole };
  }
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof MediaError && thrown.kind === "encoder_unavailable";
}

/** Returns a 53-bit hash of plain data as text; equal data in the same key order has the same hash. Not for secrets. */
function fingerprint(data: object): string {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (const letter of JSON.stringify(data)) {
    const code = letter.codePointAt(0) ?? 0;
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (4294967296 * (2097151 & two) + (one >>> 0)).toString(36);
}
