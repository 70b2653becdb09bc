import { z } from "zod";
import { feature } from "../feature.ts";
import { assumedMatrix } from "../ffmpeg/color.ts";

/** Decodes a source in colors that players assume for it, and that ffmpeg would not guess: untagged HD is BT.709. */
export const assumed_colors = feature({
  options: {},
  fields: { assumed_colors: z.literal(true).exactOptional() },
  part: "plan",
  planWhole: ({ pictures }, source) => (pictures && assumedMatrix(source) ? { assumed_colors: true } : {}),
  doneBy: { native: true, stock: true, fast: true, webcodecs: true, canvas: true, avif: true },
  refusal: { code: "assumed_colors", clause: () => "it takes the colors of untagged HD for those of SD" },
});
