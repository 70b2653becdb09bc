import { invalid, MediaError } from "../../core/errors.ts";
import { BOUNDS, STORYBOARD_DEFAULTS } from "../../core/formats.ts";
import type { StoryboardOptions } from "../../core/options.ts";
import type { Sheet } from "../plan.ts";
import type { Size } from "../size.ts";
import type { Span } from "../span.ts";

// A tile that would begin this close to the end shows nothing of its own.
const NUDGE = 0.001;
// A WebP's longest side in pixels.
const MOST_SIDE = 16_383;

/** Decides how many tiles a storyboard has, when, and on how many sheets. Throws `invalid_options` for too many, or too large a sheet. */
export function createSheet(span: Span, options: StoryboardOptions, tile: Size): Sheet {
  const { duration } = span;
  if (duration === null) {
    throw new MediaError("input_unsupported", "The source's duration is unknown; a storyboard needs it.");
  }
  const interval = Math.round((options.interval ?? usualInterval(duration)) * 1000) / 1000;
  const tiles = countTiles(duration, interval);
  if (tiles > BOUNDS.storyboard_tiles.max) {
    const rule = `must make at most ${BOUNDS.storyboard_tiles.max} tiles; ${interval} s make ${tiles}.`;
    throw invalid("options.interval", rule, "invalid_options");
  }
  const columns = Math.min(tiles, options.columns ?? STORYBOARD_DEFAULTS.columns);
  const rows = Math.min(Math.ceil(tiles / columns), options.rows ?? STORYBOARD_DEFAULTS.rows);
  const side = Math.max(columns * tile.width, rows * tile.height);
  if (side > MOST_SIDE) {
    const rule = `must make sheets of at most ${MOST_SIDE} pixels; these have ${side}.`;
    throw invalid("options.width", rule, "invalid_options");
  }
  const sheets = Math.ceil(tiles / (columns * rows));
  if (sheets > BOUNDS.sheets.max) {
    const rule = `must leave at most ${BOUNDS.sheets.max} sheets; ${columns}x${rows} tiles make ${sheets}.`;
    throw invalid("options.columns", rule, "invalid_options");
  }
  return { interval, tiles, columns, rows, sheets };
}

/** Returns how many tiles there are in a stretch, one every `interval` seconds. */
export function countTiles(duration: number, interval: number): number {
  return Math.max(1, Math.ceil((duration - NUDGE) / interval));
}

function usualInterval(duration: number): number {
  const { interval, tiles } = STORYBOARD_DEFAULTS;
  return Math.min(interval.max, Math.max(interval.min, duration / tiles));
}

/**
 * Returns whether keyframes alone show every tile: whether one lies in the span of time that each stands for. `keyframes` are
 * those of the source, ascending.
 */
export function keyframesSuffice(
  keyframes: readonly number[],
  { start, duration }: Span,
  sheet: Sheet,
): boolean {
  const end = start + (duration ?? 0);
  let next = 0;
  for (let tile = 0; tile < sheet.tiles; tile++) {
    const from = start + tile * sheet.interval;
    const until = Math.min(end, from + sheet.interval);
    while (next < keyframes.length && (keyframes[next] ?? 0) < from - EXACT) next++;
    if (!((keyframes[next] ?? Number.POSITIVE_INFINITY) < until - EXACT)) return false;
  }
  return true;
}

// Times of keyframes are rounded to this.
const EXACT = 1e-6;
