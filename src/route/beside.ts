import { MediaError } from "../media/errors.ts";
import type { Plan } from "../media/plan.ts";
import type { Decision } from "../media/refusal.ts";
import { isCopy } from "../media/video-plan.ts";
import { decodeKey } from "../plan/together/decode-key.ts";
import { decide, KEEP_SECONDS } from "./decide.ts";
import type { Offer } from "./offer.ts";

/** An uncut plan, and what each encoder would do with it, in the host's order of preference. */
export interface Offered {
  plan: Plan;
  offers: readonly Offer[];
}

interface Waiting {
  offered: Offered;
  seconds: number;
}

/**
 * Returns the offers for a plan whose input others read too, as `decide` is to see them. The first encoder does one plan after
 * another: it keeps the shortest, up to {@link KEEP_SECONDS} of work in all. For the rest, its offer states how long it takes for
 * all of them, and that of another encoder how long that one takes for the rest. `beside` are the other plans of the job; the
 * answer agrees with theirs.
 */
function offersBeside(own: Offered, beside: readonly Offered[]): readonly Offer[] {
  const [first] = own.offers;
  if (!first || beside.length === 0) return own.offers;
  const queue = [own, ...beside].flatMap((offered) => waitingFor(first.encoder, offered));
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
export function decideBeside(own: Offered, beside: readonly Offered[]): Decision {
  const decision = decide(own.plan, offersBeside(own, beside));
  const key = keyOf(own.plan, decision);
  if (key === null) return decision;
  const sharers = beside.filter((other) => {
    const rest = [own, ...beside.filter((each) => each !== other)];
    return keyOf(other.plan, decideOther(other, rest)) === key;
  });
  return sharers.length === 0 ? decision : { ...decision, together: sharers.length + 1 };
}

// Its own run says so when no encoder can do it.
function decideOther(other: Offered, rest: readonly Offered[]): Decision | null {
  try {
    return decide(other.plan, offersBeside(other, rest));
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
function waitingFor(encoder: string, offered: Offered): Waiting[] {
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
