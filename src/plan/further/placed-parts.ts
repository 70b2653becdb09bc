import type { ConcatPart, Plan } from "../plan.ts";
import { audibleTrack } from "../sound/plan-sound.ts";

/** A part of a joined video with its place: when it begins in the output, and its length, in seconds. */
export interface PlacedPart extends ConcatPart {
  at: number;
  seconds: number;
  /** Index, among its sound tracks, of the one that the output has; null when it is silent. */
  sound: number | null;
}

/** Returns the parts of a joined video in order, each with its place; none of any other. */
export function placedParts({ concat = [], audio }: Plan): PlacedPart[] {
  let frames = 0;
  return concat.map((part) => {
    const fps = part.video.fps ?? 1;
    const at = frames / fps;
    frames += part.frames;
    return { ...part, at, seconds: part.frames / fps, sound: audio && audibleTrack(part.source) };
  });
}
