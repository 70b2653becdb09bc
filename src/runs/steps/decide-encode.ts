import type { Encoder } from "../../encoders/encoder.ts";
import type { EncodeResult } from "../../encoders/run/encoding.ts";
import { containerOf, isIsobmff } from "../../media/containers.ts";
import type { PlanHints } from "../../media/create-plan.ts";
import { MediaError } from "../../media/errors.ts";
import { extraInputs } from "../../media/extra-inputs.ts";
import type { SpliceRefusal } from "../../media/features/splice-plan.ts";
import { keyframesSuffice } from "../../media/features/storyboard.ts";
import { type Chunk, createPlan, cutPlan, type Plan } from "../../media/index.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { encodedChunks, encodedPart, isSpliced, sourceEnd } from "../../media/plan.ts";
import type { ChosenRate } from "../../media/quality-search.ts";
import type { Decision, EncoderChoice } from "../../media/refusal.ts";
import { decide, decideWithSiblings, type Offer } from "../../media/route.ts";
import type { Source } from "../../media/source.ts";
import { describeRefusals } from "../../media/words.ts";
import { type Finder, hasEntries, readKeyframes, withEntries } from "../../probe/entries.ts";
import type { ByteReader, WorkContext } from "../ports.ts";

/** The encoders of a host. */
export interface Hosts {
  /** The encoders, at least one. A run whose encoder no longer exists continues with the first. */
  encoders: readonly Encoder[];
  /**
   * Returns each encoder's offer for an uncut plan, in the host's order of preference; encoders in `missed` refuse, because they exceeded
   * its `target_size`. Never rejects.
   */
  offers(plan: Plan, source: Source, missed?: readonly string[]): Promise<readonly Offer[]>;
}

/** A decided encode: the uncut plan and its encoder. Plain data, created once per run and stored with it. */
export interface EncodeJob {
  plan: Plan;
  decision: Decision;
}

/** An encode of an input that is already in storage. */
export interface InputEncode {
  /** Storage key of the input. */
  key: string;
  source: Source;
  request: EncodeRequest;
  /** The extra inputs as probed. */
  extra: readonly Source[];
  decide: Decide;
  /** Id of the encode, the same after a restart. */
  id: string;
  /** Key prefix of the output, ending in a slash. */
  out: string;
  /** Name of the output, without an extension. */
  name: string;
  /** Key prefix of the files of drawn subtitles and texts, ending in a slash; by default the run's work folder. */
  work?: string;
  /** The measured rate of an encode whose quality is `auto`, if it is already known. */
  measured?: ChosenRate;
}

/** Decides how to encode a source. Equal facts get the same plan, also after a restart of the run. */
export type Decide = (
  source: Source,
  request: EncodeRequest,
  hints: PlanHints,
  context: WorkContext,
  missed?: readonly string[],
) => Promise<EncodeJob>;

/** An encoded input; `measured` is present if its quality was measured. */
export interface EncodedInput {
  plan: Plan;
  choice: EncoderChoice;
  encoded: EncodeResult;
  measured?: ChosenRate;
  /** The reason that a smart cut copies nothing; absent otherwise. */
  fallback?: SpliceRefusal;
}

/**
 * Decides how to encode a request; `siblings` are the job's other requests for the same source. Rejects with the errors of
 * `createPlan`, and with `encoder_unavailable` when no encoder can do it.
 */
export async function decideEncode(
  hosts: Hosts,
  source: Source,
  request: EncodeRequest,
  hints: PlanHints,
  siblings: readonly EncodeRequest[] = [],
  missed: readonly string[] = [],
): Promise<EncodeJob> {
  const plan = uncutPlan(source, request, hints);
  // Neither a join by copy without audio nor copied parts need an encoder.
  if (encodedChunks(plan).length === 0) return { plan, decision: decide(plan, []) };
  if (isSpliced(plan)) {
    const decision = decide(plan, await hosts.offers(encodedPart(plan), source, missed));
    return { plan, decision: { ...decision, chunk_seconds: null } };
  }
  const own = { plan, offers: await hosts.offers(plan, source, missed) };
  const siblingPlans = siblings.flatMap((sibling) => planSibling(source, sibling) ?? []);
  const others = await Promise.all(
    siblingPlans.map(async (plan) => ({ plan, offers: await hosts.offers(plan, source) })),
  );
  return { plan, decision: decideWithSiblings(own, others) };
}

