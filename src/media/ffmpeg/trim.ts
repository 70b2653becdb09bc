import { CLOCK } from "../clock.ts";
import { containerOf } from "../containers.ts";
import { type Chunk, constantFps, type Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { picturesEnd } from "../timeline.ts";

/** Cuts a stretch out of the source: where to seek, and the filters that keep exactly its frames. */
export interface Cut {
  /** Arguments before the input. */
  seek: string[];
  /** Filters of pictures and of sound; empty when everything is kept. */
  video: string[];
  audio: string[];
  /** Length of the stretch in seconds; null when it ends with pictures whose end is unknown. */
  length: number | null;
  /** Seconds read before the stretch, which the filters remove. */
  lead: number;
  /** Seconds of source in a second of output. */
  speed: number;
}

// A frame on an edge, allowing for rounding, belongs only to the stretch that starts there.
const NUDGE = 0.0005;

/**
 * Returns what cuts a chunk out of the source. ffmpeg's own `-t` and exact `-ss` count from the first kept frame and round
 * independently, so a frame at a seam could land in both stretches or in neither; these filters count from the start of the
 * stretch.
 */
export function createCut(plan: Plan, chunk: Chunk, source: Source): Cut {
  const cut = cutOf(plan, chunk, source);
  // The first picture's size and format hold for all.
  const pinned = isPinned(plan, chunk, source) ? ["scale"] : [];
  return {
    ...cut,
    seek: [...inputArgs(plan, chunk, source), ...cut.seek],
    video: [...pinned, ...alphaFilters(source), ...cut.video],
  };
}

function cutOf(plan: Plan, chunk: Chunk, source: Source): Cut {
  const none: Cut = { seek: [], video: [], audio: [], length: null, lead: 0, speed: plan.speed ?? 1 };
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
  const copied = plan.video === null && plan.audio?.mode === "copy";
  // What is copied starts with a packet, whose time may be rounded.
  const at = Math.max(0, decode_from - (copied ? 2 * NUDGE : seekMargin(source)));
  const lead = start - at;
  const length = end === null ? null : end - start;
  const last = length === null ? null : lead + length;
  // At a constant rate the frame before the start counts too: it is the one visible at the start.
  const constant = constantFps(plan) !== null || plan.image?.sheet !== undefined;
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
    speed: none.speed,
  };
}

function sinceStart(lead: number): string {
  return `PTS-${Math.round(lead * CLOCK)}`;
}

// The picture visible at the start began before it.
function heldTime(lead: number): string {
  return `'max(0,${sinceStart(lead)})'`;
}

// An animated AVIF has its transparency in a track of its own.
function alphaFilters(source: Source): string[] {
  const { format, animated, has_alpha, premultiplied, transparent_color } = source;
  return [
    ...(format === "avif" && animated && has_alpha ? ["[0:V:1]alphamerge"] : []),
    ...(premultiplied ? ["format=gbrap", "unpremultiply=inplace=1"] : []),
    // Its least similarity, a hundredth of the way from black to white; those grays are at least a fifteenth apart.
    ...(transparent_color ? ["format=rgba", `colorkey=${transparent_color}:0.01:0`] : []),
  ];
}

// A tick of the file's own clock may be as long as a frame, and filters round comparisons to it.
function onFineClock(filters: readonly string[]): string[] {
  return filters.length > 0 ? [`settb=1/${CLOCK}`, ...filters] : [];
}

// When B-frames share a packet with another picture, ffmpeg takes the first one's time from the placeholder after it, which is
// the next picture's time. An encoder would drop one of two pictures at the same time.
function apart({ codecs, fps = 25 }: Source): string[] {
  if (codecs?.video !== "mpeg4") return [];
  return [`setpts='if(lte(PTS,PREV_OUTPTS),PREV_OUTPTS+${Math.round(CLOCK / Math.max(1, fps) / 2)},PTS)'`];
}

// ffmpeg counts from the start of priming, everything else from the first audible sound.
function seekArgs(at: number, { priming = 0 }: Source): string[] {
  if (at > 0) return ["-noaccurate_seek", "-ss", seconds(at + priming)];
  return priming > 0 ? ["-itsoffset", seconds(-priming)] : [];
}

// In a transport stream, ffmpeg counts from the first packet of the streams in use unless an offset is given: pictures and sound
// encoded separately would start at different times.
function originArgs({ track }: Chunk, source: Source): string[] {
  return track !== "all" && containerOf(source).transport ? ["-itsoffset", "0.000001"] : [];
}

/** Returns the arguments before an input that keep its gaps, and its pictures when they change midway. */
export function inputArgs(plan: Plan, chunk: Chunk, source: Source): string[] {
  return [...(isPinned(plan, chunk, source) ? PINNED : []), ...(containerOf(source).restarts ? GAPS : [])];
}

// When the size or the format of pictures changes midway, ffmpeg rebuilds the graph, and what its filters have gathered or counted is
// lost.
const PINNED = ["-reinit_filter:v", "0"];

// Where ffmpeg turns pictures, it does so before the first filter, and takes no other size. A single picture may have any.
function isPinned(
  { video, image }: Plan,
  { track }: Chunk,
  { kind, rotation = 0, mirrored }: Source,
): boolean {
  const decoded = video?.mode === "encode" || image?.animated === true || image?.sheet !== undefined;
  return decoded && track !== "audio" && kind === "video" && rotation === 0 && !mirrored;
}

// In formats whose times may restart (AVFMT_TS_DISCONT), ffmpeg closes a gap of over 10 s in one stream as if all times jumped, and what
// follows loses its place. Where all go forward by less than this hour, the file's length counts the gap; where they go back, they seem to
// wrap, 26 hours ahead, and must still be mended.
const GAPS = ["-dts_delta_threshold", "3600"];

// A transport stream's decoding time precedes the presentation time by the reordering depth.
function seekMargin(source: Source): number {
  return containerOf(source).transport ? 1 + 8 / Math.max(1, source.fps ?? 25) : 0;
}

function trim(name: string, start: number | null, end: number | null): string[] {
  const parts = [
    ...(start === null ? [] : [`start=${seconds(start)}`]),
    ...(end === null ? [] : [`end=${seconds(end)}`]),
  ];
  return parts.length === 0 ? [] : [`${name}=${parts.join(":")}`];
}

// ffmpeg takes the first frame at or after a time; a viewer sees the last one at or before it. One frame earlier, plus a little,
// the two agree.
function frameSeek(start: number, source: Source): number {
  const frame = 1 / (source.fps ?? 25);
  const moment = 0.001 + containerOf(source).tick(frame) / 2;
  const pictures = source.streams?.find((stream) => stream.kind === "video")?.duration;
  const last = (pictures ?? source.duration ?? Number.POSITIVE_INFINITY) - frame;
  return Math.max(0, Math.min(start, last) - Math.max(0, frame - moment));
}

function seconds(value: number): string {
  return String(Number(value.toFixed(6)));
}

/** Returns ffmpeg's specifier of the stream that a plan's sound comes from. */
export function soundStream({ sound_track = 0 }: Pick<Plan, "sound_track">): string {
  return `0:a:${sound_track}`;
}
