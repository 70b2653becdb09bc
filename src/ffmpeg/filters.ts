import type { Filter } from "../media/feature.ts";
import { ntscRate } from "../media/features/fps.ts";
import type { Size } from "../media/picture-geometry.ts";
import type { Geometry } from "../media/plan.ts";
import type { Source } from "../media/source.ts";
import { isRgb } from "./color.ts";

/** What to fix in pictures before they are sized. */
export interface Cleanup {
  /** Filters that clean pictures while their neighbors are there. */
  clean: readonly string[];
  /** Frames per second; null keeps the timing. */
  fps: number | null;
  /** Length of the stretch in seconds; null up to the end. */
  length: number | null;
  rotate: Geometry["rotate"];
  mirror: boolean;
  matte: string | null;
}

/** The target that pictures are sized to. */
export interface Scaling {
  geometry: Geometry;
  /** Filters that change the colors of the sized pictures; empty keeps them. */
  tone: readonly string[];
  /** ffmpeg's pixel formats of the output, and of the canvas that is padded. */
  pixels: string;
  canvas: string;
  /** YUV matrix and range; null keeps the matrix. */
  matrix: string | null;
  range: "tv" | "pc";
  /** Whether to keep the source's transparency. */
  alpha: boolean;
  flags: string;
}

const TURNS = { 0: [], 90: ["transpose=clock"], 180: ["hflip", "vflip"], 270: ["transpose=cclock"] } as const;

/** Returns the filters that deinterlace, retime and turn pictures and flatten transparency. */
export function cleanupFilters(cleanup: Cleanup): string[] {
  const filters: string[] = [...cleanup.clean];
  if (cleanup.fps !== null) filters.push(...fpsFilters(cleanup.fps, cleanup.length));
  filters.push(...TURNS[cleanup.rotate]);
  if (cleanup.mirror) filters.push("hflip");
  if (cleanup.matte !== null) filters.push(matteFilter(cleanup.matte));
  return filters;
}

/** Returns the filters that crop, scale, tone-map and pad pictures to their output size and pixel format. */
export function scalingFilters(source: Source, scaling: Scaling): string[] {
  const { crop, scale } = scaling.geometry;
  const filters = crop ? [`crop=${crop.width}:${crop.height}:${crop.x}:${crop.y}:exact=1`] : [];
  if (scaling.tone.length > 0) {
    filters.push(...(scale ? [scaleFilter(scaling, scale)] : []), ...scaling.tone, ...finish(scaling, null));
  } else if (scale && scaling.alpha) {
    // Premultiplied, so that the colors of transparent pixels do not bleed into the edges.
    const scaled = [
      "format=gbrap",
      "premultiply=inplace=1",
      scaleFilter(scaling, scale),
      "unpremultiply=inplace=1",
    ];
    filters.push(...scaled, ...finish(scaling, null));
  } else {
    const plain = !isRgb(source) && source.color?.range !== "full" && scaling.matrix === null;
    if (plain && !scale && !scaling.geometry.pad) filters.push(`format=${scaling.pixels}`);
    else filters.push(...finish(scaling, scale));
  }
  return [...filters, "setsar=1"];
}

/** Returns the filters that convert sized pictures to the colors and the pixel format of the output. */
export function colorFilters(scaling: Scaling): string[] {
  return [scaleFilter(scaling, null, colorsOf(scaling)), `format=${scaling.pixels}`];
}

// Padding needs a canvas with a full color per pixel; the output format comes last.
function finish(scaling: Scaling, scale: Size | null): string[] {
  const { geometry, canvas, pixels } = scaling;
  const { pad } = geometry;
  const color = colorsOf(scaling);
  const bars = pad ? [`pad=${pad.width}:${pad.height}:${pad.x}:${pad.y}:${pad.color}`] : [];
  if (!pad || canvas === pixels) return [scaleFilter(scaling, scale, color), `format=${pixels}`, ...bars];
  const first = scale ? [scaleFilter(scaling, scale)] : [];
  return [...first, `format=${canvas}`, ...bars, ...colorFilters(scaling)];
}

function colorsOf({ range, matrix }: Scaling): string[] {
  return [`out_range=${range}`, ...(matrix ? [`out_color_matrix=${matrix}`] : [])];
}

function scaleFilter(scaling: Scaling, size: Size | null, color: readonly string[] = []): string {
  const parts = [...(size ? [`${size.width}:${size.height}`] : []), `flags=${scaling.flags}`, ...color];
  return `scale=${parts.join(":")}`;
}

// Derives a plain background of equal size and timing from the picture itself; drawbox cannot replace RGBA in ffmpeg 5.1.
function matteFilter(color: string): string {
  const [red, green, blue] = [2, 4, 6].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return (
    "format=rgba,split[over][under];" +
    `[under]lutrgb=r=${red}:g=${green}:b=${blue}:a=255[base];[base][over]overlay=format=rgb`
  );
}

// Every stretch holds exactly its share of frames, however sparse those of the source are.
function fpsFilters(fps: number, length: number | null): string[] {
  const filter = `fps=${fpsText(fps)}:start_time=0`;
  if (length === null) return [filter];
  const frames = Math.max(1, Math.round(length * fps));
  // Pass the last picture on even if it lasts less than half a frame: it may be the only one.
  return [`${filter}:eof_action=pass`, "tpad=stop=-1:stop_mode=clone", `trim=end_frame=${frames}`];
}

/** Joins filters of one chain; those of two pictures take the second from a chain of their own. */
export function chain(filters: readonly Filter[]): string {
  const texts = filters.map((each, at) => {
    if (typeof each !== "string") return `[under];${each.second}[over];[under][over]${each.filter}`;
    return at === 0 ? each : `,${each}`;
  });
  return texts.join("");
}

/** Formats frames per second for ffmpeg: NTSC rates as fractions. */
export function fpsText(fps: number): string {
  const whole = ntscRate(fps);
  return whole === null ? String(fps) : `${whole * 1000}/1001`;
}