function planSibling(source: Source, request: EncodeRequest): Plan | null {
  if (extraInputs(request).length > 0) return null;
  try {
    return uncutPlan(source, request, {});
  } catch (thrown) {
    if (thrown instanceof MediaError) return null;
    throw thrown;
  }
}

/**
 * Cuts a plan as decided, at keyframes if the encoder accepts the resulting chunks. Finds where the decoding of each chunk must
 * start, and which picture is visible at the plan's start.
 */
export async function placeCuts(
  hosts: Hosts,
  source: Source,
  { plan: uncut, decision: { encoder, chunk_seconds } }: EncodeJob,
  open: () => Promise<ByteReader>,
  signal: AbortSignal,
): Promise<Chunk[]> {
  if (encodedChunks(uncut).length === 0) return uncut.chunks;
  const cut = (keyframes: readonly number[]) =>
    chunk_seconds === null ? uncut : cutPlan(uncut, { chunk_seconds, keyframes });
  const plan = await withKeyframes(cut([]), source, open, signal);
  if (isCopy(plan) && !isSpliced(plan)) return placeCopy(plan, source, open, signal);
  const hasPictures = plan.image !== null || plan.video?.mode === "encode";
  // An edit list may hide the beginning of the picture that is visible at 0.
  const startsAtFirst = source.preroll === undefined && plan.chunks.every(({ start }) => start === 0);
  if (plan.still || !hasPictures || startsAtFirst) return plan.chunks;
  const reader = await open();
  const isChunked = plan.kind === "video" && plan.chunks.length > 1 && !isSpliced(plan);
  const keyframeChunks = isChunked ? cut(await readKeyframes(reader, source, signal)).chunks : plan.chunks;
  const place = async (entries: Finder) => {
    const lookup = hasEntries(source) ? entries : estimateEntries(source);
    // A truncated file may lack its index, except an MP4's, which the probe reads first; a lookup without an index reads the whole file.
    const seeks = !source.truncated || isIsobmff(source.format);
    const finder = seeks ? lookup : { entry: lookup.entry, visibleFrom: estimateEntries(source).visibleFrom };
    const placeOne = (chunk: Chunk, before?: Chunk) => placeChunk(chunk, before, finder, source);
    const finish = sourceEnd(plan) ?? Number.POSITIVE_INFINITY;
    const chunks = await placeChunks(keyframeChunks, finish, placeOne);
    const encoded = encodedPart({ ...plan, chunks });
    const refusal = encoderOf(hosts.encoders, encoder).refuse(encoded, source);
    return refusal === null
      ? chunks
      : Promise.all(plan.chunks.map((chunk, index) => placeOne(chunk, plan.chunks[index - 1])));
  };
  // Only a look at the fragments tells which picture is visible where a trim starts.
  return withEntries(reader, source, signal, place, {
    fragments: plan.start > 0 || plan.parts !== undefined || source.preroll !== undefined,
  });
}

async function withKeyframes(
  plan: Plan,
  source: Source,
  open: () => Promise<ByteReader>,
  signal: AbortSignal,
): Promise<Plan> {
  const { image } = plan;
  if (!image?.sheet || plan.kind !== "storyboard" || image.deinterlace) return plan;
  const keyframes = await readKeyframes(await open(), source, signal);
  if (!keyframesSuffice(keyframes, plan, image.sheet)) return plan;
  return { ...plan, chunks: plan.chunks.map((chunk) => ({ ...chunk, keyframes_only: true })) };
}

