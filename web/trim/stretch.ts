import { clock } from "../words/quantities.ts";
import { roundTime } from "./parse-time.ts";
import type { Timeline } from "./timeline.ts";

/** A stretch of a file in seconds; without an end it extends to the end of the file. */
export interface Stretch {
  readonly start?: number;
  readonly end?: number;
}

/** Both edges of a stretch in seconds, at least one step of the timeline apart. */
export interface Edges {
  readonly begin: number;
  readonly end: number;
}

export type Edge = keyof Edges;

/** Returns the edges of a stretch, limited to the file. */
export function edgesOf(stretch: Stretch, timeline: Timeline): Edges {
  const { duration, grain } = timeline;
  const begin = within(stretch.start ?? 0, 0, duration - grain);
  return { begin, end: within(stretch.end ?? duration, begin + grain, duration) };
}

/** Converts edges to a stretch, without a start at the beginning of the file or an end at its end. */
export function stretchOf({ begin, end }: Edges, { duration }: Timeline): Stretch {
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
  if (time > duration + 0.005) return `The file ends at ${clock(duration, true)}.`;
  if (edge === "begin" && time > last) {
    return `The start must be before the end, which is at ${clock(edges.end, true)}.`;
  }
  if (edge === "end" && time < first) {
    return `The end must be after the start, which is at ${clock(edges.begin, true)}.`;
  }
  return null;
}

function within(time: number, first: number, last: number): number {
  return roundTime(Math.max(first, Math.min(last, time)));
}
