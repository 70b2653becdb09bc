import type { Encoder } from "../../encoders/encoder.ts";
import { cutPlan, type Plan } from "../../media/index.ts";
import type { Offer } from "../../media/route.ts";
import type { Source } from "../../media/source.ts";

/** An encoder of this machine, with hints for splitting its work. */
export interface LocalEncoder extends Encoder {
  /** Jobs that it runs at once. Default 1. */
  readonly workers?: number;
  /** Returns the best seconds of source per chunk of an uncut plan; null or absent when the plan is better left whole. */
  chunkSeconds?(plan: Plan, source: Source): number | null;
  /** Tests support for a plan on this machine, so that `refuse` knows; never rejects. */
  prepare?(plan: Plan, source: Source): Promise<void>;
}

// A small file with damaged times may seem to last for days and would be cut into thousands of chunks, each read from the start.
const MIN_CHUNK_BYTES = 16_384;

/**
 * Returns the offers of this machine's encoders for an uncut plan, in order of preference, up to the first one without a refusal.
 * Prepares each encoder first; encoders in `missed` refuse, because they exceeded the plan's `target_size`. Never rejects.
 */
export async function localOffers(
  encoders: readonly LocalEncoder[],
  plan: Plan,
  source: Source,
  missed: readonly string[] = [],
): Promise<Offer[]> {
  const offers: Offer[] = [];
  for (const encoder of encoders) {
    await encoder.prepare?.(plan, source);
    const own = offerOf(encoder, plan, source);
    const offer = missed.includes(encoder.name)
      ? { ...own, refusal: { code: "output_bytes" } as const }
      : own;
    offers.push(offer);
    if (offer.refusal === null) break;
  }
  return offers;
}

function offerOf(encoder: LocalEncoder, plan: Plan, source: Source): Offer {
  const hint = encoder.chunkSeconds?.(plan, source) ?? null;
  const chunk_seconds = hint === null ? null : Math.max(hint, minSeconds(source));
  const cut = chunk_seconds === null ? plan : cutPlan(plan, { chunk_seconds });
  return {
    encoder: encoder.name,
    refusal: encoder.refuse(cut, source),
    chunk_seconds,
    chunks: cut.chunks.filter(({ track }) => track !== "audio").length,
    at_once: encoder.workers ?? 1,
    seconds: null,
  };
}

function minSeconds({ duration, filesize }: Source): number {
  return duration && filesize ? (duration * MIN_CHUNK_BYTES) / filesize : 0;
}
