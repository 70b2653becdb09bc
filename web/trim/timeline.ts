import { exactFps, type Source } from "../../src/index.ts";
import { roundTime } from "./parse-time.ts";

/** The units in which a file is trimmed. */
export interface Timeline {
  readonly duration: number;
  /** Frames per second; null for sound. */
  readonly fps: number | null;
  /** The smallest step in seconds: a frame, or a hundredth of a second. */
  readonly grain: number;
  /** Start times of the pictures in seconds, in order; absent when only their average rate is known. */
  readonly times?: readonly number[];
}

/** What a time stands for: the first frame of a stretch, the end after its last frame, or a single visible frame. */
export type Mark = "begin" | "end" | "moment";

// Tolerance within which a time counts as on a frame's edge.
const SLACK = 0.01;

/** Returns the timeline of a file; assumes 25 frames per second for a video of unknown rate. */
export function timelineOf(
  source: Pick<Source, "kind" | "fps">,
  duration: number,
  times: readonly number[] | null = null,
): Timeline {
  const fps = source.kind === "audio" ? null : exactFps(source.fps || 25);
  const grain = Math.min(duration, fps === null ? 0.01 : 1 / fps);
  return { duration, fps, grain, ...(times && fps !== null && { times }) };
}

export function lastFrame({ times, duration, grain }: Timeline): number {
  return times?.at(-1) ?? roundTime(duration - grain);
}

/** Returns the number of the frame that a time stands for, from 0; for an end, that of the last frame before it. */
export function frameAt(mark: Mark, time: number, { fps, times }: Pick<Timeline, "fps" | "times">): number {
  if (times) {
    const after = countBefore(times, time + (mark === "moment" ? TIMES_SLACK : -TIMES_SLACK));
    return Math.max(0, Math.min(times.length - 1, mark === "begin" ? after : after - 1));
  }
  const frames = time * (fps ?? 1);
  if (mark === "moment") return Math.max(0, Math.floor(frames + SLACK));
  const first = Math.ceil(frames - SLACK);
  return Math.max(0, mark === "begin" ? first : first - 1);
}

/** Returns the time a number of steps later, or earlier when negative; always the edge of a frame. */
export function stepBy(mark: Mark, time: number, steps: number, timeline: Timeline): number {
  const { fps, grain } = timeline;
  if (fps === null) return roundTime(time + steps * grain);
  const frame = frameAt(mark, time, timeline) + (mark === "end" ? 1 : 0);
  return beginOf(Math.max(0, frame + steps), timeline);
}

/** Rounds a time to the nearest step. */
export function snap(time: number, timeline: Timeline): number {
  const { fps, times, duration } = timeline;
  if (times) {
    const after = countBefore(times, time);
    const [before, next] = [times[after - 1] ?? 0, times[after] ?? duration];
    return time - before < next - time ? before : roundTime(next);
  }
  const steps = fps ?? 100;
  return roundTime(Math.round(time * steps) / steps);
}

/** Returns the time to show for a mark: the middle of its frame, because players round an edge either way. */
export function shownAt(mark: Mark, time: number, timeline: Timeline): number {
  const { fps, times, duration, grain } = timeline;
  if (fps === null) return time;
  const frame = frameAt(mark, time, timeline);
  if (times) return (beginOf(frame, timeline) + beginOf(frame + 1, timeline)) / 2;
  return Math.max(0, Math.min((frame + 0.5) / fps, duration - grain / 2));
}

/** Returns the time of a mark for the frame that a player shows; for sound, the time itself. */
export function markAt(mark: Mark, shown: number, timeline: Timeline): number {
  if (timeline.fps === null) return snap(shown, timeline);
  return beginOf(frameAt("moment", shown, timeline) + (mark === "end" ? 1 : 0), timeline);
}

// Times are rounded to microseconds.
const TIMES_SLACK = 0.0005;

function beginOf(frame: number, { fps, times, duration }: Timeline): number {
  return roundTime(times ? (times[frame] ?? duration) : frame / (fps ?? 1));
}

function countBefore(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
