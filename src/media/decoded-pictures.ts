import { pictureFormat } from "./containers.ts";
import { refuseFeature } from "./features.ts";
import { type Size, type StoredPicture, storedPicture } from "./picture-geometry.ts";
import { type Geometry, type Plan, plannedOf } from "./plan.ts";
import type { PictureKind } from "./plan-errors.ts";
import * as errors from "./plan-errors.ts";
import type { RefusalReason } from "./refusal.ts";
import type { Source } from "./source.ts";

/** The formats in which a host's own decoder passes pictures to ffmpeg. */
export type DecodedFormat = "png" | "bmp";

/** Returns whether a host's own decoder must decode a source, because ffmpeg (5.1) misreads it or cannot read it. */
export function needsDecoder({ kind, format, animated, color }: Source): boolean {
  if (kind !== "image") return false;
  const { decoder } = pictureFormat(format);
  if (decoder === "animations") return animated === true;
  // Hosts' decoders lose HDR, so ffmpeg decodes and tone-maps an HDR AVIF.
  return decoder === "all" || (decoder === "stills" && animated !== true && color?.hdr !== true);
}

/** Returns whether decoding a source yields an animation: libheif and browsers decode only the primary picture of a HEIC. */
export function decodesFrames({ format, animated }: Source): boolean {
  return animated === true && pictureFormat(format).decoder !== "all";
}

/**
 * Returns whether a decoder composes the frames of a source from stills, which it decodes without the file's EXIF orientation and color
 * profile.
 */
export function composesFrames({ format }: Source): boolean {
  return pictureFormat(format).decoder === "animations";
}

/** Returns the Source of a decoder's output: in RGB, and upright unless it is a WebP. */
export function decodedSource(source: Source, format: DecodedFormat): Source {
  const { rotation, flipped, coded_width, coded_height, transparent_color: _, ...rest } = source;
  const { width, height, has_alpha, color } = source;
  const animated = decodesFrames(source);
  const { primaries, transfer, hdr = false } = color ?? {};
  return {
    ...rest,
    format,
    mime: `image/${format}`,
    ...(source.animated !== undefined && { animated }),
    codecs: { video: animated ? "apng" : format, audio: null },
    ...(composesFrames(source)
      ? {
          ...(rotation !== undefined && { rotation }),
          ...(flipped && { flipped }),
          ...(coded_width && coded_height && { coded_width, coded_height }),
        }
      : { rotation: 0, ...(width && height && { coded_width: width, coded_height: height }) }),
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

/** Returns the plan for a decoder's output, which is already upright unless it is a WebP. */
export function decodedPlan(plan: Plan, source: Source): Plan {
  const { image } = plan;
  if (!image || composesFrames(source)) return plan;
  return { ...plan, image: { ...image, geometry: uprightGeometry(image.geometry, source) } };
}

/** Returns whether ffmpeg decodes moving pictures upright: it applies display matrices, but not EXIF orientations (5.1). */
export function autorotates({ kind, format }: Source): boolean {
  return kind !== "image" || pictureFormat(format).matrix === true;
}

/** Returns the geometry that remains after a decoder has applied the source's own rotation and mirroring. */
export function uprightGeometry(geometry: Geometry, { flipped }: Source): Geometry {
  return { ...geometry, rotate: geometry.turn, mirror: geometry.mirror !== (flipped === true) };
}

/** Returns why a host that decodes the formats `decoded` cannot decode the pictures of a plan; null when it can. */
export function refuseDecoding(
  plan: Plan,
  source: Source,
  decoded: ReadonlySet<string>,
): RefusalReason | null {
  const { format, animated, has_alpha, color } = source;
  if (pictureFormat(format).decoder === "stills" && !animated && color?.hdr && has_alpha)
    return { code: "input_transparent" };
  if (!needsDecoder(source)) return null;
  // heif-convert 1.15 refuses sequences.
  if (!decoded.has(format) || (animated && !decodesFrames(source))) {
    return { code: "input_format", format: animated ? `animated ${format}` : format };
  }
  return refuseFeature("tone_map", plannedOf(plan));
}

/** Limits on rendering a vector source: total pixels, and pixels of a side. */
export interface DrawnLimits {
  pixels: number;
  side: number;
}

/**
 * Returns the size at which to render a vector source for a plan, so that the output is as sharp as possible, and the plan for a
 * source of that size.
 */
export function drawnPlan(plan: Plan, source: Source, limits: DrawnLimits): { plan: Plan; size: Size } {
  const { image } = plan;
  const own = { width: source.width ?? 1, height: source.height ?? 1 };
  if (!image?.geometry.scale) return { plan, size: own };
  const { size, crop } = scaled(own, image.geometry, image.geometry.scale, limits);
  return { plan: { ...plan, image: { ...image, geometry: { ...image.geometry, crop } } }, size };
}

function scaled(own: Size, { rotate, crop }: Geometry, scale: Size, limits: DrawnLimits) {
  const sideways = rotate % 180 !== 0;
  const turned = sideways ? { width: own.height, height: own.width } : own;
  const view = crop ?? turned;
  const ideal = {
    width: (turned.width * scale.width) / view.width,
    height: (turned.height * scale.height) / view.height,
  };
  const { pixels, side } = limits;
  const share = Math.min(
    1,
    Math.sqrt(pixels / (ideal.width * ideal.height)),
    side / Math.max(ideal.width, ideal.height),
  );
  const picture = {
    width: length(ideal.width * share),
    height: length(ideal.height * share),
  };
  const [across, down] = [picture.width / turned.width, picture.height / turned.height];
  return {
    size: sideways ? { width: picture.height, height: picture.width } : picture,
    crop: crop && {
      x: Math.floor(crop.x * across),
      y: Math.floor(crop.y * down),
      width: length(crop.width * across),
      height: length(crop.height * down),
    },
  };
}

function length(pixels: number): number {
  return Math.max(1, Math.floor(pixels + 1e-6));
}

/** Returns the stored picture of a still or moving source; throws `input_no_video` or `input_unsupported`. */
export function anyPicture(source: Source, kind: PictureKind): StoredPicture {
  if (!hasVideo(source)) throw errors.noPictures({ kind });
  const stored = storedPicture(source);
  if (!stored) throw errors.pictureSizeUnknown();
  return stored;
}

/** Returns the stored picture of a video or an animation; throws as {@link anyPicture} does, also for a still. */
export function movingPicture(source: Source, kind: PictureKind = "video"): StoredPicture {
  if (source.kind === "image" && source.animated !== true) throw errors.stillImage();
  return anyPicture(source, kind);
}

/** Returns whether a source has pictures. */
export function hasVideo(source: Source): boolean {
  return source.codecs ? source.codecs.video !== null : source.kind !== "audio";
}
