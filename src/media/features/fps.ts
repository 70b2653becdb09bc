import { option, optionGroup } from "../feature.ts";
import { within } from "../fields.ts";
import { ANIMATION_DEFAULTS, BOUNDS } from "../formats.ts";
import type { SourceFacts } from "../source-facts.ts";

/** The frame rate of the output. */
export const fps = optionGroup({
  options: {
    fps: option({
      kinds: ["video", "animation"],
      schema: within(BOUNDS.fps)
        .optional()
        .meta({ description: "Frames per second; by default those of the source." }),
      schemas: {
        animation: within(BOUNDS.animation_fps)
          .optional()
          .meta({
            description: `Frames per second. By default ${ANIMATION_DEFAULTS.fps}, fewer for a slower video, and the original times for an animated picture.`,
          }),
      },
      control: "number",
      placed: true,
      words: { label: "Frames per second", empty: "original" },
    }),
  },
  summary: (options) => (options.fps === undefined ? null : `${options.fps} fps`),
});

/** Frames per second assumed for a source that does not state them. */
export const DEFAULT_FPS = 30;

/** Frames per second that ffmpeg's demuxers assume. */
export const FFMPEG_FPS = 25;

/** Returns the exact frames per second behind a rounded number: 30000/1001 for 29.97, and so on; others are unchanged. */
export function exactFps(rounded: number): number {
  const whole = ntscRate(rounded);
  return whole === null ? rounded : (whole * 1000) / 1001;
}

/** Returns the nominal whole number of an NTSC rate, such as 30 for 29.97 (30000/1001); null for any other rate. */
export function ntscRate(rounded: number): number | null {
  const whole = Math.round(rounded * 1.001);
  return !Number.isInteger(rounded) && Math.abs(rounded - (whole * 1000) / 1001) < 0.005 ? whole : null;
}

/** Returns whether two rates are equal within measurement error. */
export function isSameFps(one: number, other: number): boolean {
  return Math.abs(exactFps(one) / exactFps(other) - 1) < SAME_SHARE;
}

// In milliseconds, 23.976 frames per second measures as up to 23.988 over two seconds; 24 is twice as far away.
const SAME_SHARE = 0.0005;

/** Returns whether an average rate looks like that of evenly spaced frames; an average of uneven ones matches no common rate. */
export function isEven(average: number): boolean {
  return Math.abs(2 * average - Math.round(2 * average)) < 0.01 || ntscRate(average) !== null;
}

/**
 * Returns the constant frame rate, in pictures a second, at which a fade over the pictures of a source is smooth; null if the source has
 * enough evenly spaced pictures.
 */
export function smoothFps({
  fps,
  constant_fps,
}: {
  fps: number;
  constant_fps?: true | undefined;
}): number | null {
  const isRegular = constant_fps === true || isEven(fps) || Math.abs(fps / Math.round(fps) - 1) < NEAR;
  if (isRegular && fps >= MIN_SMOOTH) return null;
  // A multiple shows every picture for as long as the source does.
  const rate = isRegular ? fps * Math.ceil(SMOOTH / fps) : Math.max(DEFAULT_FPS, fps);
  return exactFps(Math.min(BOUNDS.fps.max, rate));
}

const MIN_SMOOTH = 15;
const SMOOTH = 24;
const NEAR = 0.01;

/**
 * Returns the lowest frame rate, in pictures a second, at which joined videos lose no picture: the highest of theirs, at most 60. The
 * first video's rate stands for those that are equal within measurement error.
 */
export function joinedFps(sources: readonly Pick<SourceFacts, "fps" | "constant_fps">[]): number {
  const rates = sources.map(safeFps);
  return rates.reduce((rate, other) => (other > rate && !isSameFps(other, rate) ? other : rate));
}

// Dense passages may have any rate. If the spacing is unknown but looks even, a multiple shows every picture for equally long.
function safeFps({ fps = DEFAULT_FPS, constant_fps }: Pick<SourceFacts, "fps" | "constant_fps">): number {
  const { min, max } = BOUNDS.fps;
  if (constant_fps) return exactFps(Math.min(max, Math.max(min, fps)));
  return isEven(fps) && fps > 0 ? exactFps(fps) * Math.max(1, Math.floor(max / exactFps(fps))) : max;
}
