import { z } from "zod";
import { type OptionValues, option, optionGroup } from "../feature.ts";
import { size, wholeWithin, within } from "../fields.ts";
import { BOUNDS, STORYBOARD_DEFAULTS, WEBP_MAX_SIDE } from "../formats.ts";
import * as errors from "../plan-errors.ts";

const TILES = "a whole number of tiles";
const MAX_TILES = BOUNDS.storyboard_tiles.max;
const MAX_SPRITES = BOUNDS.sheets.max;

/** Small pictures of a video, laid out as tiles on sprites. */
export const storyboard = optionGroup({
  options: {
    width: option({
      kinds: ["storyboard"],
      schema: size.optional().meta({
        description: "Width of a tile in pixels, or as a percentage of the displayed source.",
        default: STORYBOARD_DEFAULTS.width,
      }),
      control: "number",
      placed: true,
      words: { label: "Width of a picture", unit: "pixels", empty: String(STORYBOARD_DEFAULTS.width) },
    }),
    interval: option({
      kinds: ["storyboard"],
      schema: within(BOUNDS.interval, "a number of seconds").optional().meta({
        description: "Seconds between tiles; by default a hundredth of the duration, from 1 to 10.",
        example: 10,
      }),
      control: "number",
      placed: true,
      words: { label: "Seconds between pictures", empty: "1 to 10, by the duration" },
    }),
    columns: option({
      kinds: ["storyboard"],
      schema: wholeWithin(BOUNDS.tiles, TILES)
        .optional()
        .meta({ description: "Number of tiles across a sheet.", default: STORYBOARD_DEFAULTS.columns }),
      control: "number",
      placed: true,
      words: { label: "Pictures across a sheet", empty: String(STORYBOARD_DEFAULTS.columns) },
    }),
    rows: option({
      kinds: ["storyboard"],
      schema: wholeWithin(BOUNDS.tiles, TILES)
        .optional()
        .meta({ description: "Number of tiles down a sheet.", default: STORYBOARD_DEFAULTS.rows }),
      control: "number",
      placed: true,
      words: { label: "Pictures down a sheet", empty: String(STORYBOARD_DEFAULTS.rows) },
    }),
  },
  summary: ({ interval }) => (interval === undefined ? null : describeInterval(interval)),
});

type StoryboardOptions = OptionValues<typeof storyboard.options>;

/** Describes the interval between pictures. */
export function describeInterval(interval: number): string {
  return `one every ${interval === 1 ? "second" : `${interval} seconds`}`;
}

const count = z.int().min(1).max(10_000);
/** The times and the layout of a storyboard's tiles. */
export const Sprite = z.strictObject({
  /** Seconds from one tile to the next, in whole milliseconds. */
  interval: z.number().min(0.001).max(1e7),
  tiles: count,
  columns: count,
  rows: count,
  sheets: count,
});
/** The times and the layout of a storyboard's tiles. */
export interface Sprite extends z.infer<typeof Sprite> {}

/**
 * Plans the number, times and layout of a storyboard's tiles.
 *
 * @throws `invalid_options` for too many tiles or too large a sprite, and `input_unsupported` for an unknown duration.
 */
export function planSprite(
  duration: number | null,
  options: StoryboardOptions,
  tile: { width: number; height: number },
): Sprite {
  if (duration === null) throw errors.storyboardDurationUnknown();
  const interval = Math.round((options.interval ?? defaultInterval(duration)) * 1000) / 1000;
  const tiles = countTiles(duration, interval);
  if (tiles > MAX_TILES) throw errors.tooManyTiles({ max: MAX_TILES, interval, tiles });
  const columns = Math.min(tiles, options.columns ?? STORYBOARD_DEFAULTS.columns);
  const rows = Math.min(Math.ceil(tiles / columns), options.rows ?? STORYBOARD_DEFAULTS.rows);
  const side = Math.max(columns * tile.width, rows * tile.height);
  if (side > WEBP_MAX_SIDE) throw errors.spriteTooLarge({ max: WEBP_MAX_SIDE, side });
  const sheets = Math.ceil(tiles / (columns * rows));
  if (sheets > MAX_SPRITES) {
    throw errors.tooManySprites({ max: MAX_SPRITES, columns, rows, sprites: sheets });
  }
  return { interval, tiles, columns, rows, sheets };
}

const MIN_TILE_SECONDS = 0.001;

/** Returns the number of tiles at one every `interval` seconds. */
export function countTiles(duration: number, interval: number): number {
  return Math.max(1, Math.ceil((duration - MIN_TILE_SECONDS) / interval));
}

function defaultInterval(duration: number): number {
  const { interval, tiles } = STORYBOARD_DEFAULTS;
  return Math.min(interval.max, Math.max(interval.min, duration / tiles));
}

const KEYFRAME_EPSILON = 1e-6;

/**
 * Returns whether the span of every tile contains a keyframe, so that only keyframes need decoding. `keyframes` are ascending times of
 * the source in seconds.
 */
export function keyframesSuffice(
  keyframes: readonly number[],
  { start, duration }: { start: number; duration: number | null },
  sprite: Sprite,
): boolean {
  const end = start + (duration ?? 0);
  let next = 0;
  for (let tile = 0; tile < sprite.tiles; tile++) {
    const from = start + tile * sprite.interval;
    const until = Math.min(end, from + sprite.interval);
    while (next < keyframes.length && (keyframes[next] ?? 0) < from - KEYFRAME_EPSILON) next++;
    if (!((keyframes[next] ?? Number.POSITIVE_INFINITY) < until - KEYFRAME_EPSILON)) return false;
  }
  return true;
}
