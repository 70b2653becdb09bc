import type { RefusalReason } from "../media/refusal.ts";

/** What one encoder would do with an uncut plan. */
export interface Offer {
  encoder: string;
  /** Why it cannot run the plan, cut as it would cut it; null when it can. */
  refusal: RefusalReason | null;
  /** Seconds of source per chunk; null when the plan stays uncut. */
  chunk_seconds: number | null;
  /** Chunks of pictures; 1 for uncut. */
  chunks: number;
  /** Chunks that it encodes at once. */
  at_once: number;
  /** Estimated seconds until the output is ready; null when unknown. */
  seconds: number | null;
  /** Those of them in which the encoder starts, which it does once for several plans; absent for none. */
  start?: number;
}
