import { z } from "zod";
import { Refusal } from "./refusal.ts";

/** Which encoder does the work, and why. */
export const EncoderChoice = z
  .object({
    encoder: z.string().meta({ example: "native" }),
    reason: z.string().meta({ description: "One short sentence.", example: "Faster here: 8 s, not 16 s." }),
    refusals: z.array(Refusal).optional().meta({
      description: "Why the preferred encoders do not do it; absent when there are none.",
    }),
  })
  .meta({ id: "EncoderChoice" });
/** Which encoder does the work, and why. */
export type EncoderChoice = z.infer<typeof EncoderChoice>;

/** Which encoder does the work of a plan, how it is cut for it, and why. Plain data: it is stored with the run. */
export interface Decision {
  /** Name of the encoder. */
  encoder: string;
  /** Seconds of source in one chunk; null where the plan stays uncut. */
  chunk_seconds: number | null;
  /** Seconds until the output is there, by estimate; null when unknown. */
  seconds: number | null;
  reason: DecisionReason;
  /** How many outputs of the job, this one included, that encoder can make of one decoding; absent for this one alone. */
  together?: number;
  /** Why the encoders that the host asks before this one do not do it. */
  refusals: Refusal[];
}

/** What decided. */
export type DecisionReason =
  /** Nothing is re-encoded. */
  | { code: "copied" }
  /** Pictures are copied, and the sound of several videos is encoded. */
  | { code: "joined" }
  /** Another encoder could do it too, and would take longer. */
  | { code: "faster"; seconds: number; than_seconds: number; chunks: number }
  /** It can be cut into chunks, which are encoded side by side. */
  | { code: "chunked"; chunks: number; at_once: number }
  /** The encoders before it refused. */
  | { code: "refused" }
  /** It is the first one that the host asks. */
  | { code: "preferred"; seconds: number | null };
