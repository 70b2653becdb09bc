import type { VideoOptions } from "../core/option-types.ts";
import type { Source } from "../core/source.ts";
import { DEFAULT_FPS } from "../media/features/fps.ts";
import { createPlan } from "./create-plan.ts";
import { VIDEO_FLOOR } from "./video-bits.ts";

// Limits on the short side in pixels and on frames per second: size is reduced first, then motion, then both.
const STEPS = [
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  [Number.POSITIVE_INFINITY, 30],
  [1080, 30],
  [720, 30],
  [540, 30],
  [480, 30],
  [360, 30],
  [360, 15],
  [240, 15],
  [180, 15],
  [144, 10],
] as const;

/** Returns a video's options with ever smaller pictures and fewer frames, largest first, never above what was requested. */
export function smallerOptions(options: VideoOptions, source: Source): VideoOptions[] {
  const { video } = createPlan(source, "video", { ...options, bitrate: VIDEO_FLOOR });
  if (video?.mode !== "encode") return [options];
  const { width, height } = video.geometry;
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const made = STEPS.map(([short, rate]) =>
    smaller(options, { ...smallerSize(options, { width, height }, short), ...fewerFrames(fps, rate) }),
  );
  return made.filter((each, index) => JSON.stringify(each) !== JSON.stringify(made[index - 1]));
}

function smallerSize(
  options: VideoOptions,
  { width, height }: { width: number; height: number },
  short: number,
) {
  const share = short / Math.min(width, height);
  if (share >= 1) return {};
  // Both sides together define how another aspect ratio is fitted; one alone keeps the ratio.
  if (options.width !== undefined && options.height !== undefined)
    return { width: even(width * share), height: even(height * share) };
  return width >= height ? { width: undefined, height: short } : { width: short, height: undefined };
}

// A whole number of source frames per output frame, so that motion stays even.
function fewerFrames(fps: number, most: number): { fps?: number } {
  const each = Math.ceil(fps / (most * 1.01));
  return each > 1 ? { fps: Number((fps / each).toFixed(3)) } : {};
}

function even(side: number): number {
  return Math.max(2, 2 * Math.round(side / 2));
}

function smaller(
  options: VideoOptions,
  change: Partial<Record<"width" | "height" | "fps", number | undefined>>,
): VideoOptions {
  const made = { ...options, ...change };
  for (const side of ["width", "height"] as const) if (made[side] === undefined) delete made[side];
  return made;
}
