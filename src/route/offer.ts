import type { RefusalReason } from "../core/refusal.ts";

/** What one encoder would do with an uncut plan. */
export interface Offer {
  /** Name of the encoder. */
  encoder: string;
  /** Why it cannot do the plan, cut as it would cut it; null when it can. */
  refusal: RefusalReason | null;
  /** Seconds of source in one chunk; null where the plan stays uncut. */
  chunk_seconds: number | null;
  /** Chunks of pictures; 1 for uncut. */
  chunks: number;
  /** Chunks that it encodes at once. */
  at_once: number;
  /** Seconds until the output is there, by estimate; null when unknown. */
  seconds: number | null;
}
