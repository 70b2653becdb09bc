import { z } from "zod";
import { feature, option } from "../feature.ts";
import type { VideoCodec } from "../formats.ts";

// Players and Apple's documents call H.265 HEVC.
const CODECS = { h264: "h264", h265: "h265", hevc: "h265", av1: "av1" } as const satisfies Record<
  string,
  VideoCodec
>;

/** The name of a codec in the option `codecs`. */
export type CodecName = keyof typeof CODECS;
type StreamCodec = (typeof CODECS)[CodecName];

const NAMES = { h264: "H.264", h265: "H.265", av1: "AV1" } as const satisfies Record<StreamCodec, string>;

const RULE = `must be a list of different codecs of ${Object.keys(CODECS).join(", ")}, including h264.`;

function isValid(names: readonly CodecName[]): boolean {
  const codecs = names.map((name) => CODECS[name]);
  return codecs.includes("h264") && new Set(codecs).size === codecs.length;
}

const ONLY_H264: CodecName[] = ["h264"];

const words = (names: readonly CodecName[] = ONLY_H264) =>
  new Intl.ListFormat("en", { type: "conjunction" }).format(names.map((name) => NAMES[CODECS[name]]));

/** Encodes each rendition of adaptive video in several codecs; players choose the best that they can decode. */
export const codecs = feature({
  options: {
    codecs: option({
      kinds: ["adaptive_video"],
      schema: z
        .array(z.enum(Object.keys(CODECS) as [CodecName, ...CodecName[]], RULE), RULE)
        .refine(isValid, RULE)
        .optional()
        .meta({
          description:
            "The codecs of the renditions: h264, which is required, and h265 (or hevc), av1 or both. Every size is encoded in each codec, and players choose the best that they can decode. Only native ffmpeg encodes more than H.264.",
          default: ONLY_H264,
        }),
      default: ONLY_H264,
      placed: true,
      choices: [ONLY_H264, ["h264", "h265"], ["h264", "av1"], ["h264", "h265", "av1"]],
      words: {
        label: "Codecs",
        choice: words,
        hint: (names) =>
          names && names.length > 1
            ? "Newer players load less; converting takes several times as long."
            : undefined,
      },
    }),
  },
  summary: ({ codecs: names }) => (names && names.length > 1 ? words(names) : null),
  fields: {},
  isNeeded: ({ renditions }) =>
    Array.isArray(renditions) && renditions.some(({ codec }: { codec?: string }) => codec !== undefined),
  doneBy: { native: true },
  refusal: { code: "stream_codecs", clause: () => "it encodes streams in H.264 only" },
});

/** Returns the codecs that a stream has besides H.264; the one that more players decode comes first. */
export function furtherCodecs(names: readonly CodecName[] = []): Exclude<StreamCodec, "h264">[] {
  const codecs = names.map((name) => CODECS[name]);
  return (["h265", "av1"] as const).filter((codec) => codecs.includes(codec));
}
