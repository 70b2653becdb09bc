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
    if (refusal === null)
      return { encoder, reason: [describeWork(plan), ...refusals.map((each) => `not ${each}`)].join("; ") };
    refusals.push(`${encoder.name}: ${refusal}`);
  }
  const reasons = refusals.join("; ") || "there are no encoders";
  throw new MediaError("encoder_unavailable", `No encoder here can do this (${reasons}).`);
}

function describeWork({ video, audio, image }: Plan): string {
  const copied = !image && [video, audio].every((track) => track === null || track.mode === "copy");
  return copied ? "nothing needs re-encoding" : "the work fits its memory and time";
}
