import { pictureFormat } from "../containers.ts";
import type { Filter } from "../feature.ts";
import type { Motion } from "../features/animation.ts";
import { staleProfileFilters } from "../features/color-profile.ts";
import type { RunInput } from "../features/parts-graph.ts";
import { partPictures } from "../features/parts-pictures.ts";
import { overFilters, pictureFilters } from "../features.ts";
import type { ImageFormat } from "../formats.ts";
import { videoStream } from "../main-tracks.ts";
import { storedPicture } from "../picture-geometry.ts";
import type { Chunk, Geometry, ImagePlan, Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { filterContext } from "./color.ts";
import * as errors from "./errors.ts";
import {
  chain,
  cleanupFilters,
  colorFilters,
  lastFrameDuration,
  type Scaling,
  scalingFilters,
} from "./picture-graph.ts";
import { imageTool, type Toolset } from "./toolset.ts";
import type { Trim } from "./trim.ts";

const FULL_CHROMA = 90;

const FULL_COLOR = "accurate_rnd+full_chroma_int";

/** The inputs that read the parts of an animation, and the path prefix of their lists. */
export interface ImageParts {
  chunk: Chunk;
  runs: readonly RunInput[];
  lists?: string | undefined;
}

/** The files that a graph reads besides the source. */
export interface ImageInputs {
  /** Paths of the plan's extra files. */
  files: readonly string[];
  /** Parts of an animation; null for an unbroken range. */
  parts: ImageParts | null;
}

/** Returns the filter graph of an image, from its stream to `[video]`. */
export function imageGraph(
  plan: Plan,
  source: Source,
  image: ImagePlan,
  trim: Trim,
  toolset: Toolset,
  { files, parts }: ImageInputs,
): string {
  const context = filterContext(source, toolset.engine);
  const clean = pictureFilters("clean", image, context);
  const fps = image.motion?.fps ?? null;
  const cleaned = [
    ...(source.pixel_format === "cmyk" ? FROM_CMYK : []),
    ...(parts ? [] : trim.video),
    ...cleanupFilters({
      ...image,
      clean: parts ? [] : clean,
      profile: pictureFilters("profile", image, context),
      fps: parts ? null : fps,
      length: trim.length,
      ...image.geometry,
    }),
    ...staleProfileFilters(plan.format, source, image.to_srgb),
  ];
  const last = pictureFormat(plan.format).palette === "always" ? [paletteFilter(image)] : [];
  const from = parts
    ? `${partPictures(plan, parts.chunk, parts.runs, source, { clean, fps, lists: parts.lists })};[parts]`
    : `[${videoStream(source)}]`;
  return `${from}${chain([...cleaned, ...imageScaling(plan, source, image, toolset, files), ...last])}[video]`;
}

// The planes in which ffmpeg decodes CMYK without a marker, each 255 for no ink: cyan, magenta and yellow become red, green and blue,
// which black darkens.
const FROM_CMYK = ["mergeplanes=0x01020003:gbrap", "premultiply=inplace=1", "format=gbrp"];

/** Returns the filters that scale the pictures of an image and draw over them. */
export function imageScaling(
  plan: Plan,
  source: Source,
  image: ImagePlan,
  toolset: Toolset,
  files: readonly string[],
): Filter[] {
  const { geometry } = image;
  const context = filterContext(source, toolset.engine);
  const scaling: Scaling = {
    geometry,
    tone: pictureFilters("tone", image, context),
    profile: image.matte === null ? pictureFilters("profile", image, context) : [],
    alpha: image.alpha && source.has_alpha === true,
    flags: `${toolset.scaler}+${FULL_COLOR}`,
    ...pixelsOf(plan.format, image, toolset),
  };
  const { canvas, flags } = scaling;
  const over = overFilters(
    { ...image, picture_fades: plan.picture_fades },
    { at: 0, fps: null, yuv: null, flags, files },
  );
  const { color_filter } = pictureFormat(plan.format);
  const tags = color_filter === undefined ? [] : [color_filter];
  if (over.length === 0) return [...scalingFilters(source, scaling), ...tags];
  const under = scalingFilters(source, { ...scaling, pixels: canvas, matrix: null, range: "pc" });
  return [...under, ...over, ...colorFilters(scaling), ...tags];
}

export function imageArgs(plan: Plan, source: Source, image: ImagePlan, toolset: Toolset): string[] {
  const format = plan.format as ImageFormat;
  const tool = imageTool(toolset, format, image);
  if (!tool) throw errors.encoderMissing({ tools: toolset.name, codec: format });
  return [
    ...["-c:v", tool.encoder, ...tool.args],
    ...qualityArgs(format, image),
    ...timingArgs(plan, source, image),
  ];
}

function timingArgs(
  { format, duration }: Plan,
  source: Source,
  { animated, sheet, alpha }: ImagePlan,
): string[] {
  if (sheet) return ["-fps_mode", "passthrough"];
  if (!animated) return ["-frames:v", "1"];
  const { alpha_args = [], frame_clock } = pictureFormat(format);
  const timing = [...(alpha ? alpha_args : []), "-fps_mode", "vfr", "-enc_time_base"];
  if (frame_clock === undefined || duration === null) return [...timing, "1:1000"];
  const last = lastFrameDuration({ format }, source, duration, frame_clock);
  // The encoder's time base must be the muxer's.
  return [...timing, `1:${frame_clock}`, "-bsf:v", last];
}

/** Converts a JPEG quality of 1 to 100, as in libjpeg, to ffmpeg's 1 to 31 (lower is better). */
export function jpegScale(quality: number): number {
  const percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  return Math.min(31, Math.max(1, Math.round(percent / 6)));
}

function qualityArgs(format: ImageFormat, { quality, effort }: ImagePlan): string[] {
  if (quality === null) return [];
  switch (pictureFormat(format).quality_option) {
    case "-q:v":
      return ["-q:v", String(jpegScale(quality))];
    case "-quality":
      return [
        ...["-quality", String(quality)],
        ...(effort === undefined ? [] : ["-compression_level", String(effort)]),
      ];
    default:
      return ["-crf", String(quality), "-b:v", "0"];
  }
}

// Decoders assume BT.601 for JPEG and WebP, regardless of the source.
function pixelsOf(format: string, image: ImagePlan, { engine }: Toolset) {
  const { yuv } = pictureFormat(format);
  const palette = image.motion?.palette;
  // The palette filters' native format: they buffer all frames, and a conversion would double the memory.
  const canvas = palette ? "bgra" : image.alpha ? "rgba" : "rgb24";
  const rgb = { pixels: canvas, canvas, matrix: null, range: "pc" } as const;
  if (yuv === undefined) return rgb;
  if (yuv === "full") {
    // The stock core's encoder (5.1.4) gives an odd last column and row the subsampled chroma of their neighbors.
    const losesChroma =
      engine === "stock" && (image.geometry.width % 2 === 1 || image.geometry.height % 2 === 1);
    const pixels = losesChroma || (image.quality ?? 0) >= FULL_CHROMA ? "yuvj444p" : "yuvj420p";
    return { pixels, canvas, matrix: "bt601", range: "pc" } as const;
  }
  return { pixels: image.alpha ? "yuva420p" : "yuv420p", canvas, matrix: "bt601", range: "tv" } as const;
}

// On noise, the SSIM between this and scaling from the full size is 0.993.
const MIN_RATIO = 1.5;

/**
 * Plans to halve the sides of a JPEG during decoding, as often as leaves them at least 1.5 times those of the output: faster, and each
 * time in a quarter of the memory. Returns the plan unchanged when even one halving would be too much.
 */
export function shrinkPlan(plan: Plan, source: Source): Plan {
  const { image } = plan;
  const picture = storedPicture(source);
  if (!image || !picture || !plan.still || !image.geometry.scale) return plan;
  if (!pictureFormat(source.format).halves) return plan;
  const { crop, rotate, scale } = image.geometry;
  const turned = rotate % 180 === 0 ? picture : { width: picture.height, height: picture.width };
  const view = crop ?? turned;
  const ratio = Math.min(view.width / scale.width, view.height / scale.height) / MIN_RATIO;
  const halvings = Math.min(3, Math.floor(Math.log2(ratio)));
  if (halvings < 1) return plan;
  const shrink = halvings as 1 | 2 | 3;
  return { ...plan, image: { ...image, shrink, geometry: shrinkCrop(image.geometry, 2 ** shrink) } };
}

function shrinkCrop(geometry: Geometry, by: number): Geometry {
  if (!geometry.crop) return geometry;
  const { x, y, width, height } = geometry.crop;
  const crop = {
    x: Math.floor(x / by),
    y: Math.floor(y / by),
    width: Math.floor(width / by),
    height: Math.floor(height / by),
  };
  return { ...geometry, crop };
}

/** Returns the filter that reduces a GIF to a palette: one for all frames of an animation, otherwise one per frame. */
function paletteFilter({
  animated,
  alpha,
  motion,
}: {
  animated: boolean;
  alpha: boolean;
  motion?: Motion | undefined;
}): string {
  const reserve = `reserve_transparent=${Number(alpha)}`;
  if (motion?.palette) {
    const { colors, dither } = motion.palette;
    const pattern = typeof dither === "number" ? `bayer:bayer_scale=${dither}` : dither;
    return (
      `split[look][use];[look]palettegen=max_colors=${colors}:${reserve}[palette];` +
      `[use][palette]paletteuse=dither=${pattern}:diff_mode=rectangle`
    );
  }
  const dither = animated ? ":dither=bayer:bayer_scale=4" : "";
  return (
    `split[look][use];[look]palettegen=${reserve}:stats_mode=single[palette];` +
    `[use][palette]paletteuse=new=1${dither}`
  );
}
