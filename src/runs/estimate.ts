import { z } from "zod";

const bytes = z.number().min(0);

/** An estimate of an output: bounds of its size in bytes, and the seconds that its encode takes. */
export const OutputEstimate = z
  .object({
    bytes: z
      .object({
        low: bytes.meta({ description: "Lower bound in bytes." }),
        high: bytes.meta({ description: "Upper bound in bytes." }),
      })
      .meta({
        description: "Bounds of the total size of the output's files; equal when the size is certain.",
      }),
    seconds: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: "Seconds that the encode takes; null when unknown." }),
    score: z.number().nullable().meta({
      description:
        "Measured similarity to the source if the quality is auto, like the score of the output; otherwise null.",
    }),
  })
  .meta({ id: "Estimate", description: "An estimate of an output that has not been encoded." });
/** An estimate of an output: bounds of its size in bytes, and the seconds that its encode takes. */
export interface OutputEstimate extends z.infer<typeof OutputEstimate> {}
