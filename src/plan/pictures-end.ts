import type { Source } from "../core/source.ts";
import { DEFAULT_FPS, exactFps } from "../media/features/fps.ts";
import { type Chunk, type Plan, soundsOf } from "./plan.ts";

/**
 * Returns the seconds from the start of a stretch to the end of its last picture: the end of the stretch or of the source's
 * pictures. Null when the source's headers do not say; the last picture then gets the average duration.
 */
export function picturesEnd(
  source: Source,
  { start, end }: { start: number; end: number | null },
): number | null {
  const last = source.streams?.find(({ kind }) => kind === "video")?.end ?? animationEnd(source);
  if (last === undefined) return null;
  const until = Math.min(end ?? last, last) - start;
  return until > 0 ? until : null;
}

// An animation has no sound, so it ends with its last picture, which often freezes.
function animationEnd({ kind, animated, duration }: Source): number | undefined {
  return kind === "image" && animated ? duration : undefined;
}

/** Returns the seconds from the start of a plan's output, or of one chunk of it, to the end of its last picture; null as above. */
export function shownEnd(
  source: Source,
  plan: Plan,
  span: { start: number; end: number | null } = plan,
): number | null {
  const until = freezeEnd(plan, span) ?? picturesEnd(source, span);
  return until === null ? null : until / (plan.speed ?? 1);
}

/** Seconds by which one track of a stream may end before another: no player stops there. */
export const SLACK = 0.2;

/**
 * Plans whether the last picture of a stream freezes, as it does where a track of its sound lasts longer: players stop, or cannot
 * seek, where a track has ended.
 */
export function planFreeze(
  source: Source,
  plan: Pick<Plan, "start" | "end" | "audio" | "sounds" | "sound_track">,
): Plan["held"] | null {
  const shown = trackEnd(source, "video");
  if (shown === undefined) return null;
  const heard = soundsOf(plan).map(({ track }) => trackEnd(source, "audio", track) ?? 0);
  const from = Math.max(shown, plan.start);
  const until = Math.min(plan.end ?? Number.POSITIVE_INFINITY, Math.max(...heard));
  return until > from + SLACK ? { from, until } : null;
}

/** Returns when a track of a source ends, in seconds; undefined when its headers do not say. */
export function trackEnd({ streams = [] }: Source, kind: "video" | "audio", index = 0): number | undefined {
  const stream = streams.filter((each) => each.kind === kind)[index];
  return stream?.end ?? stream?.duration;
}

/** Returns how many pictures repeat the last one of a chunk while it freezes, and the seconds from one to the next. */
export function freezePictures(
  { fps = DEFAULT_FPS }: Source,
  { held, end }: Plan,
  chunk: Chunk,
): { count: number; seconds: number } {
  const seconds = 1 / Math.max(SLOWEST, exactFps(fps));
  if (!held || chunk.track === "audio" || chunk.end !== end) return { count: 0, seconds };
  return { count: Math.max(1, Math.round((held.until - held.from) / seconds)), seconds };
}

// Pictures per second: each segment begins with one.
const SLOWEST = 1;

function freezeEnd({ held, end }: Plan, span: { start: number; end: number | null }): number | null {
  return held && span.end === end ? held.until - span.start : null;
}
