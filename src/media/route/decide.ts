import { GIB } from "../../util/bytes.ts";
import { MediaError } from "../errors.ts";
import { joinsByCopy } from "../features/concat-plan.ts";
import type { Chunk, Plan } from "../plan.ts";
import {
  type Decision,
  type DecisionReason,
  OTHER_WORK,
  type Refusal,
  type RefusalReason,
} from "../refusal.ts";
import type { Source } from "../source.ts";
import { isCopy } from "../video-plan.ts";
import { describeRefusals } from "../words.ts";
import { nativeWork } from "./costs.ts";
import type { Offer } from "./offers.ts";

/**
 * Seconds of work up to which the first able encoder keeps it, even if another would be faster, because moving work costs
 * more.
 */
const KEEP_SECONDS = 8;

/**
 * Chooses the encoder for an uncut plan: the first offer without a refusal, unless its work is long and another is estimated
 * to finish sooner. Throws `encoder_unavailable` with every refusal when no encoder can.
 */
export function decide(plan: Plan, offers: readonly Offer[]): Decision {
  if (plan.chunks.length === 0) return JOINED;
  const able = offers.filter(({ refusal }) => refusal === null);
  const [first] = able;
  const refusals = offers.flatMap(({ encoder, refusal }) => (refusal ? [{ encoder, ...refusal }] : []));
  if (!first) throw new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals });
  const keeps = keepsWork(plan, first);
  const chosen = keeps ? first : fastest(able, first);
  const before = offers.slice(0, offers.indexOf(chosen));
  const passed = before.flatMap(({ encoder, refusal, seconds }) =>
    refusal
      ? [{ encoder, ...refusal }]
      : [{ encoder, code: "slower" as const, seconds: seconds ?? 0, than_seconds: chosen.seconds ?? 0 }],
  );
  const { encoder, chunk_seconds, seconds } = chosen;
  const others = able.filter((offer) => !keeps && offer !== chosen);
  return {
    encoder,
    chunk_seconds,
    seconds,
    reason: reasonOf(plan, chosen, others, passed),
    refusals: passed,
  };
}

/** Returns whether an encoder that can do a plan keeps it, though another may be faster. */
export function keepsWork(plan: Plan, { seconds }: Offer): boolean {
  return isCopy(plan) || seconds === null || seconds <= KEEP_SECONDS;
}

// Pictures alone are joined where files are stitched, and need no encoder.
const JOINED: Decision = {
  ...{ encoder: "copy", chunk_seconds: null, seconds: null },
  ...{ reason: { code: "copied" }, refusals: [] },
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

/** An uncut plan, and what each encoder would do with it, in the host's order of preference. */
export interface PlanOffers {
  plan: Plan;
  offers: readonly Offer[];
}

interface Waiting {
  offered: PlanOffers;
  seconds: number;
}

/**
 * Returns the offers for a plan whose input others read too, as `decide` is to see them. The first encoder does one plan after
 * another: it keeps the shortest, up to {@link KEEP_SECONDS} of work in all. For the rest, its offer states how long it takes for
 * all of them, and that of another encoder how long that one takes for the rest. `beside` are the other plans of the job; the
 * answer agrees with theirs.
 */
function offersWithSiblings(own: PlanOffers, siblings: readonly PlanOffers[]): readonly Offer[] {
  const [first] = own.offers;
  if (!first || siblings.length === 0) return own.offers;
  const queue = [own, ...siblings].flatMap((offered) => waitingFor(first.encoder, offered));
  queue.sort((a, b) => a.seconds - b.seconds);
  const together = sum(queue);
  if (together <= KEEP_SECONDS) return own.offers;
  // Of equally long ones all stay or none, as each plan is decided apart from the others.
  const kept = (least: number) => sum(queue.filter(({ seconds }) => seconds <= least)) <= KEEP_SECONDS;
  const rest = queue.filter(({ seconds }) => !kept(seconds));
  if (!rest.some(({ offered }) => offered === own)) return own.offers;
  return own.offers.map((offer) => ({
    ...offer,
    seconds: offer === first ? together : secondsTogether(offer, rest),
  }));
}

/**
 * Decides on a plan whose input others read too, as `decide` does; says how many plans of the job can share one decoding of the
 * source on that encoder.
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

// Its own run says so when no encoder can do it.
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

// What the first encoder does is known for some plans only, and a copy takes no time.
function waitingFor(encoder: string, offered: PlanOffers): Waiting[] {
  const { plan, offers } = offered;
  const [first, ...others] = offers;
  if (first?.encoder !== encoder || first.refusal || first.seconds === null || isCopy(plan)) return [];
  const { seconds } = first;
  const leaves = others.some((other) => !other.refusal && (other.seconds ?? seconds) < seconds);
  return leaves && seconds > KEEP_SECONDS ? [] : [{ offered, seconds }];
}

function secondsTogether({ encoder, start = 0, seconds }: Offer, rest: readonly Waiting[]): number | null {
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

/** What a picture that is made while its request waits may take on a native encoder, which others use too. */
const PICTURE_LIMITS = { memory: 2 * GIB, seconds: 20 } as const;

/** A picture to make while a request waits, and why an encoder cannot; null when it can. */
export interface PictureChoice {
  plan: Plan;
  source: Source;
  light: RefusalReason | null;
  native: RefusalReason | null;
}

/**
 * Chooses the encoder of a picture: the light one where it can, else a native one within {@link PICTURE_LIMITS}. Throws
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
 * Names what ffmpeg decodes for a chunk: chunks of one source that have the same key can be encoded by one run, which decodes its
 * pictures once. Null for a chunk that needs a run of its own.
 */
export function decodeKey(plan: Plan, chunk: Chunk): string | null {
  const { kind, video, audio, speed = 1 } = plan;
  if (kind !== "video" || video?.mode !== "encode" || chunk.track !== "all") return null;
  // Further files are inputs too, and loudness is measured by a run before.
  const leveled = audio?.mode === "encode" && audio.shape?.loudness !== undefined;
  if (plan.concat || video.overlay || (plan.further ?? []).length > 0 || leveled) return null;
  const { start, end, decode_from = start, shown_from = start } = chunk;
  return JSON.stringify([start, end, decode_from, shown_from, speed]);
}
