import { z } from "zod";
import { feature } from "../feature.ts";
import { isMeasured } from "../quality-search.ts";

/** Encodes pictures at a rate that is measured first, which may differ between chunks. */
export const auto_quality = feature({
  options: {},
  fields: {
    measured: z.literal(true).exactOptional(),
    /** Rates by time in the source in seconds, ascending, from which each chunk takes its own; absent if all chunks share one. */
    rates: z
      .array(z.strictObject({ at: z.number().min(0).max(1e7), crf: z.number().min(0).max(63) }))
      .max(1000)
      .exactOptional(),
  },
  part: "video",
  plan: (options, _, codec) => (isMeasured(options) && codec !== null ? { measured: true } : {}),
  doneBy: { native: true, stock: true, fast: true },
  refusal: { code: "auto_quality", clause: () => "it cannot measure the quality of a video" },
});
