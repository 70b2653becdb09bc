import { GIB } from "../util/bytes.ts";
import { MediaError } from "./errors.ts";
import { joinsByCopy } from "./features/concat-plan.ts";
import { NATIVE_COSTS, NATIVE_MEMORY, type NativeWork, nativeWork } from "./native-costs.ts";
import { type Chunk, encodedChunks, isSpliced, outputSeconds, type Plan } from "./plan.ts";
import {
  type Decision,
  type DecisionReason,
  OTHER_WORK,
  type Refusal,
  type RefusalReason,
} from "./refusal.ts";
import type { Source } from "./source.ts";
import { cutPlan, SEGMENT_SECONDS } from "./timeline.ts";
import { isCopy } from "./video-plan.ts";
import { describeRefusals } from "./words.ts";

/** How one encoder would do an uncut plan. */
export interface Offer {
  encoder: string;
  /** Why it cannot do the plan, cut as it would cut it; null when it can. */
  refusal: RefusalReason | null;
  /** Seconds of source per chunk; null when the plan stays uncut. */
  chunk_seconds: number | null;
  /** Number of video chunks; 1 when uncut. */
  chunks: number;
  /** Chunks that it encodes at once. */
  at_once: number;
  /** Estimated seconds until the output is ready; null when unknown. */
  seconds: number | null;
  /** The part of `seconds` in which the encoder starts, once for several plans; absent for none. */
  start?: number;
}

/** The facts of a host's native encoders that a decision needs. */
export interface NativeEncoders extends NativeHost {
  /** Why they cannot do the plan; null when they can. */
  refusal: RefusalReason | null;
  /** Bytes of memory of one encoder. Default {@link NATIVE_MEMORY}. */
  memory?: number;
}

const NATIVE_CUTS = {
  /** Seconds of work up to which a plan stays whole, because starting more encoders is not worth it. */
  short: 20,
  /** The chunks must take at most this share of the uncut plan's time. */
  worth: 0.85,
  /** The chunks of a video of measured quality may take up to this multiple of the uncut plan's time. */
  scenes: 1.1,
  /** Above this many seconds a plan is always cut: losing an encoder would cost too much. */
  loss: 900,
} as const;

/** Returns the offer of native encoders for an uncut plan, whole or in chunks, whichever finishes sooner. */
export function nativeOffer(plan: Plan, source: Source, host: NativeEncoders): Offer {
  const work = nativeWork(plan, source);
  const uncut = uncutTime(work, host);
  // Each chunk gets its own rate, so the shortest affordable ones let a measured quality follow the scenes. Renditions have one rate each.
  const isMeasured =
    plan.video?.mode === "encode" && plan.video.measured === true && plan.renditions.length === 0;
  const affordable = isMeasured ? (uncut ?? 0) * NATIVE_CUTS.scenes : 0;
  const cut = isCopy(plan) ? null : bestCut(plan, work, host, affordable);
  const offer = {
    encoder: "native",
    start: NATIVE_COSTS.seconds.start,
    refusal: host.refusal ?? refuseMemory(work, host.memory ?? NATIVE_MEMORY),
  };
  if (uncut === null || cut === null || !isWorthwhile(cut, uncut, affordable)) {
    return { ...offer, chunk_seconds: null, chunks: 1, at_once: 1, seconds: uncut };
  }
  const { chunks, chunk_seconds, seconds } = cut;
  const at_once = Math.min(host.instances * slotsFor(host.cores).slots, host.max_in_flight);
  return { ...offer, chunk_seconds, chunks, at_once, seconds };
}

function isWorthwhile(cut: NativeTime, uncut: number, affordable: number): boolean {
  const { short, worth, loss } = NATIVE_CUTS;
  return uncut > loss || (uncut > short && cut.seconds <= Math.max(uncut * worth, affordable));
}

function refuseMemory({ memory }: NativeWork, available_bytes: number): RefusalReason | null {
  const needed_bytes = Math.ceil(memory);
  return needed_bytes <= available_bytes ? null : { code: "memory", needed_bytes, available_bytes };
}

