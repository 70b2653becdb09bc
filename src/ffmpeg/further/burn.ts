import { furtherOf } from "../../plan/further/further.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import { fpsText } from "../filters.ts";

/** Paths of the further files that a chunk reads, in the plan's order. */
type Paths = readonly { path: string }[];

/**
 * Returns the filters that draw a chunk's subtitles into pictures of their final size; none without any. Their files are ASS of
 * our own, whose times count from the start of the output, and a font, alone in its folder. Throws a RangeError for a path that
 * means more to a filter than its letters say.
 */
export function burnFilters(plan: Plan, chunk: Chunk, further: Paths = []): string[] {
  const { video } = plan;
  if (video?.mode !== "encode" || !video.burn || furtherOf(plan, chunk).length === 0) return [];
  const { file } = video.burn;
  const [text, font] = [further[file], further[file + 1]].map((each) => plainPath(each?.path ?? ""));
  const at = Math.max(0, chunk.start - plan.start) / (plan.speed ?? 1);
  const ticks = Math.round((at + NUDGE) * CLOCK);
  return [
    ...[`settb=1/${CLOCK}`, `setpts=PTS+${ticks}`],
    `ass=filename=${text}:fontsdir=${folderOf(font ?? "")}`,
    `setpts=PTS-${ticks}`,
    ...(video.fps === null ? [] : [`settb=1/(${fpsText(video.fps)})`]),
  ];
}

// Ticks per second that represent all usual frame rates exactly.
const CLOCK = 120_000;
// The filter cuts times to whole milliseconds; a picture at the start of a text has to show it.
const NUDGE = 0.0005;

function plainPath(path: string): string {
  if (!/^[\w./-]+$/.test(path)) throw new RangeError("The path of a filter's file has other characters.");
  return path;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
