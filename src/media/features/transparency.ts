import { z } from "zod";
import { feature } from "../feature.ts";
import { type EncodeKind, FORMATS } from "../formats.ts";

const OPAQUE = ["background", "overlay", "text", "subtitles", "concat"] as const;

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

/** Returns whether transparent pictures become opaque in a plan; false where none is encoded. */
export function flattens({
  image,
  video,
}: {
  image: { alpha: boolean } | null;
  video: { mode: "copy" } | { mode: "encode"; transparent?: true } | null;
}): boolean {
  return image ? !image.alpha : video?.mode === "encode" && !video.transparent;
}

/** Returns whether an output of a kind and format can be transparent. */
export function holdsAlpha(kind: EncodeKind, format: string): boolean {
  const formats: Readonly<Record<string, { mime: string; alpha?: boolean }>> = FORMATS[kind];
  return formats[format]?.alpha === true;
}
