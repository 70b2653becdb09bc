import { refuseDecoding } from "../media/decoded-pictures.ts";
import { refuseFeatures } from "../media/features.ts";
import type { ImageFormat } from "../media/formats.ts";
import { type Plan, plannedOf } from "../media/plan.ts";
import type { RefusalReason } from "../media/refusal.ts";
import { decodedSounds } from "../media/sound-plan.ts";
import type { Source } from "../media/source.ts";
import { filterContext } from "./color.ts";
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
  const undone = refuseFeatures(plannedOf(plan), {
    ...filterContext(source, toolset.engine),
    lacks: toolset.lacks,
  });
  if (undone) return undone;
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
  return source.has_alpha && !toolset.flattens ? { code: "input_transparent" } : null;
}