/** The number and size of a host's native encoders. */
export interface NativeHost {
  instances: number;
  /** Processors per encoder. */
  cores: number;
  /** Maximum chunks of one plan to encode at once. */
  max_in_flight: number;
}

/** A way to cut a plan, and its estimated time. */
interface NativeTime {
  /** Seconds of source per chunk; null when uncut. */
  chunk_seconds: number | null;
  /** Number of video chunks; 1 when uncut. */
  chunks: number;
  /** Estimated seconds until the output is ready. */
  seconds: number;
}

const CHUNK_LENGTHS = { min: 20, max: 120, step: 2 } as const;

/** Returns the number of video jobs that an encoder with `cores` processors runs at once, and the threads of each. */
export function slotsFor(cores: number): { slots: number; threads: number } {
  const slots = Math.max(1, Math.floor(cores / 2));
  return { slots, threads: Math.max(1, Math.ceil(cores / slots)) };
}

/** Estimates the seconds of a plan that one encoder does whole; null when its duration is unknown. */
function uncutTime({ pictures, sound }: NativeWork, { cores }: NativeHost): number | null {
  if (pictures === null || sound === null) return null;
  const { start, job } = NATIVE_COSTS.seconds;
  return start + job + Math.max(pictures / paceOf(cores), sound);
}

/**
 * Finds the shortest chunk length with which a plan takes at most `affordable` seconds, or else the one that finishes it soonest, the
 * longest of equals; null when the plan should not be cut.
 */
function bestCut(plan: Plan, work: NativeWork, host: NativeHost, affordable: number): NativeTime | null {
  const { pictures, sound, seek } = work;
  const { duration, video } = plan;
  if (video?.mode !== "encode" || pictures === null || sound === null || duration === null) return null;
  const segmented = plan.kind === "adaptive_video";
  const slots = Math.max(1, Math.min(host.instances * slotsFor(host.cores).slots, host.max_in_flight));
  const cost = NATIVE_COSTS.seconds;
  const pace = paceOf(host.cores);
  let best: NativeTime | null = null;
  const step = segmented ? SEGMENT_SECONDS : CHUNK_LENGTHS.step;
  for (let length = CHUNK_LENGTHS.max; length >= CHUNK_LENGTHS.min; length -= step) {
    const chunks = cutPlan(plan, { chunk_seconds: length }).chunks.filter(({ track }) => track === "video");
    if (chunks.length < 2) continue;
    const longest = Math.max(...chunks.map((chunk) => outputSeconds(plan, chunk) ?? 0));
    const each = cost.job + (seek + (pictures * longest) / duration) / pace;
    const rounds = Math.ceil(chunks.length / slots);
    const stitching =
      cost.stitch.base + chunks.length * cost.stitch.chunk + duration * cost.stitch.output_second;
    const seconds = cost.start + Math.max(rounds * each, cost.job + sound) + stitching;
    if (best === null || seconds < best.seconds || seconds <= affordable)
      best = { chunk_seconds: length, chunks: chunks.length, seconds };
  }
  return best;
}

function paceOf(cores: number): number {
  const { threads } = slotsFor(cores);
  return threads === 1 ? 1 : threads * NATIVE_COSTS.parallel;
}

const KEEP_SECONDS = 8;

/**
 * Chooses the encoder for an uncut plan: the first able one, unless it takes long and another is estimated to finish
 * sooner. Throws `encoder_unavailable` with every refusal when no encoder can do it.
 */
export function decide(plan: Plan, offers: readonly Offer[]): Decision {
  if (encodedChunks(plan).length === 0) return JOINED;
  const able = offers.filter(({ refusal }) => refusal === null);
  const [first] = able;
  const refusals = offers.flatMap(({ encoder, refusal }) => (refusal ? [{ encoder, ...refusal }] : []));
  if (!first) throw new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals });
  const keeps = keepsWork(plan, first);
  const best = keeps ? first : fastest(able, first);
  const before = offers.slice(0, offers.indexOf(best));
  const passed = before.flatMap(({ encoder, refusal, seconds }) =>
    refusal
      ? [{ encoder, ...refusal }]
      : [{ encoder, code: "slower" as const, seconds: seconds ?? 0, than_seconds: best.seconds ?? 0 }],
  );
  const { encoder, chunk_seconds, seconds } = best;
  const others = able.filter((offer) => !keeps && offer !== best);
  return {
    encoder,
    chunk_seconds,
    seconds,
    reason: reasonOf(plan, best, others, passed),
    refusals: passed,
  };
}

