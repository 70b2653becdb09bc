import { z } from "zod";

/** Which encoder does the work, and why it is that one. */
export const EncoderChoice = z
  .object({
    encoder: z.string().meta({ example: "native" }),
    reason: z.string().meta({ description: "In a few plain words." }),
  })
  .meta({ id: "EncoderChoice" });
/** Which encoder does the work, and why it is that one. */
export type EncoderChoice = z.infer<typeof EncoderChoice>;
