import { z } from "zod";
import { feature } from "../feature.ts";

/** Deinterlaces pictures; the frame rate stays the same. */
export const deinterlace = feature({
  options: {},
  fields: { deinterlace: z.boolean() },
  part: "pictures",
  plan: (_, source) => ({ deinterlace: source.interlaced === true }),
  doneBy: { native: true, stock: true, fast: true, canvas: true },
  refusal: { code: "deinterlacing", clause: () => "it cannot deinterlace" },
  stage: "clean",
  pictures: (fields) => (fields.deinterlace ? ["yadif"] : []),
});