/** Returns whether an able encoder keeps a plan even if another is faster. */
export function keepsWork(plan: Plan, { seconds }: Offer): boolean {
  return isCopy(plan) || seconds === null || seconds <= KEEP_SECONDS;
}

// A join by copy without audio happens during stitching and needs no encoder.
const JOINED: Decision = {
  encoder: "copy",
  chunk_seconds: null,
  seconds: null,
  reason: { code: "copied" },
  refusals: [],
};

function fastest(able: readonly Offer[], first: Offer): Offer {
  const time = ({ seconds }: Offer) => seconds ?? Number.POSITIVE_INFINITY;
  return able.reduce((best, offer) => (time(offer) < time(best) ? offer : best), first);
}

function reasonOf(
  plan: Plan,
  { chunks, at_once, seconds }: Offer,
  slower: readonly Offer[],
  refusals: readonly Refusal[],
): DecisionReason {
  if (isSpliced(plan)) return { code: "spliced" };
  if (isCopy(plan)) return { code: "copied" };
  if (joinsByCopy(plan)) return { code: "joined" };
  const times = slower.flatMap((offer) => (offer.seconds === null ? [] : [offer.seconds]));
  if (seconds !== null && times.length > 0) {
    return { code: "faster", seconds, than_seconds: Math.min(...times), chunks };
  }
  if (chunks > 1) return { code: "chunked", chunks, at_once: Math.min(at_once, chunks) };
  const refused = refusals.some(({ code }) => !OTHER_WORK.has(code));
  return refused ? { code: "refused" } : { code: "preferred", seconds };
}

/** An uncut plan and its offers, in the host's order of preference. */
export interface PlanOffers {
  plan: Plan;
  offers: readonly Offer[];
}

interface Waiting {
  offered: PlanOffers;
  seconds: number;
}

/**
 * Returns the offers for a plan of a job, adjusted for its sibling plans. The first encoder works through the plans one by one and
 * keeps the shortest, up to {@link KEEP_SECONDS} of work in total. For the rest, its offer states its time for all plans, and each
 * other encoder's offer its time for the rest. Every plan of the job gets a consistent result.
 */
function offersWithSiblings(own: PlanOffers, siblings: readonly PlanOffers[]): readonly Offer[] {
  const [first] = own.offers;
  if (!first || siblings.length === 0) return own.offers;
  const queue = [own, ...siblings].flatMap((offered) => waitingFor(first.encoder, offered));
  queue.sort((a, b) => a.seconds - b.seconds);
  const total = sum(queue);
  if (total <= KEEP_SECONDS) return own.offers;
  // Plans of equal length stay or leave together, because each is decided separately.
  const stays = (length: number) => sum(queue.filter(({ seconds }) => seconds <= length)) <= KEEP_SECONDS;
  const rest = queue.filter(({ seconds }) => !stays(seconds));
  if (!rest.some(({ offered }) => offered === own)) return own.offers;
  return own.offers.map((offer) => ({
    ...offer,
    seconds: offer === first ? total : totalSeconds(offer, rest),
  }));
}

/**
 * Decides on a plan of a job as `decide` does, taking its siblings into account; also counts the plans that can share one decoding
 * of the source on that encoder.
 */
export function decideWithSiblings(own: PlanOffers, siblings: readonly PlanOffers[]): Decision {
  const decision = decide(own.plan, offersWithSiblings(own, siblings));
  const key = keyOf(own.plan, decision);
  if (key === null) return decision;
  const sharers = siblings.filter((other) => {
    const rest = [own, ...siblings.filter((each) => each !== other)];
    return keyOf(other.plan, decideOther(other, rest)) === key;
  });
  return sharers.length === 0 ? decision : { ...decision, together: sharers.length + 1 };
}

