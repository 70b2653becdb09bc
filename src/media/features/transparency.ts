import { z } from "zod";
import { feature } from "../feature.ts";

const OPAQUE = ["background", "overlay", "subtitles", "concat"] as const;

/** Keeps the transparency of a video in VP9, which has a second stream for it in WebM. */
export const transparency = feature({
  options: {},
  fields: { transparent: z.literal(true).exactOptional() },
  part: "video",
  plan(options: Readonly<Record<string, unknown>>, source, codec) {
    const keeps = codec === "vp9" && source.has_alpha === true && source.color?.hdr !== true;
    return keeps && OPAQUE.every((name) => options[name] === undefined) ? { transparent: true } : {};
  },
  doneBy: { native: true, stock: true },
  refusal: { code: "transparency", clause: () => "it cannot keep transparency" },
});
