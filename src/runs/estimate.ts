import { z } from "zod";

const bytes = z.number().min(0);

/** What an output will be like, as far as samples of it tell. */
export const OutputEstimate = z
  .object({
    /** Bounds of the output's size in bytes, of all its files; equal where the size is certain. */
    bytes: z.object({ low: bytes, high: bytes }),
    /** Seconds that the encode takes; null when unknown. */
    seconds: z.number().min(0).nullable(),
    /** How much the output looks like its source; null until it is measured. */
    score: z.number().nullable(),
  })
  .meta({ id: "Estimate" });
/** What an output will be like, as far as samples of it tell. */
export interface OutputEstimate extends z.infer<typeof OutputEstimate> {}
