import type { ImageFormat } from "../core/formats.ts";
import type { RefusalReason } from "../core/refusal.ts";
import type { Source } from "../core/source.ts";
import { decodedSounds } from "../plan/audio.ts";
import { refuseDecoding } from "../plan/image/decoded.ts";
import type { Plan } from "../plan/plan.ts";
import { sourceColor } from "./color.ts";
import { imageTool, type Toolset } from "./toolset.ts";

/** Returns why a build of ffmpeg cannot run a plan; null when it can. */
export function refuseTools(plan: Plan, source: Source, toolset: Toolset): RefusalReason | null {
  const { video, audio, image } = plan;
  const decodes = image !== null || video?.mode === "encode";
  const codec = source.codecs?.video ?? "";
  if (decodes && toolset.unreadable.includes(codec)) return { code: "input_codec", codec };
  const undecoded = decodes ? refuseDecoding(plan, source, toolset.decoded) : null;
  if (undecoded) return undecoded;
  if (video?.mode === "encode" && !toolset.video[video.codec]) {
    return { code: "output_codec", codec: video.codec };
  }
  if (video?.mode === "encode") {
    const min_side = toolset.least[video.codec] ?? 1;
    if (Math.min(video.geometry.width, video.geometry.height) < min_side) {
      return { code: "output_too_small", codec: video.codec, min_side };
    }
  }
  if (audio?.mode === "encode" && !toolset.audio[audio.codec]) {
    return { code: "output_codec", codec: audio.codec };
  }
  if (audio && plan.speed !== undefined && !toolset.tempo) return { code: "tempo" };
  const overlay = video?.mode === "encode" ? video.overlay : image?.overlay;
  if (overlay && !toolset.overlays) return { code: "overlay" };
  if (video?.mode === "encode" && video.burn && !toolset.burns) return { code: "burn" };
  if (plan.concat && !toolset.concatenates) return { code: "concat" };
  const unreadable = plan.concat?.find(
    ({ source: { codecs }, video: each }) => each && toolset.unreadable.includes(codecs?.video ?? ""),
  );
  if (unreadable) return { code: "input_codec", codec: unreadable.source.codecs?.video ?? "" };
  if (!image) return refuseSource(plan, source, toolset);
  const format = plan.format as ImageFormat;
  if (!imageTool(toolset, format, image)) {
    return { code: "output_format", format, animated: image.animated && !image.sheet };
  }
  if ((image.motion?.loop ?? 0) > 0 && toolset.endless.includes(format))
    return { code: "output_repeats", format };
  if (image.alpha && toolset.opaque.includes(format)) return { code: "output_transparent", format };
  return null;
}

// What tonemap_bt709 reads: luma of R'G'B', as opposed to that of light.
const LUMA_MATRICES: ReadonlySet<string | null> = new Set([
  null,
  "bt2020nc",
  "bt709",
  "bt470bg",
  "smpte170m",
]);

function mapsTone(source: Source, { toneMapper }: Toolset): boolean {
  return toneMapper === "zscale" || LUMA_MATRICES.has(sourceColor(source).matrix);
}

function refuseSource(plan: Plan, source: Source, toolset: Toolset): RefusalReason | null {
  const { video } = plan;
  const { readable } = toolset;
  const { format, codecs } = source;
  if (readable && !readable.formats.has(format)) return { code: "input_format", format };
  const decoded = [video?.mode === "encode" ? codecs?.video : null, ...decodedSounds(plan, source)];
  const codec = decoded.find((name) => name && readable && !readable.codecs.has(name));
  if (codec) return { code: "input_codec", codec };
  if (video?.mode !== "encode") return null;
  const [coded, bit_depth] = [codecs?.video ?? "", source.color?.bit_depth];
  if (bit_depth && readable?.depths[coded]?.has(bit_depth) === false) {
    return { code: "input_depth", codec: coded, bit_depth };
  }
  if (video.tone_map && !mapsTone(source, toolset)) return { code: "tone_mapping" };
  return source.has_alpha && !toolset.flattens ? { code: "input_transparent" } : null;
}
