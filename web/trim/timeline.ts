import { exactFps, type Source } from "../../src/index.ts";
import { roundTime } from "./parse-time.ts";

/** How a file is measured while its times are set. */
export interface Timeline {
  /** Seconds. */
  readonly duration: number;
  /** Frames in a second; null for sound, which has none. */
  readonly fps: number | null;
  /** The smallest step, in seconds: a frame, or a hundredth of a second. */
  readonly grain: number;
}

/** What a time stands for: the first frame of a stretch, the end after its last frame, or the one frame that is seen. */
export type Mark = "begin" | "end" | "moment";

// A time that lies on a frame's edge but for rounding is on it.
const SLACK = 0.01;

/** Measures a file; a video whose rate is not known is taken to have 25 frames in a second. */
export function timelineOf(source: Pick<Source, "kind" | "fps">, duration: number): Timeline {
  const fps = source.kind === "audio" ? null : exactFps(source.fps || 25);
  return { duration, fps, grain: Math.min(duration, fps === null ? 0.01 : 1 / fps) };
}

/** Gives the number of the frame that a time stands for, from 0; for an end, that of the last frame before it. */
export function frameAt(mark: Mark, time: number, fps: number): number {
  if (mark === "moment") return Math.max(0, Math.floor(time * fps + SLACK));
  const first = Math.ceil(time * fps - SLACK);
  return Math.max(0, mark === "begin" ? first : first - 1);
}

/** Gives the time that is some steps on, or back where they are negative: always the edge of a frame. */
export function stepBy(mark: Mark, time: number, steps: number, { fps, grain }: Timeline): number {
  if (fps === null) return roundTime(time + steps * grain);
  const frame = frameAt(mark, time, fps) + (mark === "end" ? 1 : 0);
  return roundTime(Math.max(0, frame + steps) / fps);
}

/** Moves a time to the nearest step. */
export function snap(time: number, { fps }: Timeline): number {
  const steps = fps ?? 100;
  return roundTime(Math.round(time * steps) / steps);
}

/** Gives the time to show for a mark: the middle of its frame, as players round an edge either way. */
export function shownAt(mark: Mark, time: number, { fps, duration, grain }: Timeline): number {
  if (fps === null) return time;
  return Math.max(0, Math.min((frameAt(mark, time, fps) + 0.5) / fps, duration - grain / 2));
}

/** Gives the time of a mark whose frame is the one that a player shows; of sound, the time itself. */
export function markAt(mark: Mark, shown: number, timeline: Timeline): number {
  const { fps } = timeline;
  if (fps === null) return snap(shown, timeline);
  return roundTime((frameAt("moment", shown, fps) + (mark === "end" ? 1 : 0)) / fps);
}
