import type { Drawing } from "../../media/feature.ts";
import { mapTimedDrawings } from "../../media/option-groups.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { type Plan, rangeAt, type SourceRange } from "../../media/plan.ts";

/** Returns the ranges of a trimmed source in the order of the output, with the seconds of source before each. */
export function rangesOf({ start, parts }: Plan, total: number): (SourceRange & { from: number })[] {
  let from = 0;
  return (parts ?? [{ start, end: start + total }]).map(({ start, end }) => {
    const range = { start, end, from };
    from += end - start;
    return range;
  });
}

/** Returns a request for the pictures alone: without sound, text tracks, covers and chapters. */
export function picturesOf({ kind, options }: EncodeRequest): EncodeRequest {
  const more = kind === "video" ? { mute: true, metadata: "strip" } : { mute: true };
  return { kind, options: { ...options, ...more } } as EncodeRequest;
}

/**
 * Returns the request for a part of an output, from `start` to `end` in seconds of the source, with the bitrate, overlays and fades that
 * the whole has there.
 */
export function requestOfPart(
  { kind, options }: EncodeRequest,
  plan: Plan,
  { start, end }: SourceRange,
): EncodeRequest {
  const { speed = 1, video } = plan;
  const range = rangeAt(plan, start);
  const offset = range.at + (start - range.start) / speed;
  const part: Record<string, unknown> = { ...options, start, end, parts: undefined };
  if (part.target_size !== undefined && video?.mode === "encode" && "bitrate" in video.rate) {
    delete part.target_size;
    part.bitrate = video.rate.bitrate;
  }
  const isLast = plan.parts === undefined || range === plan.parts.at(-1);
  const hasEnd = isLast && end >= (range.end ?? Number.POSITIVE_INFINITY);
  const length = (end - start) / speed;
  for (const name of ["fade_in", "picture_fade_in", "fade_out", "picture_fade_out"]) {
    const fades = name.endsWith("_in") ? offset === 0 : hasEnd;
    const seconds = part[name];
    if (!fades) delete part[name];
    else if (typeof seconds === "number") part[name] = Math.min(seconds, length);
  }
  const drawings = mapTimedDrawings(kind, options, (drawing) => shiftDrawing(drawing, offset));
  return { kind, options: { ...part, ...drawings } } as EncodeRequest;
}

// Starts a drawing too late to appear, because removing an overlay would renumber the extra inputs.
const NEVER = 1e6;

function shiftDrawing(drawing: Drawing, offset: number): Drawing {
  const { start = 0, end } = drawing;
  if (end !== undefined && end <= offset) return { ...drawing, start: NEVER, end: undefined };
  const own = { ...drawing, start: Math.max(0, start - offset) };
  return end === undefined ? own : { ...own, end: end - offset };
}
