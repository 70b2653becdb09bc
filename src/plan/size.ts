import { invalid } from "../core/errors.ts";
import { toPixels } from "../core/fields.ts";
import { BOUNDS } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import type { GeometryOptions } from "../media/features/geometry.ts";

/** Width and height in pixels. */
export interface Size {
  /** In pixels. */
  width: number;
  /** In pixels. */
  height: number;
}

/**
 * A stored picture: its size, the width of a pixel divided by its height, the clockwise rotation that players apply, and whether they
 * mirror the turned picture.
 */
export interface StoredPicture extends Size {
  pixel_aspect: number;
  rotate: 0 | 90 | 180 | 270;
  mirror?: boolean;
}

/** What the output allows: only even sizes, and the longest side in pixels (default 16384). */
export interface SizeRules {
  even: boolean;
  max?: number;
}

/** Rounds any number of clockwise degrees to 0, 90, 180 or 270. */
export function toRightAngle(degrees: number): 0 | 90 | 180 | 270 {
  const turns = ((Math.round(degrees / 90) % 4) + 4) % 4;
  return ([0, 90, 180, 270] as const)[turns] ?? 0;
}

/** Parses a sample aspect ratio such as `4:3` into a number; 1 when absent, malformed or `0:1` (unknown). */
export function parsePixelAspect(ratio: string | undefined): number {
  const [, across, down] = /^(\d+)[:/](\d+)$/.exec(ratio ?? "") ?? [];
  const value = Number(across) / Number(down);
  return Number.isFinite(value) && value > 0 ? value : 1;
}

/**
 * Returns the size at which players show a stored picture: square pixels by enlarging one side (never losing any), then
 * rotated.
 */
export function displayedSize(stored: StoredPicture): Size {
  const { pixel_aspect: aspect, rotate } = stored;
  const width = Math.round(stored.width * Math.max(1, aspect));
  const height = Math.round(stored.height / Math.min(1, aspect));
  return rotate % 180 === 0 ? { width, height } : { width: height, height: width };
}

/** Returns the stored picture of a source; null when its size is unknown. */
export function storedPicture(source: Source): StoredPicture | null {
  const turned = { rotate: toRightAngle(source.rotation ?? 0), ...(source.mirrored && { mirror: true }) };
  const { coded_width, coded_height, width, height } = source;
  if (coded_width && coded_height) {
    const pixel_aspect = parsePixelAspect(source.sample_aspect_ratio);
    return { width: coded_width, height: coded_height, pixel_aspect, ...turned };
  }
  if (!width || !height) return null;
  const size = turned.rotate % 180 === 0 ? { width, height } : { width: height, height: width };
  return { ...size, pixel_aspect: 1, ...turned };
}

/**
 * Derives the output size from the displayed one; a single given side keeps the aspect ratio. Throws `invalid_options` when
 * the result is empty or too large.
 */
export function targetSize(displayed: Size, options: GeometryOptions, rules: SizeRules): Size {
  const asked = {
    width: toPixels(options.width, displayed.width),
    height: toPixels(options.height, displayed.height),
  };
  const width = asked.width ?? displayed.width * ((asked.height ?? displayed.height) / displayed.height);
  const height = asked.height ?? displayed.height * ((asked.width ?? displayed.width) / displayed.width);
  const max = Math.min(rules.max ?? BOUNDS.pixels.max, BOUNDS.pixels.max);
  const size = { width: snap(width, rules.even), height: snap(height, rules.even) };
  const fits = { width: inBounds(width, size.width, max), height: inBounds(height, size.height, max) };
  if (fits.width && fits.height) return size;
  const sides = (["width", "height"] as const).toSorted((a, b) => Number(fits[a]) - Number(fits[b]));
  const param = `options.${sides.find((side) => options[side] !== undefined) ?? "width"}`;
  const asked_size = `${Math.round(width)}x${Math.round(height)}`;
  const rule = `gives a picture of ${asked_size} pixels; each side must be from 1 to ${max}.`;
  throw invalid(param, rule, "invalid_options");
}

function inBounds(exact: number, snapped: number, max: number): boolean {
  return Math.round(exact) >= 1 && snapped <= max;
}

/** Rounds to whole pixels, or to even ones where required (ties round down; at least 2). */
export function snap(pixels: number, even: boolean): number {
  if (!even) return Math.max(1, Math.round(pixels));
  return Math.max(2, 2 * Math.ceil(pixels / 2 - 0.5));
}
