import type { Encoder } from "../../encoders/encoder.ts";
import { cutPlan, type Plan } from "../../media/index.ts";
import type { Offer } from "../../media/route/offers.ts";
import type { Source } from "../../media/source.ts";

/** An encoder of this machine, and how to split work for it. */
export interface LocalEncoder extends Encoder {
  /** Jobs that it runs at once. Default 1. */
  readonly workers?: number;
  /** Returns the best seconds of source per chunk of an uncut plan; null, or absent, when it is better left whole. */
  chunkSeconds?(plan: Plan, source: Source): number | null;
  /** Tries what a plan needs on this machine, so that `refuse` knows; never rejects. */
  prepare?(plan: Plan, source: Source): Promise<void>;
}

// With damaged times, a small file may seem to last for days and would be cut into thousands of chunks, each read from the start.
const LEAST_BYTES = 16_384;

/**
 * Returns what the encoders of this machine would do with an uncut plan, after each has tried what it needs, up to the first
 * that can: their order decides. Never rejects.
 */
export async function localOffers(
  encoders: readonly LocalEncoder[],
  plan: Plan,
  source: Source,
): Promise<Offer[]> {
  const offers: Offer[] = [];
  for (const encoder of encoders) {
    await encoder.prepare?.(plan, source);
    const offer = offerOf(encoder, plan, source);
    offers.push(offer);
    if (offer.refusal === null) break;
  }
  return offers;
}

function offerOf(encoder: LocalEncoder, plan: Plan, source: Source): Offer {
  const hint = encoder.chunkSeconds?.(plan, source) ?? null;
  const chunk_seconds = hint === null ? null : Math.max(hint, leastSeconds(source));
  const cut = chunk_seconds === null ? plan : cutPlan(plan, { chunk_seconds });
  return {
    encoder: encoder.name,
    refusal: encoder.refuse(cut, source),
    chunk_seconds,
    chunks: cut.chunks.filter(({ track }) => track !== "audio").length,
    at_once: encoder.workers ?? 1,
    // A page has no containers to wait for.
    seconds: null,
  };
}

function leastSeconds({ duration, filesize }: Source): number {
  return duration && filesize ? (duration * LEAST_BYTES) / filesize : 0;
}
