import { z } from "zod";
import { type FilterContext, feature } from "../feature.ts";
import { BT709 } from "../ffmpeg/color.ts";
import type { VideoCodec } from "../formats.ts";
import type { SourceFacts } from "../source-facts.ts";

const HDR_CODECS: ReadonlySet<string | null> = new Set(["h265", "av1"] satisfies VideoCodec[]);

/** Returns whether a codec can hold HDR as it is. */
export function holdsHdr(codec: string | null): boolean {
  return HDR_CODECS.has(codec);
}

/** Returns whether the pictures of a source stay HDR in a codec. */
export function keepsHdr(source: SourceFacts, codec: string | null): boolean {
  return source.color?.hdr === true && holdsHdr(codec);
}

// tonemap_bt709 does not support constant luminance.
const LUMA_MATRICES: ReadonlySet<string | null> = new Set([
  null,
  "bt2020nc",
  "bt709",
  "bt470bg",
  "smpte170m",
]);

/** Maps HDR to SDR in BT.709. */
export const tone_map = feature({
  options: {},
  fields: { tone_map: z.boolean() },
  part: "pictures",
  plan: (_, source, codec) => ({ tone_map: source.color?.hdr === true && !keepsHdr(source, codec) }),
  doneBy: { native: true, stock: true, fast: ({ color }) => LUMA_MATRICES.has(color.matrix) },
  refusal: { code: "tone_mapping", clause: () => "it cannot map HDR to SDR" },
  stage: "tone",
  pictures: (fields, context) => (fields.tone_map ? filters(context) : []),
  color: (fields) => (fields.tone_map ? BT709 : null),
  losses: (fields) => (fields.tone_map ? ["hdr"] : []),
  cost: () => ({
    native: { seconds: 0.03, memory: 50 },
    stock: { seconds: 0.13, memory: 64 },
    fast: { seconds: 0.03, memory: 64 },
  }),
});

// Some decoders do not pass on color properties, and zscale rejects odd sizes unless in 4:4:4.
function filters({ engine, color: { primaries, transfer, matrix } }: FilterContext): string[] {
  const input = `pin=${primaries ?? "bt2020"}:tin=${transfer ?? "smpte2084"}:min=${matrix ?? "bt2020nc"}`;
  if (engine === "fast") return [`tonemap_bt709=${input}`];
  const linear = "t=linear:npl=100";
  return [
    // dav1d returns RGB other than sRGB as YUV, which zscale rejects; both have the planes green, blue and red.
    ...(matrix === "gbr"
      ? ["mergeplanes=0x000102:gbrp10le", `zscale=${input}:p=${primaries ?? "bt2020"}:rin=full:${linear}`]
      : ["format=yuv444p10le", `zscale=${input}:rin=limited:${linear}`]),
    "format=gbrpf32le",
    "zscale=p=bt709",
    "tonemap=hable:desat=0",
    "zscale=t=bt709:m=bt709:r=limited",
    "format=yuv444p",
  ];
}
