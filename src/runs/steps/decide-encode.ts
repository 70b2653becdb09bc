import type { Encoder } from "../../encoders/encoder.ts";
import { containerOf } from "../../media/containers.ts";
import type { PlanHints } from "../../media/create-plan.ts";
import { MediaError } from "../../media/errors.ts";
import { extraInputs } from "../../media/extra-inputs.ts";
import { keyframesSuffice } from "../../media/features/storyboard.ts";
import { type Chunk, createPlan, cutPlan, type Plan } from "../../media/index.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { sourceEnd } from "../../media/plan.ts";
import type { Decision } from "../../media/refusal.ts";
import { decide, decideBeside } from "../../media/route/decide.ts";
import type { Offer } from "../../media/route/offers.ts";
import type { Source } from "../../media/source.ts";
import { describeRefusals } from "../../media/words.ts";
import { type Finder, hasEntries, readKeyframes, withEntries } from "../../probe/entries.ts";
import type { ByteReader } from "../ports.ts";

/** The encoders of a host. */
export interface Hosts {
  /** At least one. A run whose encoder is gone continues with the first. */
  encoders: readonly Encoder[];
  /** Returns what each encoder would do with an uncut plan, in the host's order of preference; never rejects. */
  offers(plan: Plan, source: Source): Promise<readonly Offer[]>;
}

/** A decided encode: the uncut plan, and the encoder that does it. Plain data, made once per run and stored with it. */
export interface EncodeJob {
  plan: Plan;
  decision: Decision;
}

/**
 * Decides how to encode a request; `beside` are the job's other requests of the same source. Rejects with the errors of `createPlan`, and with `encoder_unavailable` when no encoder
 * can do it.
 */
export async function decideEncode(
  hosts: Hosts,
  source: Source,
  request: EncodeRequest,
  hints: PlanHints,
  beside: readonly EncodeRequest[] = [],
): Promise<EncodeJob> {
  const plan = uncutPlan(source, request, hints);
  // Pictures alone are joined without an encoder.
  if (plan.chunks.length === 0) return { plan, decision: decide(plan, []) };
  const own = { plan, offers: await hosts.offers(plan, source) };
  const others = beside.flatMap((other) => planBeside(source, other) ?? []);
  const offered = await Promise.all(
    others.map(async (plan) => ({ plan, offers: await hosts.offers(plan, source) })),
  );
  return { plan, decision: decideBeside(own, offered) };
}

// Another output of the job may be impossible, or join files that only its own run reads: then it is not counted.
function planBeside(source: Source, request: EncodeRequest): Plan | null {
  if (extraInputs(request).length > 0) return null;
  try {
    return uncutPlan(source, request, {});
  } catch (thrown) {
    if (thrown instanceof MediaError) return null;
    throw thrown;
  }
}

/**
 * Cuts a plan as decided, at keyframes where the encoder accepts the resulting chunks. Finds where decoding
 * must start for each chunk, and which picture is visible where the plan starts.
 */
export async function placeCuts(
  hosts: Hosts,
  source: Source,
  { plan: uncut, decision: { encoder, chunk_seconds } }: EncodeJob,
  open: () => Promise<ByteReader>,
  signal: AbortSignal,
): Promise<Chunk[]> {
  const cut = (keyframes: readonly number[]) =>
    chunk_seconds === null ? uncut : cutPlan(uncut, { chunk_seconds, keyframes });
  const plan = await withKeyframes(cut([]), source, open, signal);
  if (copiesStart(plan)) return copiedFrom(plan, source, open, signal);
  const pictured = plan.image !== null || plan.video?.mode === "encode";
  if (plan.still || !pictured || plan.chunks.every(({ start }) => start === 0)) return plan.chunks;
  const reader = await open();
  const several = plan.kind === "video" && plan.chunks.length > 1;
  const better = several ? cut(await readKeyframes(reader, source, signal)).chunks : plan.chunks;
  return withEntries(reader, source, signal, async (found) => {
    const finder = hasEntries(source) ? found : guess(source);
    const place = (chunk: Chunk) => placeChunk(chunk, plan.start, finder);
    const finish = sourceEnd(plan) ?? Number.POSITIVE_INFINITY;
    const placed = await placeChunks(better, finish, place);
    const fits = encoderOf(hosts.encoders, encoder).refuse({ ...plan, chunks: placed }, source) === null;
    return fits ? placed : Promise.all(plan.chunks.map(place));
  });
}

