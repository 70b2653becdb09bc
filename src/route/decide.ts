import { MediaError } from "../media/errors.ts";
import { joinsByCopy } from "../media/features/concat-plan.ts";
import type { Plan } from "../media/plan.ts";
import { type Decision, type DecisionReason, OTHER_WORK, type Refusal } from "../media/refusal.ts";
import { isCopy } from "../media/video-plan.ts";
import { describeRefusals } from "../media/words.ts";
import type { Offer } from "./offer.ts";

/**
 * Seconds of work up to which the first able encoder keeps it, even if another would be faster, because moving work costs
 * more.
 */
export const KEEP_SECONDS = 8;

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
