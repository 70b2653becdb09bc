import type { Source } from "../core/source.ts";
import { picturesEnd } from "../plan/pictures-end.ts";
import type { Chunk, Plan } from "../plan/plan.ts";

/** What cuts a stretch out of the source: where reading starts, and the filters that keep exactly what belongs to it. */
export interface Cut {
  /** Arguments before the input. */
  seek: string[];
  /** Filters of pictures and of sound; empty when all is kept. */
  video: string[];
  audio: string[];
  /** Seconds of the stretch; null for to an end of the pictures that is not known. */
  length: number | null;
  /** Seconds that are read before the stretch; the filters take them away. */
  lead: number;
}

// A frame that lies on an edge but for rounding belongs to the stretch that starts there, and to no other.
const NUDGE = 0.0005;

/**
 * Gives what cuts a chunk out of the source. ffmpeg's own `-t` and exact `-ss` count from the first frame that is kept and round
 * for themselves, so that a frame at a seam could be in both stretches or in none; here the filters count from the start of the stretch.
 */
export function createCut(plan: Plan, chunk: Chunk, source: Source): Cut {
  const none: Cut = { seek: [], video: [], audio: [], length: null, lead: 0 };
  if (plan.still) return none;
  if (plan.image && !plan.image.animated) {
    const { shown_from, decode_from } = chunk;
    const seek = shown_from === undefined ? frameSeek(plan.start, source) : Math.max(0, shown_from - NUDGE);
    if (seek === 0) return none;
    const from = shown_from === undefined ? Math.min(seek, decode_from ?? seek) : (decode_from ?? seek);
    const at = Math.max(0, from - seekMargin(source));
    if (at === seek) return { ...none, seek: ["-ss", seconds(seek + (source.priming ?? 0))] };
    return { ...none, seek: seekArgs(at, source), video: onFineClock(trim("trim", seek - at, null)) };
  }
  const { start, end, decode_from = start, shown_from = start } = chunk;
  const at = Math.max(0, decode_from - seekMargin(source));
  const lead = start - at;
  const length = end === null ? null : end - start;
  const last = length === null ? null : lead + length;
  // At a constant rate the frame before the start counts too: it is the one that is seen at the start.
  const constant = plan.video?.mode === "encode" && plan.video.fps !== null;
  return {
    seek: [...seekArgs(at, source), ...(at > 0 ? [] : originArgs(chunk, source))],
    video: onFineClock([
      ...apart(source),
      ...trim(
        "trim",
        start > 0 && !constant ? shown_from - at - NUDGE : null,
        last === null ? null : last - NUDGE,
      ),
      ...(lead > 0 ? [`setpts=${shown_from < start && !constant ? heldTime(lead) : sinceStart(lead)}`] : []),
    ]),
    audio: [
      ...trim("atrim", start > 0 ? lead : null, last),
      ...(lead > 0 ? [`asetpts=PTS-round(${seconds(lead)}/TB)`] : []),
    ],
    length: length ?? picturesEnd(source, chunk),
    lead,
  };
}

function sinceStart(lead: number): string {
  return `PTS-${Math.round(lead * CLOCK)}`;
}

// The picture that is on screen at the start began before it.
function heldTime(lead: number): string {
  return `'max(0,${sinceStart(lead)})'`;
}

// Ticks of a second that hold the frames of all usual rates, and milliseconds, exactly.
const CLOCK = 120_000;

// A tick of the file's own clock may be as long as a frame, and to it filters round what they compare with.
function onFineClock(filters: readonly string[]): string[] {
  return filters.length > 0 ? [`settb=1/${CLOCK}`, ...filters] : [];
}

// Where B-frames share a packet with another picture, ffmpeg takes the time of the first of them from the placeholder after it: that of
// the next picture. An encoder would drop one of two pictures at the same time.
function apart({ codecs, fps = 25 }: Source): string[] {
  if (codecs?.video !== "mpeg4") return [];
  return [`setpts='if(lte(PTS,PREV_OUTPTS),PREV_OUTPTS+${Math.round(CLOCK / Math.max(1, fps) / 2)},PTS)'`];
}

// ffmpeg counts from where priming starts, and everything else from where sound is first heard.
function seekArgs(at: number, { priming = 0 }: Source): string[] {
  if (at > 0) return ["-noaccurate_seek", "-ss", seconds(at + priming)];
  return priming > 0 ? ["-itsoffset", seconds(-priming)] : [];
}

// Of a transport stream ffmpeg counts from the first packet of the streams that are used, unless an offset is given: pictures and sound
// that are encoded apart would start at different times.
function originArgs({ track }: Chunk, { format }: Source): string[] {
  return track !== "all" && isTransport(format) ? ["-itsoffset", "0.000001"] : [];
}

function isTransport(format: string): boolean {
  return format === "mpegts" || format === "mpeg";
}

// ffmpeg finds its way in a transport stream by decoding times, which lie before the presentation times by the depth of reordering.
function seekMargin({ format, fps = 25 }: Source): number {
  return isTransport(format) ? 1 + 8 / Math.max(1, fps) : 0;
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
