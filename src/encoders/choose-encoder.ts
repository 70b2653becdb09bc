import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
import type { Plan } from "../plan/plan.ts";
import type { Encoder } from "./encoder.ts";

/** The encoder that does the work, and why it is that one, in a few plain words. */
export interface Choice {
  encoder: Encoder;
  reason: string;
}

/** Gives the first encoder that can carry a plan out; throws `encoder_unavailable` with every one's reason when none can. */
export function chooseEncoder(encoders: readonly Encoder[], plan: Plan, source: Source): Choice {
  const refusals: string[] = [];
  for (const encoder of encoders) {
    const refusal = encoder.can(plan, source);
    if (refusal !== null) refusals.push(`${encoder.name}: ${refusal}`);
    else return { encoder, reason: refusals.join("; ") || "the first choice, and the work fits it" };
  }
  const reasons = refusals.join("; ") || "there are no encoders";
  throw new MediaError("encoder_unavailable", `No encoder here can do this (${reasons}).`);
}
