import type { Source } from "../core/source.ts";
import type { Chunk, Plan } from "../plan/plan.ts";

/** What cuts a stretch out of the source: where reading starts, and the filters that keep exactly what belongs to it. */
export interface Cut {
  /** Arguments before the input. */
  seek: string[];
  /** Filters of pictures and of sound; empty when all is kept. */
  video: string[];
  audio: string[];
  /** Seconds of the stretch; null for to the end. */
  length: number | null;
}

// A frame that lies on an edge but for rounding belongs to the stretch that starts there, and to no other.
const NUDGE = 0.0005;

/**
 * Gives what cuts a chunk out of the source. ffmpeg's own `-t` and exact `-ss` count from the first frame that is kept and round
 * for themselves, so that a frame at a seam could be in both stretches or in none; here the filters count from the start of the stretch.
 */
export function createCut(plan: Plan, chunk: Chunk, source: Source): Cut {
  const none: Cut = { seek: [], video: [], audio: [], length: null };
  if (plan.still) return none;
  if (plan.image && !plan.image.animated) {
    const seek = frameSeek(plan.start, source);
    return seek > 0 ? { ...none, seek: ["-ss", seconds(seek)] } : none;
  }
  const { start, end } = chunk;
  const length = end === null ? null : end - start;
  // At a constant rate the frame before the start counts too: it is the one that is seen at the start.
  const constant = plan.video?.mode === "encode" && plan.video.fps !== null;
  return {
    seek: start > 0 ? ["-noaccurate_seek", "-ss", seconds(start)] : [],
    video: trim("trim", start > 0 && !constant ? -NUDGE : null, length === null ? null : length - NUDGE),
    audio: trim("atrim", start > 0 ? 0 : null, length),
    length,
  };
}

function trim(name: string, start: number | null, end: number | null): string[] {
  const parts = [
    ...(start === null ? [] : [`start=${seconds(start)}`]),
    ...(end === null ? [] : [`end=${seconds(end)}`]),
  ];
  return parts.length === 0 ? [] : [`${name}=${parts.join(":")}`];
}

// ffmpeg takes the first frame at or after a time; a viewer sees the last one at or before it. One frame earlier,
// and a moment later, the two are the same.
function frameSeek(start: number, source: Source): number {
  const frame = 1 / (source.fps ?? 25);
  const moment = 0.001 + tickOf(source, frame) / 2;
  const pictures = source.streams?.find((stream) => stream.kind === "video")?.duration;
  const last = (pictures ?? source.duration ?? Number.POSITIVE_INFINITY) - frame;
  return Math.max(0, Math.min(start, last) - Math.max(0, frame - moment));
}

// ffmpeg rounds a jump to whole ticks of the file's clock, which can be as long as a frame.
function tickOf({ format }: Source, frame: number): number {
  if (format === "avi") return frame;
  return format === "gif" ? 0.01 : 0;
}

function seconds(value: number): string {
  return String(Number(value.toFixed(6)));
}
