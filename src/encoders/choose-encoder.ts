import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
import type { Plan } from "../plan/plan.ts";
import type { Encoder } from "./encoder.ts";

/** The encoder that was chosen, and why, in plain words. */
export interface Choice {
  encoder: Encoder;
  reason: string;
}

/** Chooses the first encoder that can carry the plan out; throws `encoder_unavailable` with the reason of each when none can. */
export function chooseEncoder(encoders: readonly Encoder[], plan: Plan, source: Source): Choice {
  const refusals: string[] = [];
  for (const encoder of encoders) {
    const refusal = encoder.can(plan, source);
    if (refusal === null) return { encoder, reason: reasonFor(encoder, plan, refusals) };
    refusals.push(`${encoder.name}: ${refusal}`);
  }
  const reasons = refusals.length > 0 ? refusals.join("; ") : "there is none here";
  throw new MediaError("encoder_unavailable", `No encoder can do this: ${reasons}.`);
}

function reasonFor(encoder: Encoder, plan: Plan, refusals: readonly string[]): string {
  const copied = [plan.video, plan.audio].every((track) => track === null || track.mode === "copy");
  const work =
    plan.image === null && copied ? "nothing needs re-encoding" : "the work fits its memory and time";
  return refusals.length > 0
    ? `${encoder.name}: ${work} (${refusals.join("; ")})`
    : `${encoder.name}: ${work}`;
}
