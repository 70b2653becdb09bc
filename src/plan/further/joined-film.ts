import type { VideoOptions } from "../../core/options.ts";
import type { Source } from "../../core/source.ts";
import { sourceForTrack } from "../../media/features/track.ts";
import type { ConcatPart, VideoPlan } from "../plan.ts";
import { audibleTrack } from "../sound/plan-sound.ts";
import { concatSources, createConcat } from "./concat.ts";
import { createJoin } from "./join.ts";
import type { PlanHints } from "./plan-hints.ts";

/** Returns what a joined film has in place of its first part, whose pictures `video` plans; null where nothing is joined yet. */
export function joinVideos(
  source: Source,
  video: VideoPlan,
  options: VideoOptions,
  { further, joint }: PlanHints,
) {
  const others = concatSources(options, further);
  if (others.length === 0) return null;
  if (video.mode === "copy") {
    if (!joint || !("parts" in joint)) return null;
    const concat = createJoin(source, joint.parts, options, others);
    const seconds = concat.reduce((sum, { joined }) => sum + (joined?.seconds ?? 0), 0);
    return joinedFilm(source, concat, video, seconds);
  }
  if (video.fps === null) return null;
  const concat = createConcat(source, { ...video, fps: video.fps }, options, others);
  return joinedFilm(source, concat, concat[0]?.video ?? video, framesOf(concat) / video.fps);
}

function joinedFilm(source: Source, concat: readonly ConcatPart[], video: VideoPlan, duration: number) {
  const first = concat.find((part) => audibleTrack(part.source) !== null)?.source ?? source;
  const heard = sourceForTrack(first, { sound_track: audibleTrack(first) ?? 0 });
  return {
    ...{ concat, video, frames: framesOf(concat) },
    span: { start: 0, end: null, duration },
    // Where its own sound ends is of no account.
    heard: { ...heard, streams: [] },
    sound_track: audibleTrack(source) ?? 0,
  };
}

function framesOf(concat: readonly ConcatPart[]): number {
  return concat.reduce((sum, { frames }) => sum + frames, 0);
}