function decideOther(other: PlanOffers, rest: readonly PlanOffers[]): Decision | null {
  try {
    return decide(other.plan, offersWithSiblings(other, rest));
  } catch (thrown) {
    if (thrown instanceof MediaError) return null;
    throw thrown;
  }
}

function keyOf({ chunks, ...plan }: Plan, decision: Decision | null): string | null {
  const [chunk] = chunks;
  const decoded = chunk && decision?.chunk_seconds === null && decodeKey({ ...plan, chunks }, chunk);
  return decoded ? `${decision?.encoder} ${decoded}` : null;
}

function waitingFor(encoder: string, offered: PlanOffers): Waiting[] {
  const { plan, offers } = offered;
  const [first, ...others] = offers;
  if (first?.encoder !== encoder || first.refusal || first.seconds === null || isCopy(plan)) return [];
  const { seconds } = first;
  const leaves = others.some((other) => !other.refusal && (other.seconds ?? seconds) < seconds);
  return leaves && seconds > KEEP_SECONDS ? [] : [{ offered, seconds }];
}

function totalSeconds({ encoder, start = 0, seconds }: Offer, rest: readonly Waiting[]): number | null {
  if (seconds === null) return null;
  let all = start;
  for (const { offered } of rest) {
    const offer = offered.offers.find((each) => each.encoder === encoder);
    if (!offer || offer.seconds === null) return null;
    all += offer.seconds - start;
  }
  return all;
}

function sum(queue: readonly Waiting[]): number {
  return queue.reduce((all, { seconds }) => all + seconds, 0);
}

const PICTURE_LIMITS = { memory: 2 * GIB, seconds: 20 } as const;

/** A picture that a request waits for, and the refusal of each encoder. */
export interface PictureChoice {
  plan: Plan;
  source: Source;
  /** Why the light encoder cannot do it; null when it can. */
  light: RefusalReason | null;
  /** Why native encoders cannot do it; null when they can. */
  native: RefusalReason | null;
}

/**
 * Chooses the encoder of a picture: the light one if it can, otherwise a native one within 2 GiB and 20 seconds. Throws
 * `encoder_unavailable` with the refusals of both when neither can.
 */
export function choosePictureEncoder({ plan, source, light, native }: PictureChoice): "light" | "native" {
  const uncut = { chunk_seconds: null, chunks: 1, at_once: 1, seconds: null };
  const offers: Offer[] = [
    { encoder: "light", refusal: light, ...uncut },
    { encoder: "native", refusal: native ?? refuseLarge(plan, source), ...uncut },
  ];
  return decide(plan, offers).encoder === "light" ? "light" : "native";
}

function refuseLarge(plan: Plan, source: Source): RefusalReason | null {
  const { memory: available_bytes, seconds: max_seconds } = PICTURE_LIMITS;
  if (plan.image?.animated) return { code: "animated" };
  const { memory, pictures } = nativeWork(plan, source);
  const needed_bytes = Math.ceil(memory);
  if (needed_bytes > available_bytes) return { code: "memory", needed_bytes, available_bytes };
  const seconds = pictures ?? 0;
  return seconds > max_seconds ? { code: "time", seconds, max_seconds } : null;
}

/**
 * Returns a key of the decoding that a chunk needs: one ffmpeg process can encode chunks of a source with the same key and decodes the
 * source once. Null for a chunk that needs its own process.
 */
export function decodeKey(plan: Plan, chunk: Chunk): string | null {
  const { kind, video, audio, speed = 1 } = plan;
  if (kind !== "video" || video?.mode !== "encode" || chunk.track !== "all") return null;
  const leveled = audio?.mode === "encode" && audio.shape?.loudness !== undefined;
  if (plan.concat || (plan.further ?? []).length > 0 || leveled) return null;
  const { start, end, decode_from = start, shown_from = start } = chunk;
  return JSON.stringify([start, end, decode_from, shown_from, speed]);
}
