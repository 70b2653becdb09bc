import { z } from "zod";
import { Refusal } from "./refusal.ts";

/** Which encoder does the work, and why. */
export const EncoderChoice = z
  .object({
    encoder: z.string().meta({ example: "native" }),
    reason: z.string().meta({ description: "One short sentence.", example: "Faster here: 8 s, not 16 s." }),
    refusals: z.array(Refusal).optional().meta({
      description: "Why the encoders that are preferred to it do not do it; absent when there are none.",
    }),
  })
  .meta({ id: "EncoderChoice" });
/** Which encoder does the work, and why. */
export type EncoderChoice = z.infer<typeof EncoderChoice>;
