import { z } from "zod";

const bytes = z.number().min(0);

/** An estimate of an output. */
export const OutputEstimate = z
  .object({
    /** Bounds of the total size of the output's files in bytes; equal when the size is certain. */
    bytes: z.object({ low: bytes, high: bytes }),
    /** Seconds of encoding; null when unknown. */
    seconds: z.number().min(0).nullable(),
    /** Similarity of the output to its source; null until it is measured. */
    score: z.number().nullable(),
  })
  .meta({ id: "Estimate" });
/** An estimate of an output. */
export interface OutputEstimate extends z.infer<typeof OutputEstimate> {}
