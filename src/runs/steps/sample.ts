import type { ChunkJob } from "../../encoders/encoder.ts";
import type { PlanHints } from "../../media/create-plan.ts";
import { MediaError } from "../../media/errors.ts";
import { cutPlan } from "../../media/index.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { Plan } from "../../media/plan.ts";
import { type ChosenRate, isMeasured } from "../../media/quality-search.ts";
import type { Decision } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { measureWhole } from "../../probe/probe.ts";
import type { ByteReader, WorkContext } from "../ports.ts";
import { decideEncode, decidePart, type EncodeJob, encoderOf } from "./decide-encode.ts";
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
  const { storage } = tools;
  const context: WorkContext = {
    run_id: SAMPLE,
    progress: async () => {},
    reportChoice: async () => {},
    async durably(_, work) {
      signal.throwIfAborted();
      return work(signal);
    },
  };
  const key = sourceKey(SAMPLE);
  const { reader, mime } = input ? { ...input, mime: null } : await openInput(tools, url, key, signal);
  const open = (name: string) => (name === key ? Promise.resolve(reader) : tools.open(name));
  const sampleTools: StepTools = { ...tools, open };
  const source = input?.source ?? (await probe());
  checkSeconds(source, tools.max_seconds);
  const extra = await createExtraIngest(sampleTools)(request, context);
  const copyJoin = await matchParts(open, { key, source, request, extra }, context);
  const hints = { extra, copyJoin };
  let refusal: MediaError | null = null;
  const job = await decideEncode(tools, source, request, hints).catch((thrown): EncodeJob => {
    if (!drawable || !(thrown instanceof MediaError) || thrown.kind !== "encoder_unavailable") throw thrown;
    refusal = thrown;
    return decidePart({ decision: UNDECIDED }, source, request, hints);
  });
  const encoder = tools.encoders.find(({ name }) => name === job.decision.encoder);
  const exact = encoder !== undefined || job.plan.chunks.length === 0;

  async function probe(): Promise<Source> {
    const facts = await tools.probe(reader, { url, ...(mime && { mime }) }, signal, () => {});
    return facts.duration_estimated ? measureWhole(facts, reader, signal) : facts;
  }

  const whole = {
    key,
    source,
    request,
    extra,
    decide: async () => job,
    id: SAMPLE,
    out: SAMPLE_FOLDER,
    name: tools.stem,
  };
  let rateSearch: Promise<RateSearch | null> | undefined;

  function search(): Promise<RateSearch | null> {
    rateSearch ??= searchOnce();
    return rateSearch;
  }

  async function searchOnce(): Promise<RateSearch | null> {
    const start = performance.now();
    const measurement = { tools: sampleTools, encode: whole, encodeInput, createDecide };
    const rate = await measureQuality(measurement, context);
    return rate && { rate, seconds: (performance.now() - start) / 1000 };
  }

  async function encode(part: EncodeRequest = request, changes: SampleChanges = {}): Promise<SampleOutput> {
    signal.throwIfAborted();
    if (refusal) throw refusal;
    await storage.clear(SAMPLE_FOLDER);
    const decide = async (_: Source, own: EncodeRequest, hints: PlanHints) => {
      if (part === request && exact && !changes.plan) return job;
      const { plan, decision } = decidePart(job, source, own, hints);
      const trial = { plan: changes.plan?.(plan) ?? plan, decision };
      if (exact) return trial;
      const other = encoderOf(tools.encoders, trial.decision.encoder);
      const reason = other.refuse(trial.plan, source);
      if (reason) throw errors.notSampled({ refusal: { ...reason, encoder: other.name } });
      return trial;
    };
    const { job: changeJob } = changes;
    const encoders = changeJob
      ? tools.encoders.map((each) => ({ ...each, encode: (work: ChunkJob) => each.encode(changeJob(work)) }))
      : tools.encoders;
    const rate = isMeasured(part.options) ? ((await search())?.rate ?? null) : null;
    const start = performance.now();
    const { plan, encoded: file } = await encodeInput(
      { ...sampleTools, encoders },
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
  }

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
    encode,
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
