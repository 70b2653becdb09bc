import type { Plan } from "../media/plan.ts";
import type { RefusalReason } from "../media/refusal.ts";
import type { Source } from "../media/source.ts";
import { GIB } from "../util/bytes.ts";
import { decide } from "./decide.ts";
import { nativeWork } from "./native-cost.ts";
import type { Offer } from "./offer.ts";

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