async function placeCopy(
  plan: Plan,
  source: Source,
  open: () => Promise<ByteReader>,
  signal: AbortSignal,
): Promise<Chunk[]> {
  if (plan.start === 0) return plan.chunks;
  const start = await withEntries(
    await open(),
    source,
    signal,
    ({ entry, packetStart }) => (plan.video ? entry(plan.start) : packetStart(plan.start, plan.sound_track)),
    { fragments: true },
  );
  return plan.chunks.map((chunk) => ({ ...chunk, start: start ?? 0 }));
}

/** Returns a plan with its final chunks; a copy takes its start from its only chunk. */
export function placePlan(plan: Plan, chunks: Chunk[]): Plan {
  const [{ start } = plan] = chunks;
  if (!isCopy(plan) || isSpliced(plan) || start === plan.start) return { ...plan, chunks };
  const end = sourceEnd(plan);
  return { ...plan, start, duration: end === null ? null : end - start, frames: null, chunks };
}

function isCopy({ video, audio }: Plan): boolean {
  return (video ?? audio)?.mode === "copy";
}

/** Plans a part of an encode, which keeps the encoder of the whole and is too short to cut. */
export function decidePart(
  { decision }: Pick<EncodeJob, "decision">,
  source: Source,
  request: EncodeRequest,
  hints: PlanHints,
): EncodeJob {
  const plan = uncutPlan(source, request, hints);
  return { plan, decision: { ...decision, chunk_seconds: null } };
}

function uncutPlan(source: Source, { kind, options }: EncodeRequest, hints: PlanHints): Plan {
  return createPlan(source, kind, options, { ...hints, chunk_seconds: Number.POSITIVE_INFINITY });
}

const MAX_LEAD_SECONDS = 10;

// Ten times the largest rounding of times.
const ROUNDING_SECONDS = 0.001;

// Estimates are safe: a chunk that lacks pictures is encoded again.
function estimateEntries(source: Source): Pick<Finder, "entry" | "visibleFrom"> {
  const { lead, even } = containerOf(source);
  const { fps } = source;
  return {
    entry: async (time) => Math.max(0, time - lead),
    visibleFrom: async (time) => (even && fps ? Math.max(0, time - 1 / fps + ROUNDING_SECONDS) : null),
  };
}

async function placeChunks(
  chunks: readonly Chunk[],
  finish: number,
  place: (chunk: Chunk, before?: Chunk) => Promise<Chunk>,
): Promise<Chunk[]> {
  const merged: Chunk[] = [];
  for (const chunk of chunks) {
    const next = await place(chunk, merged.at(-1));
    const lead = next.start - (next.decode_from ?? next.start);
    const length = (next.end ?? finish) - next.start;
    const last = merged.at(-1);
    const isCopied = next.copy !== undefined || last?.copy !== undefined;
    const merges = last && !isCopied && follows(next, last) && lead > MAX_LEAD_SECONDS && lead > length;
    if (last && merges) merged[merged.length - 1] = { ...last, end: next.end };
    else merged.push({ ...next, index: merged.length });
  }
  return merged;
}

function follows({ track, start }: Chunk, before: Chunk): boolean {
  return track === "video" && before.track === "video" && before.end === start;
}

async function placeChunk(
  chunk: Chunk,
  before: Chunk | undefined,
  { entry, visibleFrom }: Pick<Finder, "entry" | "visibleFrom">,
  { preroll }: Source,
): Promise<Chunk> {
  const { track, start, copy } = chunk;
  if (track === "audio" || (start === 0 && preroll === undefined) || copy) return chunk;
  // Where a chunk follows another, the visible picture is the last one of that chunk.
  const shown_from = before && follows(chunk, before) ? null : await visibleFrom(start);
  const decode_from = (await entry(shown_from ?? start)) ?? 0;
  return { ...chunk, decode_from, ...(shown_from !== null && { shown_from }) };
}

/** Returns the encoder with a name, or the first one; throws `encoder_unavailable` when there are none. */
export function encoderOf(encoders: Hosts["encoders"], name: string): Encoder {
  const encoder = encoders.find((each) => each.name === name) ?? encoders[0];
  if (!encoder) throw new MediaError("encoder_unavailable", describeRefusals([]));
  return encoder;
}
