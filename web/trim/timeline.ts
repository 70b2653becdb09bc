import { exactFps, type Source } from "../../src/index.ts";
import { roundTime } from "../../src/media/clock.ts";
import { clock } from "../words/quantities.ts";
import * as strings from "./strings.ts";

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

/** The meaning of a time: the first frame of a range, the end after its last frame, or a single visible frame. */
export type Mark = "begin" | "end" | "moment";

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
export function markAt(mark: Mark, time: number, timeline: Timeline): number {
  if (timeline.fps === null) return snap(time, timeline);
  return beginOf(frameAt("moment", time, timeline) + (mark === "end" ? 1 : 0), timeline);
}

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

/** A typed time in seconds, or what is wrong with it. */
export type ParsedTime = { seconds: number } | { fault: string };

const SHAPE = /^(?:(?:(\d+):)?(\d{1,3}):)?(\d+(?:[.,]\d*)?|[.,]\d+)$/;
const WANTED = strings.enterTime;

/** Parses a time as people type it: `1:02.50`, `1:02:03`, `62.5`, `62,5 s`. */
export function parseTime(text: string): ParsedTime {
  const bare = text.trim().replace(/\s*s(ec(onds?)?)?$/i, "");
  if (/^[-−]/.test(bare)) return { fault: strings.negativeTime };
  const [, hours, minutes, rest] = SHAPE.exec(bare) ?? [];
  if (rest === undefined) return { fault: WANTED };
  const seconds = Number(rest.replace(",", "."));
  if (minutes !== undefined && seconds >= 60) return { fault: strings.secondsTooLarge };
  if (hours !== undefined && Number(minutes) >= 60) return { fault: strings.minutesTooLarge };
  const total = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + seconds;
  return Number.isFinite(total) ? { seconds: roundTime(total) } : { fault: WANTED };
}

/** A range of a file in seconds; without an end it extends to the end of the file. */
export interface Range {
  readonly start?: number;
  readonly end?: number;
}

/** Both edges of a range in seconds, at least one step of the timeline apart. */
export interface Edges {
  readonly begin: number;
  readonly end: number;
}

export type Edge = keyof Edges;

/** Returns the edges of a range, limited to the file. */
export function edgesOf(range: Range, timeline: Timeline): Edges {
  const { duration, grain } = timeline;
  const begin = within(range.start ?? 0, 0, duration - grain);
  return { begin, end: within(range.end ?? duration, begin + grain, duration) };
}

/** Converts edges to a range, without a start at the beginning of the file or an end at its end. */
export function rangeOf({ begin, end }: Edges, { duration }: Timeline): Range {
  return { ...(begin > 0 && { start: begin }), ...(end < roundTime(duration) && { end }) };
}

/** Returns the earliest and latest time for an edge, given the other. */
export function reachOf(edge: Edge, { begin, end }: Edges, { duration, grain }: Timeline): [number, number] {
  return edge === "begin" ? [0, within(end - grain, 0, end)] : [within(begin + grain, 0, duration), duration];
}

/** Moves one edge within its limits. */
export function moveEdge(edges: Edges, edge: Edge, time: number, timeline: Timeline): Edges {
  return { ...edges, [edge]: within(time, ...reachOf(edge, edges, timeline)) };
}

/** Describes why an edge cannot be at a typed time; null when it can. */
export function faultOf(edge: Edge, time: number, edges: Edges, timeline: Timeline): string | null {
  const { duration } = timeline;
  const [first, last] = reachOf(edge, edges, timeline);
  if (time > duration + 0.005) return strings.fileEndsAt({ time: clock(duration, true) });
  if (edge === "begin" && time > last) {
    return strings.startAfterEnd({ time: clock(edges.end, true) });
  }
  if (edge === "end" && time < first) {
    return strings.endBeforeStart({ time: clock(edges.begin, true) });
  }
  return null;
}

function within(time: number, first: number, last: number): number {
  return roundTime(Math.max(first, Math.min(last, time)));
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -0.1,
  ArrowDown: -0.1,
  ArrowRight: 0.1,
  ArrowUp: 0.1,
  PageDown: -10,
  PageUp: 10,
};

/** The properties of a keyboard event that determine a slider's move. */
export type SliderKey = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "altKey" | "metaKey">;

/**
 * Returns the time that a key moves a slider to: arrows move a tenth of a second, with Shift a second, the Page keys ten
 * seconds, Home and End to the first and last time. Null for all other keys.
 */
export function timeByKey(event: SliderKey, time: number, [first, last]: [number, number]): number | null {
  const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
  if (ctrlKey || altKey || metaKey) return null;
  if (key === "Home") return first;
  if (key === "End") return last;
  const step = STEPS[key];
  if (step === undefined) return null;
  const times = shiftKey && key.startsWith("Arrow") ? 10 : 1;
  return roundTime(Math.max(first, Math.min(last, time + step * times)));
}