// Where keyframes show every tile of a storyboard, nothing else is decoded.
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

// What is not encoded starts with a keyframe, or without pictures with any packet.
async function copiedFrom(
  plan: Plan,
  source: Source,
  open: () => Promise<ByteReader>,
  signal: AbortSignal,
): Promise<Chunk[]> {
  if (plan.start === 0) return plan.chunks;
  const start = await withEntries(await open(), source, signal, ({ entry, heard }) =>
    plan.video ? entry(plan.start) : heard(plan.start, plan.sound_track),
  );
  return plan.chunks.map((chunk) => ({ ...chunk, start: start ?? 0 }));
}

/** Returns a plan with its final chunks; a copy starts where its only chunk does. */
export function placePlan(plan: Plan, chunks: Chunk[]): Plan {
  const [{ start } = plan] = chunks;
  if (!copiesStart(plan) || start === plan.start) return { ...plan, chunks };
  const end = sourceEnd(plan);
  return { ...plan, start, duration: end === null ? null : end - start, frames: null, chunks };
}

function copiesStart({ video, audio }: Plan): boolean {
  return (video ?? audio)?.mode === "copy";
}

function uncutPlan(source: Source, { kind, options }: EncodeRequest, hints: PlanHints): Plan {
  return createPlan(source, kind, options, { ...hints, chunk_seconds: Number.POSITIVE_INFINITY });
}

// A chunk is not worth a cut when decoding would have to start this much earlier and the lead exceeds its length.
const MOST_LEAD_SECONDS = 10;

// Times are rounded to a tenth of this at most.
const MOMENT = 0.001;

// A chunk that still lacks pictures is encoded again.
function guess(source: Source): Pick<Finder, "entry" | "shown"> {
  const { lead, even } = containerOf(source);
  const { fps } = source;
  return {
    entry: async (time) => Math.max(0, time - lead),
    shown: async (time) => (even && fps ? Math.max(0, time - 1 / fps + MOMENT) : null),
  };
}

async function placeChunks(
  chunks: readonly Chunk[],
  finish: number,
  place: (chunk: Chunk) => Promise<Chunk>,
): Promise<Chunk[]> {
  const placed: Chunk[] = [];
  for (const chunk of chunks) {
    const next = await place(chunk);
    const lead = next.start - (next.decode_from ?? next.start);
    const length = (next.end ?? finish) - next.start;
    const last = placed.at(-1);
    const joins =
      last?.track === "video" && next.track === "video" && lead > MOST_LEAD_SECONDS && lead > length;
    if (last && joins) placed[placed.length - 1] = { ...last, end: next.end };
    else placed.push({ ...next, index: placed.length });
  }
  return placed;
}

async function placeChunk(
  chunk: Chunk,
  first: number,
  { entry, shown }: Pick<Finder, "entry" | "shown">,
): Promise<Chunk> {
  const { track, start } = chunk;
  if (track === "audio" || start === 0) return chunk;
  // For later chunks it is the last picture of the chunk before.
  const shown_from = start === first ? await shown(start) : null;
  const decode_from = (await entry(shown_from ?? start)) ?? 0;
  return { ...chunk, decode_from, ...(shown_from !== null && { shown_from }) };
}

/** Returns the encoder of a name, or else the first; throws `encoder_unavailable` when there is none. */
export function encoderOf(encoders: Hosts["encoders"], name: string): Encoder {
  const encoder = encoders.find((each) => each.name === name) ?? encoders[0];
  if (!encoder) throw new MediaError("encoder_unavailable", describeRefusals([]));
  return encoder;
}
