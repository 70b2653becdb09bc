import type { ConcatPart, Plan } from "../plan.ts";
import { audibleTrack } from "../sound/plan-sound.ts";

/** A part of a joined video with its place: when it begins in the output, and its length, in seconds. */
export interface PlacedPart extends ConcatPart {
  at: number;
  seconds: number;
  /** Index, among its sound tracks, of the one that the output has; null when it is silent. */
  sound: number | null;
}

/** Returns whether the pictures of several videos are joined by copying. */
export function joinsByCopy({ concat, video }: Pick<Plan, "concat" | "video">): boolean {
  return concat !== undefined && video?.mode === "copy";
}

/** Returns the parts of a joined video in order, each with its place; none of any other. */
export function placedParts({ concat = [], audio }: Plan): PlacedPart[] {
  let [frames, copied] = [0, 0];
  return concat.map((part) => {
    const { video, joined } = part;
    const fps = video?.fps ?? 1;
    const at = joined ? copied : frames / fps;
    frames += part.frames;
    copied += joined?.seconds ?? 0;
    const seconds = joined?.seconds ?? part.frames / fps;
    return { ...part, at, seconds, sound: audio && audibleTrack(part.source) };
  });
}
