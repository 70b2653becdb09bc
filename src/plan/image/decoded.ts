import type { RefusalReason } from "../../core/refusal.ts";
import type { Source } from "../../core/source.ts";
import type { Geometry, Plan } from "../plan.ts";

/** What a host's own decoder writes for ffmpeg to read. */
export type DecodedFormat = "png" | "bmp";

/**
 * Returns whether ffmpeg (5.1) misreads a source's pictures or cannot read them: of HEIC it takes a tile for the whole, of AVIF
 * it loses transparency, mirroring and tiles, and it reads neither an animated WebP nor an SVG. A host's own decoder then reads them first.
 */
export function needsDecoder({ kind, format, animated, color }: Source): boolean {
  if (kind !== "image") return false;
  // What those decoders write holds no HDR, and ffmpeg maps that of an AVIF.
  if (format === "webp") return animated === true;
  return (
    format === "heic" || format === "svg" || (format === "avif" && animated !== true && color?.hdr !== true)
  );
}

/** Returns the source that a decoder's output is: upright, in RGB. */
export function decodedSource(source: Source, format: DecodedFormat): Source {
  const { mirrored: _, transparent_color: __, ...rest } = source;
  const { width, height, has_alpha, color } = source;
  // Of a sequence in HEIC, a page decodes the picture that stands for it.
  const animated = source.animated === true && source.format !== "heic";
  const { primaries, transfer, hdr = false } = color ?? {};
  return {
    ...rest,
    format,
    mime: `image/${format}`,
    ...(source.animated !== undefined && { animated }),
    codecs: { video: animated ? "apng" : format, audio: null },
    rotation: 0,
    ...(width && height && { coded_width: width, coded_height: height }),
    pixel_format: has_alpha ? "rgba" : "rgb24",
    color: {
      ...(primaries && { primaries }),
      ...(transfer && { transfer }),
      range: "full",
      bit_depth: 8,
      hdr,
    },
  };
}

/** Returns the plan for a decoder's output, which it has turned upright. */
export function decodedPlan(plan: Plan, source: Source): Plan {
  const { image } = plan;
  if (!image) return plan;
  return { ...plan, image: { ...image, geometry: uprightGeometry(image.geometry, source) } };
}

/** Returns the geometry that remains after a decoder has applied the source's own rotation and mirroring. */
export function uprightGeometry(geometry: Geometry, { mirrored }: Source): Geometry {
  return { ...geometry, rotate: geometry.turn, mirror: geometry.mirror !== (mirrored === true) };
}

/** Returns why a host whose decoders read these formats cannot decode the pictures of a plan; null when it can. */
export function refuseDecoding(
  plan: Plan,
  source: Source,
  decoded: ReadonlySet<string>,
): RefusalReason | null {
  const { format, animated, has_alpha, color } = source;
  // ffmpeg, which reads it for its HDR, loses the transparency of a still.
  if (format === "avif" && !animated && color?.hdr && has_alpha) return { code: "input_transparent" };
  if (!needsDecoder(source)) return null;
  // heif-convert 1.15 refuses sequences.
  if (!decoded.has(format) || (format === "heic" && animated)) {
    return { code: "input_format", format: animated ? `animated ${format}` : format };
  }
  return plan.image?.tone_map ? { code: "tone_mapping" } : null;
}
