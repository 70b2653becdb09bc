import { CLOCK, EPSILON_SECONDS } from "../clock.ts";
import { containerOf, hidesEnds, pictureFormat } from "../containers.ts";
import { hasSeeklessSound } from "../features/audio-format.ts";
import { FFMPEG_FPS } from "../features/fps.ts";
import { mainStream } from "../main-tracks.ts";
import { type Chunk, constantFps, type Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { picturesEnd } from "../timeline.ts";
import { assumptionFilters } from "./color.ts";

/** How to trim a source to a span: where to seek, and the filters that keep exactly the span's frames. */
export interface Trim {
  /** Arguments before the input. */
  seek: string[];
  /** Video filters; empty when everything is kept. */
  video: string[];
  /** Number of video filters that precede the count of the decoded pictures, which includes those that an edit list hides. */
  uncounted: number;
  /** Audio filters; empty when everything is kept. */
  audio: string[];
  /** Length of the span in seconds; null when the end of its pictures is unknown. */
  length: number | null;
  /** Seconds read before the span, which the filters remove. */
  lead: number;
  /** Seconds of source in a second of output. */
  speed: number;
}

/**
 * Trims a source to a chunk. ffmpeg's own `-t` and accurate `-ss` count from the first frame they keep and round independently, so
 * a frame at a seam could land in both chunks or in neither; these filters count from the start of the chunk.
 */
export function createTrim(plan: Plan, chunk: Chunk, source: Source): Trim {
  const trim = trimOf(plan, chunk, source);
  const before = decodedFilters(plan, chunk, source);
  return {
    ...trim,
    seek: [...inputArgs(plan, chunk, source), ...trim.seek],
    video: [...before, ...trim.video],
    uncounted: before.length + trim.uncounted,
  };
}

/** The point at which ffmpeg enters an input, and the relation of its times to the source's. */
export interface Entry {
  /** Arguments before the input. */
  seek: readonly string[];
  /** ffmpeg's timestamp of the start of the source, in seconds. */
  origin: number;
}

// Decoders need a packet or two before their output is complete.
const PREROLL_SECONDS = 0.1;

/**
 * Returns how ffmpeg enters one of several inputs that are joined, `earlier` seconds before a range of its source. ffmpeg reads the
 * input that lags most, so each one is shifted to its place `at` in the output: otherwise all would be read at once, and their pictures
 * and sound would fill memory.
 */
export function enterRange(
  plan: Plan,
  { input, at, ...range }: Chunk & { input: number; at: number },
  source: Source,
  earlier = 0,
): Entry {
  const start = Math.max(0, range.start - Math.max(PREROLL_SECONDS, earlier));
  const { seek, lead } = createTrim(plan, { ...range, start }, source);
  const from = start - lead;
  if (input === 0) return { seek, origin: -from };
  // Whole seconds are exact in the time base of every container.
  const shift = Math.ceil(at);
  const priming = from === 0 ? (source.priming ?? 0) : 0;
  return { seek: [...seek, "-itsoffset", formatSeconds(shift - priming)], origin: shift - from };
}

/** A joined video that may be a range of its source. */
interface JoinedRange {
  input: number;
  source: Source;
  /** Seconds of the source. */
  start?: number;
  end?: number;
  /** Start in the output, in seconds. */
  at: number;
}

/** Returns how ffmpeg enters a joined video that is a range of its source; null for a whole source. */
export function rangeEntry(plan: Plan, { input, source, start, end, at }: JoinedRange): Entry | null {
  if (start === undefined && end === undefined) return null;
  const range = { index: 0, track: "all", start: start ?? 0, end: end ?? null } as const;
  return enterRange(plan, { ...range, input, at }, source);
}

function decodedFilters(plan: Plan, chunk: Chunk, source: Source, input = 0): string[] {
  const scale = fixesInputSize(plan, chunk, source) ? ["scale"] : [];
  return [...scale, ...assumptionFilters(source), ...pixelFilters(source, input)];
}

/** Returns the filters that prepare the decoded pictures of an input whose parts other filters cut out. */
export function untrimmedFilters(plan: Plan, chunk: Chunk, source: Source, input: number): string[] {
  return [...decodedFilters(plan, chunk, source, input), `settb=1/${CLOCK}`, ...spreadTimes(source)];
}

function trimOf(plan: Plan, chunk: Chunk, source: Source): Trim {
  const none: Trim = {
    ...{ seek: [], video: [], uncounted: 0, audio: [] },
    ...{ length: null, lead: 0, speed: plan.speed ?? 1 },
  };
  if (plan.still) return none;
  const isExact = entersEdit(plan, chunk, source);
  if (plan.image && !plan.image.animated) {
    const { shown_from, decode_from } = chunk;
    const moment = shown_from === undefined ? frameSeek(plan.start, source) : shown_from - EPSILON_SECONDS;
    const seek = isExact ? moment : Math.max(0, moment);
    if (seek === 0) return none;
    if (source.untimed) {
      const filters = [...spreadTimes(source), ...trimFilter("trim", seek, null)];
      const video = withFineTimeBase(filters);
      return { ...none, video, uncounted: video.length };
    }
    const from = shown_from === undefined ? Math.min(seek, decode_from ?? seek) : (decode_from ?? seek);
    const at = Math.max(0, from - seekMargin(source));
    const video = withFineTimeBase([
      freezeLastPicture(Math.max(0, seek)),
      ...trimFilter("trim", seek - at, null),
    ]);
    return {
      ...none,
      seek: [...seekArgs(at, source), ...(at > 0 ? [] : originArgs(plan, chunk, source))],
      video,
      uncounted: video.length,
    };
  }
  const { start, end, shown_from = start } = chunk;
  const decode_from = readsAll(plan, chunk, source) ? 0 : (chunk.decode_from ?? start);
  const copied = plan.video === null && plan.audio?.mode === "copy";
  const at = Math.max(0, decode_from - (copied ? 2 * EPSILON_SECONDS : seekMargin(source)));
  const lead = start - at;
  const length = end === null ? null : end - start;
  const last = length === null ? null : lead + length;
  // At a constant rate, the fps filter needs the frame before the start: it is the one visible there.
  const constant = constantFps(plan) !== null || plan.image?.sheet !== undefined;
  const first = (start > 0 || isExact) && !constant ? shown_from - at - EPSILON_SECONDS : null;
  const until = last === null ? null : last - EPSILON_SECONDS;
  const hides = start === 0 && isExact;
  const times =
    shown_from < start && !constant
      ? [`setpts=${clampedTime(lead)}`]
      : lead > 0
        ? [`setpts=${sinceStart(lead)}`]
        : [];
  const opening = hides ? [...trimFilter("trim", first, null), ...times] : [];
  const video = withFineTimeBase([
    ...spreadTimes(source),
    ...trimFilter("trim", hides ? null : first, until),
    ...(hides ? opening : times),
  ]);
  return {
    seek: [...seekArgs(at, source), ...(at > 0 ? [] : originArgs(plan, chunk, source))],
    video,
    uncounted: video.length - opening.length,
    audio: [
      ...(isMisnumbered(source) ? ["asetpts=N/SR/TB"] : []),
      ...trimFilter("atrim", start > 0 ? lead : isExact || copiesEdit(plan, source) ? 0 : null, last),
      ...(lead > 0 ? [`asetpts=PTS-round(${formatSeconds(lead)}/TB)`] : []),
    ],
    length: length ?? picturesEnd(source, chunk),
    lead,
    speed: none.speed,
  };
}

// Some sources offer no lookup of times, and some sound decodes only from its beginning.
function readsAll({ audio, video }: Plan, { track, decode_from }: Chunk, source: Source): boolean {
  if (decode_from === undefined && (source.restarted || source.edited)) return true;
  return audio?.mode === "encode" && video?.mode !== "copy" && track !== "video" && hasSeeklessSound(source);
}

function sinceStart(lead: number): string {
  return `PTS-${Math.round(lead * CLOCK)}`;
}

function clampedTime(lead: number): string {
  return `'max(0,${sinceStart(lead)})'`;
}

// The decoder writes some PNGs in limited range, but ffmpeg's scale filter assumes that RGB has full range.
const FULL_RANGE = [
  "format=rgba",
  `lutrgb=${["r", "g", "b"].map((part) => `${part}='clip((val-16)*255/219,0,255)'`).join(":")}`,
];

function pixelFilters(source: Source, input: number): string[] {
  const { format, animated, has_alpha, premultiplied, transparent_color, pixel_format = "" } = source;
  const { alpha_track, limited_range } = pictureFormat(format);
  return [
    // ffmpeg 5.1 darkens black-and-white pictures when it scales them.
    ...(/^mono[bw]$/.test(pixel_format) && !transparent_color ? ["format=gray"] : []),
    ...(alpha_track && animated && has_alpha ? [`[${input}:V:1]alphamerge`] : []),
    ...(premultiplied ? ["format=gbrap", "unpremultiply=inplace=1"] : []),
    ...(limited_range && source.color?.range === "limited" ? FULL_RANGE : []),
    // colorkey accepts no smaller similarity; the source's grays are at least 1/15 apart.
    ...(transparent_color ? ["format=rgba", `colorkey=${transparent_color}:0.01:0`] : []),
  ];
}

// A tick of the file's own time base may be as long as a frame, and filters round comparisons to it.
function withFineTimeBase(filters: readonly string[]): string[] {
  return filters.length > 0 ? [`settb=1/${CLOCK}`, ...filters] : [];
}

// With packed B-frames, ffmpeg gives a picture the next one's time, and encoders drop one of two pictures with the same time.
function spreadTimes({ codecs, untimed, fps = FFMPEG_FPS }: Source): string[] {
  // An input that is joined to others begins at its place in the output.
  if (untimed) return [`setpts=N*${Math.round(CLOCK / fps)}+STARTPTS`];
  if (codecs?.video !== "mpeg4") return [];
  return [`setpts='if(lte(PTS,PREV_OUTPTS),PREV_OUTPTS+${Math.round(CLOCK / Math.max(1, fps) / 2)},PTS)'`];
}

// ffmpeg's times include the priming; everywhere else they count from the first audible sample.
function seekArgs(at: number, { priming = 0 }: Source): string[] {
  if (at > 0) return ["-noaccurate_seek", "-ss", formatSeconds(at + priming)];
  return priming > 0 ? ["-itsoffset", formatSeconds(-priming)] : [];
}

// Unless an offset is set, ffmpeg counts a transport stream from the first packet of the selected streams.
function originArgs({ image, audio }: Plan, { track, start }: Chunk, source: Source): string[] {
  const isPart = track !== "all" || (start > 0 && (image !== null || audio === null));
  return isPart && containerOf(source).transport ? ["-itsoffset", "0.000001"] : [];
}

// Headers may state an end after the last packet, and sound may outlast the pictures; the last picture is then the one visible.
function freezeLastPicture(seconds: number): string {
  return `tpad=stop_mode=clone:stop_duration=${formatSeconds(seconds)}`;
}

/** Returns the input arguments that keep gaps in time, and the filter graph when the picture size changes midway. */
export function inputArgs(plan: Plan, chunk: Chunk, source: Source): string[] {
  return [
    ...(fixesInputSize(plan, chunk, source) ? KEEP_GRAPH : []),
    ...(containerOf(source).restarts ? KEEP_GAPS : []),
    ...(copiesEdit(plan, source) || entersEdit(plan, chunk, source) ? EXACT_EDITS : []),
  ];
}

// When an edit starts between two pictures, ffmpeg (5.1) moves the next picture to its start, but not the sound.
const EXACT_EDITS = ["-advanced_editlist", "0", "-seek_timestamp", "1"];

// The times of the exact edit place the chunks.
function entersEdit({ video, image }: Plan, { track, shown_from }: Chunk, source: Source): boolean {
  if (source.preroll === undefined || source.edited || track === "audio") return false;
  if (image && !image.animated && !image.sheet) return shown_from !== undefined;
  return video?.mode === "encode" || image !== null;
}

/** Returns whether pictures are copied together with packets that an edit list hides. */
export function copiesEdit({ video }: Plan, source: Source): boolean {
  return video?.mode === "copy" && hidesEnds(source);
}

/** Returns a chunk that ends where the edit list of its source does: with exact edits, ffmpeg reads all packets after them. */
export function withinEdit(plan: Plan, chunk: Chunk, source: Source): Chunk {
  const isExact = copiesEdit(plan, source) || entersEdit(plan, chunk, source);
  if (!isExact || chunk.end !== null) return chunk;
  return { ...chunk, end: source.duration ?? null };
}

// By default ffmpeg rebuilds the graph when the size or pixel format changes, and filters lose their buffered frames and counts.
const KEEP_GRAPH = ["-reinit_filter:v", "0"];

// Autorotation precedes the first filter and cannot handle a size change.
function fixesInputSize(
  { video, image }: Plan,
  { track }: Chunk,
  { kind, rotation = 0, flipped }: Source,
): boolean {
  const decoded = video?.mode === "encode" || image?.animated === true || image?.sheet !== undefined;
  return decoded && track !== "audio" && kind === "video" && rotation === 0 && !flipped;
}

// In formats with AVFMT_TS_DISCONT, ffmpeg closes gaps over 10 s, which desynchronizes streams; it must still correct a 26-hour wrap.
const KEEP_GAPS = ["-dts_delta_threshold", "3600"];

// In a transport stream ffmpeg seeks by decoding times, which precede presentation times by the reordering depth.
function seekMargin(source: Source): number {
  return containerOf(source).transport ? 1 + 8 / Math.max(1, source.fps ?? FFMPEG_FPS) : 0;
}

function trimFilter(name: string, start: number | null, end: number | null): string[] {
  const parts = [
    ...(start === null ? [] : [`start=${formatSeconds(start)}`]),
    ...(end === null ? [] : [`end=${formatSeconds(end)}`]),
  ];
  return parts.length === 0 ? [] : [`${name}=${parts.join(":")}`];
}

// ffmpeg takes the first frame at or after a time; a viewer sees the last one at or before it.
function frameSeek(start: number, source: Source): number {
  const frame = 1 / (source.fps ?? FFMPEG_FPS);
  const moment = 0.001 + containerOf(source).tick(frame) / 2;
  const pictures = mainStream(source, "video")?.duration;
  const last = (pictures ?? source.duration ?? Number.POSITIVE_INFINITY) - frame;
  return Math.max(0, Math.min(start, last) - Math.max(0, frame - moment));
}

/** Returns whether the times that ffmpeg gives a source's packets are wrong, so that only their durations count. */
export function isMisnumbered({ format, restarted }: Source): boolean {
  return containerOf({ format }).numbered_frames && restarted === true;
}

/** Returns the filter that replaces wrong times of decoded sound; `origin` is ffmpeg's time of its start, in seconds. */
export function renumberSamples(source: Source, origin: number): string[] {
  return isMisnumbered(source) ? [`asetpts=N/SR/TB+round(${formatSeconds(origin)}/TB)`] : [];
}

/** Formats seconds for ffmpeg, to the microsecond. */
export function formatSeconds(value: number): string {
  return String(Number(value.toFixed(6)));
}

/** Returns ffmpeg's stream specifier of a plan's audio track. */
export function soundStream({ sound_track = 0 }: Pick<Plan, "sound_track">): string {
  return `0:a:${sound_track}`;
}
