import { clock } from "../words/quantities.ts";
import { roundTime } from "./parse-time.ts";
import type { Timeline } from "./timeline.ts";

/** A stretch of time in a file, in seconds; without an end it goes on to the end of the file. */
export interface Stretch {
  readonly start?: number;
  readonly end?: number;
}

/** Both edges of a stretch, in seconds; at least one step of the timeline apart. */
export interface Edges {
  readonly begin: number;
  readonly end: number;
}

/** One of the two edges. */
export type Edge = keyof Edges;

/** Gives the edges of a stretch as they can be in a file, whatever the stretch says. */
export function edgesOf(stretch: Stretch, timeline: Timeline): Edges {
  const { duration, grain } = timeline;
  const begin = within(stretch.start ?? 0, 0, duration - grain);
  return { begin, end: within(stretch.end ?? duration, begin + grain, duration) };
}

/** Says edges as a stretch: without a start for the file's beginning, without an end for its end. */
export function stretchOf({ begin, end }: Edges, { duration }: Timeline): Stretch {
  return { ...(begin > 0 && { start: begin }), ...(end < roundTime(duration) && { end }) };
}

/** Gives the first and the last time at which an edge can be, as the other one stands. */
export function reachOf(edge: Edge, { begin, end }: Edges, { duration, grain }: Timeline): [number, number] {
  return edge === "begin" ? [0, within(end - grain, 0, end)] : [within(begin + grain, 0, duration), duration];
}

/** Moves one edge, no further than it can go. */
export function moveEdge(edges: Edges, edge: Edge, time: number, timeline: Timeline): Edges {
  return { ...edges, [edge]: within(time, ...reachOf(edge, edges, timeline)) };
}

/** Tells in words why an edge cannot be at a time that was typed; null when it can. */
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
