import type { ImageFormat } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import type { Filter } from "../media/feature.ts";
import type { Palette } from "../media/features/animation.ts";
import { overFilters, pictureFilters } from "../media/features.ts";
import type { ImagePlan, Plan } from "../plan/plan.ts";
import { filterContext, isRgb, sourceColor } from "./color.ts";
import { chain, colorFilters, mendFilters, type Sizing, sizeFilters } from "./filters.ts";
import type { Cut } from "./span.ts";
import { imageTool, type Toolset } from "./toolset.ts";

// Above this quality, chroma at half resolution may become visible.
const FULL_CHROMA = 90;

// Too slow for video: full-resolution chroma, and exact rounding.
const FULL_COLOR = "accurate_rnd+full_chroma_int";

/** Returns the filter graph of an image, from `[0:V:0]` to `[video]`. */
export function imageGraph(plan: Plan, source: Source, image: ImagePlan, cut: Cut, toolset: Toolset): string {
  const mended = [
    ...cut.video,
    ...mendFilters({
      ...image,
      clean: pictureFilters("clean", image, filterContext(source, toolset.engine)),
      fps: image.motion?.fps ?? null,
      length: cut.length,
      ...image.geometry,
    }),
    ...gamutFilters(source, image),
  ];
  const last = plan.format === "gif" ? [paletteFilter(image)] : [];
  return `[0:V:0]${chain([...mended, ...imageSizing(plan, source, image, toolset), ...last])}[video]`;
}

// Viewers take an image without a profile for sRGB. RGB tagged with wider primaries comes only from a host's decoder.
const WIDE: ReadonlySet<string | null> = new Set(["smpte432", "bt2020"]);

function gamutFilters(source: Source, { tone_map, alpha }: ImagePlan): string[] {
  const { primaries } = sourceColor(source);
  if (tone_map || !isRgb(source) || !WIDE.has(primaries)) return [];
  const given = `pin=${primaries}:tin=iec61966-2-1:min=gbr:rin=full`;
  const canvas = alpha && source.has_alpha ? "gbrap" : "gbrp";
  return [`format=${canvas}`, `zscale=${given}:p=bt709:t=iec61966-2-1:m=gbr:r=full`];
}

/** Returns the filters that size the pictures of an image and lay its overlay over them. */
export function imageSizing(plan: Plan, source: Source, image: ImagePlan, toolset: Toolset): Filter[] {
  const { geometry } = image;
  const sizing: Sizing = {
    geometry,
    tone: pictureFilters("tone", image, filterContext(source, toolset.engine)),
    alpha: image.alpha && source.has_alpha === true,
    flags: `${toolset.scaler}+${FULL_COLOR}`,
    ...pixelsOf(plan.format as ImageFormat, image),
  };
  const { canvas, flags } = sizing;
  const over = overFilters(image, { at: 0, fps: null, yuv: null, flags, files: [] });
  if (over.length === 0) return sizeFilters(source, sizing);
  // In RGB, where it lies to the pixel.
  const under = sizeFilters(source, { ...sizing, pixels: canvas, matrix: null, range: "pc" });
  return [...under, ...over, ...colorFilters(sizing)];
}

export function imageArgs(plan: Plan, image: ImagePlan, toolset: Toolset): string[] {
  const format = plan.format as ImageFormat;
  const tool = imageTool(toolset, format, image);
  if (!tool) throw new RangeError(`${toolset.name} has no ${format} encoder.`);
  return [...["-c:v", tool.encoder, ...tool.args], ...qualityArgs(format, image), ...timingArgs(image)];
}

function timingArgs({ animated, sheet }: ImagePlan): string[] {
  if (sheet) return ["-fps_mode", "passthrough"];
  return animated ? ["-fps_mode", "vfr", "-enc_time_base", "1:1000"] : ["-frames:v", "1"];
}

/** Converts a JPEG quality of 1 to 100, as in libjpeg, to ffmpeg's 1 to 31 (lower is better). */
export function jpegScale(quality: number): number {
  const percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  return Math.min(31, Math.max(1, Math.round(percent / 6)));
}

function qualityArgs(format: ImageFormat, { quality, effort }: ImagePlan): string[] {
  if (quality === null) return [];
  if (format === "jpeg") return ["-q:v", String(jpegScale(quality))];
  const method = effort === undefined ? [] : ["-compression_level", String(effort)];
  if (format === "webp") return ["-quality", String(quality), ...method];
  return ["-crf", String(quality), "-b:v", "0"];
}

// Decoders assume BT.601 for JPEG and WebP, whatever the video had.
function pixelsOf(format: ImageFormat, image: ImagePlan) {
  const palette = image.motion?.palette;
  // What the palette's filters take: they hold all frames, which a conversion would double.
  const canvas = palette ? "bgra" : image.alpha ? "rgba" : "rgb24";
  const rgb = { pixels: canvas, canvas, matrix: null, range: "pc" } as const;
  if (format === "png" || format === "gif") return rgb;
  if (format === "jpeg") {
    const pixels = (image.quality ?? 0) >= FULL_CHROMA ? "yuvj444p" : "yuvj420p";
    return { pixels, canvas, matrix: "bt601", range: "pc" } as const;
  }
  return { pixels: image.alpha ? "yuva420p" : "yuv420p", canvas, matrix: "bt601", range: "tv" } as const;
}

// An animation has one palette, for which all frames wait. Elsewhere each frame has its own, so that none has to.
function paletteFilter(image: ImagePlan): string {
  const palette = image.motion?.palette;
  if (palette) return clipPalette(palette, image.alpha);
  const reserve = image.alpha ? 1 : 0;
  const dither = image.animated ? ":dither=bayer:bayer_scale=4" : "";
  return (
    `split[look][use];[look]palettegen=reserve_transparent=${reserve}:stats_mode=single[palette];` +
    `[use][palette]paletteuse=new=1${dither}`
  );
}

function clipPalette({ colors, dither }: Palette, alpha: boolean): string {
  const pattern = typeof dither === "number" ? `bayer:bayer_scale=${dither}` : dither;
  return (
    `split[look][use];[look]palettegen=max_colors=${colors}:reserve_transparent=${Number(alpha)}[palette];` +
    `[use][palette]paletteuse=dither=${pattern}:diff_mode=rectangle`
  );
}
