import type { ChunkJob } from "../../encoders/encoder.ts";
import { MediaError } from "../../media/errors.ts";
import { cutPlan } from "../../media/index.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { Plan } from "../../media/plan.ts";
import { type ChosenRate, isMeasured } from "../../media/quality-search.ts";
import type { Decision } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { measureWhole } from "../../probe/probe.ts";
import type { ByteReader, WorkContext } from "../ports.ts";
import {
  type Decide,
  decideEncode,
  decidePart,
  type EncodeJob,
  encoderOf,
  type InputEncode,
} from "./decide-encode.ts";
import { createDecide, encodeInput } from "./encode.ts";
import * as errors from "./errors.ts";
import { createExtraIngest, mediaSeconds } from "./extra-inputs.ts";
import { runIngest } from "./inputs.ts";
import { measureQuality } from "./measure-quality.ts";
import { sourceKey } from "./media-keys.ts";
import { matchParts } from "./parts.ts";
import type { StepTools } from "./step-tools.ts";

/** An open input with a decided encode, parts of which can be encoded without a run. */
export interface Sample {
  readonly source: Source;
  readonly request: EncodeRequest;
  /** The uncut plan of the whole. */
  readonly plan: Plan;
  readonly decision: Decision;
  /** Random access to the input. */
  readonly reader: ByteReader;
  /** Chunks into which the pictures of the whole are cut. */
  readonly chunks: number;
  /** Chunks that the encoder encodes at once. */
  readonly at_once: number;
  /** Whether the task's own encoder encodes the sample; another encoder's files differ somewhat in size. */
  readonly exact: boolean;
  readonly signal: AbortSignal;
  /** Searches for the rates, once, if the quality or the ladder is `auto`; otherwise null. Rejects with the errors of the encodes. */
  search(): Promise<RateSearch | null>;
  /**
   * Encodes the whole, or another request for the same input, as the task would. The output lasts until the next call. Rejects with
   * the errors of the encode, and with the signal's reason.
   */
  encode(request?: EncodeRequest, changes?: SampleChanges): Promise<SampleOutput>;
}

/** The chosen rate of a sample, and the seconds that the search took. */
export interface RateSearch {
  rate: ChosenRate;
  seconds: number;
}

/** How a sample differs from what its request asks for. */
export interface SampleChanges {
  /** Changes the plan after the encode is decided. */
  plan?(plan: Plan): Plan;
  /** Changes the jobs of the encoder. */
  job?(job: ChunkJob): ChunkJob;
}

/** The output of an encode by a {@link Sample}. */
export interface SampleOutput {
  plan: Plan;
  /** Storage key of the file, or of the entry file among several. */
  key: string;
  files: number;
  /** Bytes of all files. */
  size: number;
  mime: string;
  /** Seconds that the encode took. */
  seconds: number;
  /** The measured score; null if the quality is not measured. */
  score: number | null;
  reader: ByteReader;
}

/** The input of a sample and the encode to sample. */
export interface SampleRequest {
  url: string;
  request: EncodeRequest;
  /** The input, if another sample has already opened and probed it. */
  input?: OpenedInput;
  /** Whether the host may draw the pictures without an encoder: if no encoder can do the work, only `encode` rejects, and not `openSample`. */
  drawable?: boolean;
}

/** An open input and its probe. */
export type OpenedInput = Pick<Sample, "reader" | "source">;

/** The id in a sample's storage keys. */
export const SAMPLE = "sample";

/**
 * Opens an input and decides its encode as a task would, without a record. `tools.storage` receives the encoded files, so it should be
 * in memory; the input is read in place and stays open until the signal aborts. Rejects with the errors of the probe, the extra inputs
 * and the decision.
 */
export async function openSample(
  tools: StepTools,
  { url, request, input, drawable = false }: SampleRequest,
  signal: AbortSignal,
): Promise<Sample> {
  const context = directContext(signal);
  const key = sourceKey(SAMPLE);
  const { reader, mime } = input ? { ...input, mime: null } : await openInput(tools, url, key, signal);
  const open = (name: string) => (name === key ? Promise.resolve(reader) : tools.open(name));
  const sampleTools: StepTools = { ...tools, open };
  const source = input?.source ?? (await probe());
  checkSeconds(source, tools.max_seconds);
  const extra = await createExtraIngest(sampleTools)(request, context);
  const copyJoin = await matchParts(open, { key, source, request, extra }, context);
  const hints = { extra, copyJoin };
  const { job, refusal } = await decideEncode(tools, source, request, hints).then(
    (decided) => ({ job: decided, refusal: null }),
    (thrown: unknown) => {
      const isRefused = thrown instanceof MediaError && thrown.kind === "encoder_unavailable";
      if (!drawable || !isRefused) throw thrown;
      return { job: decidePart({ decision: UNDECIDED }, source, request, hints), refusal: thrown };
    },
  );
  const encoder = tools.encoders.find(({ name }) => name === job.decision.encoder);
  const exact = encoder !== undefined || job.plan.chunks.length === 0;

  async function probe(): Promise<Source> {
    const facts = await tools.probe(reader, { url, ...(mime && { mime }) }, signal, () => {});
    return facts.duration_estimated ? measureWhole(facts, reader, signal) : facts;
  }

  const whole: InputEncode = {
    key,
    source,
    request,
    extra,
    decide: async () => job,
    id: SAMPLE,
    out: SAMPLE_FOLDER,
    name: tools.stem,
  };
  const search = createRateSearch(sampleTools, whole, context);
  return {
    source,
    request,
    plan: job.plan,
    decision: job.decision,
    reader,
    chunks: countChunks(job),
    at_once: encoder ? tools.inFlight(encoder) : 1,
    exact,
    signal,
    search: async () => (isMeasured(request.options) ? search() : null),
    encode: createSampleEncode({ tools: sampleTools, whole, job, exact, refusal, search, context, signal }),
  };
}

/** Creates the context of work without a record: nothing is remembered or reported. */
function directContext(signal: AbortSignal): WorkContext {
  return {
    run_id: SAMPLE,
    progress: async () => {},
    reportChoice: async () => {},
    async durably(_, work) {
      signal.throwIfAborted();
      return work(signal);
    },
  };
}

/** Creates a function that searches for the rates of an encode on its first call, and returns the same result on later ones. */
function createRateSearch(
  tools: StepTools,
  encode: InputEncode,
  context: WorkContext,
): () => Promise<RateSearch | null> {
  let rateSearch: Promise<RateSearch | null> | undefined;

  async function search(): Promise<RateSearch | null> {
    const start = performance.now();
    const rate = await measureQuality({ tools, encode, encodeInput, createDecide }, context);
    return rate && { rate, seconds: (performance.now() - start) / 1000 };
  }

  return () => {
    rateSearch ??= search();
    return rateSearch;
  };
}

interface SampleEncode {
  tools: StepTools;
  whole: InputEncode;
  job: EncodeJob;
  exact: boolean;
  /** Why no encoder can do the work; null when one can. */
  refusal: MediaError | null;
  search(): Promise<RateSearch | null>;
  context: WorkContext;
  signal: AbortSignal;
}

function createSampleEncode(sample: SampleEncode): Sample["encode"] {
  const { tools, whole, job, exact, refusal, search, context, signal } = sample;
  const { storage } = tools;

  /** Decides the encode of a part of the sample, or of the whole with a changed plan. */
  function createPartDecide(part: EncodeRequest, changes: SampleChanges): Decide {
    return async (source, request, hints) => {
      if (part === whole.request && exact && !changes.plan) return job;
      const { plan, decision } = decidePart(job, source, request, hints);
      const trial = { plan: changes.plan?.(plan) ?? plan, decision };
      if (exact) return trial;
      const other = encoderOf(tools.encoders, trial.decision.encoder);
      const reason = other.refuse(trial.plan, source);
      if (reason) throw errors.notSampled({ refusal: { ...reason, encoder: other.name } });
      return trial;
    };
  }

  return async (part = whole.request, changes = {}) => {
    signal.throwIfAborted();
    if (refusal) throw refusal;
    await storage.clear(SAMPLE_FOLDER);
    const { job: changeJob } = changes;
    const encoders = changeJob
      ? tools.encoders.map((each) => ({ ...each, encode: (work: ChunkJob) => each.encode(changeJob(work)) }))
      : tools.encoders;
    const rate = isMeasured(part.options) ? ((await search())?.rate ?? null) : null;
    const decide = createPartDecide(part, changes);
    const start = performance.now();
    const { plan, encoded: file } = await encodeInput(
      { ...tools, encoders },
      { ...whole, request: part, decide, ...(rate && { measured: rate }) },
      context,
    );
    signal.throwIfAborted();
    const info = await storage.head(file.key);
    return {
      plan,
      key: file.key,
      files: file.files,
      size: file.size,
      mime: info?.mime ?? "application/octet-stream",
      seconds: (performance.now() - start) / 1000,
      score: rate?.score ?? null,
      reader: await tools.open(file.key),
    };
  };
}

function countChunks({ plan, decision: { chunk_seconds } }: EncodeJob): number {
  const { chunks } = chunk_seconds === null ? plan : cutPlan(plan, { chunk_seconds });
  return Math.max(1, chunks.filter(({ track }) => track !== "audio").length);
}

const UNDECIDED: Decision = {
  encoder: "",
  chunk_seconds: null,
  seconds: null,
  reason: { code: "copied" },
  refusals: [],
};

/** Key prefix of a sample's files. */
export const SAMPLE_FOLDER = `out/${SAMPLE}/`;

async function openInput(tools: StepTools, url: string, key: string, signal: AbortSignal) {
  const { file, reader, mime } = await tools.inputs.open(url, signal);
  if (reader) {
    signal.addEventListener("abort", () => void file.close().catch(() => {}), { once: true });
    return { reader, mime };
  }
  await tools.ensureRoom?.(file.size ?? 0);
  await runIngest({ open: async () => file, storage: tools.storage, key, signal });
  return { reader: await tools.open(key), mime };
}

function checkSeconds(source: Source, maxSeconds: number): void {
  const seconds = mediaSeconds(source);
  if (seconds > maxSeconds) throw errors.inputTooLong({ seconds, maxSeconds });
}
