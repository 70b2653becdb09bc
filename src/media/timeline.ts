import { EPSILON_SECONDS, roundTime } from "./clock.ts";
import { DEFAULT_FPS, exactFps } from "./features/fps.ts";
import { needsPartial } from "./features/partial.ts";
import { findTrack } from "./features/track.ts";
import type { EncodeKind } from "./formats.ts";
import { mainStream } from "./main-tracks.ts";
import type { PartOption } from "./option-shapes.ts";
import {
  type Chunk,
  encodedChunks,
  isSpliced,
  outputStart,
  type Plan,
  type PlannedPart,
  type SourceRange,
  soundsOf,
  sourceSeconds,
  type VideoPlan,
} from "./plan.ts";
import * as errors from "./plan-errors.ts";
import type { Source } from "./source.ts";

/** A span of the source in seconds; `end` is null for up to the end, `duration` null when unknown. */
export interface Span {
  start: number;
  end: number | null;
  duration: number | null;
  /** The ranges, if there are several, in the order of the output; `duration` is their sum. */
  parts?: PlannedPart[];
}

/**
 * Returns options whose parts end within the source. Merges parts that follow each other without a gap; a single part becomes
 * `start` and `end`. Throws `invalid_options` for a part at or beyond the source's end, and `input_unsupported` when that is unknown.
 */
export function withRanges<
  O extends { start?: number | undefined; end?: number | undefined; parts?: PartOption[] | undefined },
>(options: O, { duration, duration_estimated }: Source): Omit<O, "parts"> & { parts?: SourceRange[] } {
  const { parts, ...rest } = options;
  if (!parts) return rest;
  const isEstimated = duration_estimated === true;
  if (duration === undefined || duration <= 0) throw errors.partsDurationUnknown();
  const ranges: SourceRange[] = [];
  for (const [index, { start = 0, end = duration }] of parts.entries()) {
    const range = { start, end: isEstimated ? end : Math.min(end, duration) };
    if (range.end - start < MIN_SECONDS) {
      const param = `options.parts.${index}.start`;
      throw errors.startBeyondEnd({ start, duration: Number(duration.toFixed(3)), param });
    }
    const last = ranges.at(-1);
    if (last && last.end === start) last.end = range.end;
    else ranges.push(range);
  }
  const [only, ...more] = ranges;
  return only && more.length === 0 ? { ...rest, ...only } : { ...rest, parts: ranges };
}

const MIN_SECONDS = 0.001;

/**
 * Places ranges one after the other in the output. At a constant frame rate each one takes whole pictures, at least one, so that its
 * sound lasts as long as they do.
 */
export function placeRanges(
  ranges: readonly SourceRange[],
  { speed, fps }: { speed: number; fps: number | null },
): Span {
  let [pictures, seconds] = [0, 0];
  const parts = ranges.map(({ start, end }) => {
    const at = fps === null ? roundTime(seconds / speed) : pictures / fps;
    seconds += end - start;
    if (fps === null) return { start, end, at };
    const count = Math.max(1, Math.round(((end - start) / speed) * fps));
    pictures += count;
    return { start, end: roundTime(start + (count / fps) * speed), at };
  });
  return {
    start: Math.min(...parts.map(({ start }) => start)),
    end: Math.max(...parts.map(({ end }) => end)),
    duration: fps === null ? seconds : (pictures / fps) * speed,
    parts,
  };
}

/**
 * Decides which span to keep, and limits its end to the source's. Throws `invalid_options` for a start at or beyond the source's
 * end, unless its duration is `estimated`.
 */
export function createSpan(
  options: { start?: number | undefined; end?: number | undefined },
  duration: number | undefined,
  estimated = false,
): Span {
  const start = options.start ?? 0;
  const source_end = duration !== undefined && duration > 0 ? duration : null;
  if (estimated && options.end !== undefined)
    return { start, end: options.end, duration: options.end - start };
  if (estimated && source_end !== null && start >= source_end) return { start, end: null, duration: null };
  if (source_end !== null && start >= source_end) {
    throw errors.startBeyondEnd({ start, duration: Number(source_end.toFixed(3)) });
  }
  const { end } = options;
  if (end === undefined || (source_end !== null && end >= source_end)) {
    return { start, end: null, duration: source_end === null ? null : source_end - start };
  }
  return { start, end, duration: end - start };
}

/** Returns a span with its duration at another playback speed. */
export function spanAtSpeed(span: Span, speed: number): Span {
  return { ...span, duration: span.duration === null ? null : span.duration / speed };
}

/** Default length of a chunk, in seconds of video. */
export const CHUNK_SECONDS = 60;

// Each chunk is a durable step of its run, and Cloudflare's Workflows allow 10,000 steps by default.
const MAX_CHUNKS = 4000;

/** Seconds per segment of adaptive video; chunks are cut at multiples of it. */
export const SEGMENT_SECONDS = 6;

/** Maximum seconds between the keyframes of a file. */
export const KEYFRAME_SECONDS = 5;

/** Seconds between the keyframes of adaptive video. */
export const GROUP_SECONDS = 2;

/** The facts that decide where a plan is cut. */
export interface ChunkNeeds {
  /** Start of the output in the source, in seconds. */
  start: number;
  /** End of the output in the source, in seconds; null for up to the end. */
  end: number | null;
  /** Seconds of source; null when unknown. */
  duration: number | null;
  /** Whether the video is encoded; a copy is not worth cutting. */
  encodes_video: boolean;
  has_audio: boolean;
  /** The number of audio tracks when there are several, each in its own chunk; absent for at most one. */
  sounds?: number | undefined;
  /** Whether a single audio track has a chunk of its own, too. */
  has_own_sound?: boolean | undefined;
  /** Output frames per second of source when constant; null otherwise. */
  fps: number | null;
  /** Whether the output consists of segments, which a chunk may not split. */
  segmented?: boolean;
}

/** How finely to cut a plan. */
export interface ChunkHints {
  /** Seconds of video per chunk; a plan of up to one and a half times that stays whole. Default 60. */
  chunk_seconds?: number | undefined;
  /** Times of the source's keyframes in seconds, ascending; a cut at a keyframe wastes no decoding. */
  keyframes?: readonly number[] | undefined;
}

/** Cuts a plan into chunks: a single one when it is short, otherwise chunks of video followed by the whole audio. */
export function createChunks(needs: ChunkNeeds, hints: ChunkHints = {}): Chunk[] {
  const { start, end, duration, sounds = 1, has_own_sound = sounds > 1 } = needs;
  const target = Math.max(hints.chunk_seconds ?? CHUNK_SECONDS, (duration ?? 0) / MAX_CHUNKS);
  if (!needs.encodes_video || duration === null || duration <= target * 1.5) {
    return withSounds([{ index: 0, track: has_own_sound ? "video" : "all", start, end }], needs);
  }
  const inner = needs.segmented
    ? segmentCuts(start, duration, target)
    : cuts(needs, duration, target, hints.keyframes ?? []);
  const edges = [start, ...inner];
  const chunks: Chunk[] = edges.map((edge, index) => ({
    index,
    track: "video",
    start: edge,
    end: edges[index + 1] ?? end,
  }));
  return withSounds(chunks, needs);
}

function withSounds(pictures: Chunk[], { start, end, has_audio, sounds = 1 }: ChunkNeeds): Chunk[] {
  if (!has_audio || pictures[0]?.track === "all") return pictures;
  const chunks = Array.from({ length: sounds }, (_, sound): Chunk => {
    const index = pictures.length + sound;
    return { index, track: "audio", start, end, ...(sound > 0 && { sound }) };
  });
  return [...pictures, ...chunks];
}

/** Returns the plan that an encoder receives for a chunk: without the other audio tracks, and without the work done on its files later. */
export function planOfChunk(
  { sounds, encryption, chapters, track_ends, ...whole }: Plan,
  chunk: Chunk,
): Plan {
  const { sound = 0 } = chunk;
  const plan = whole.video ? { ...whole, video: videoOfChunk(whole.video, chunk) } : whole;
  const own = sounds?.[sound];
  const chunks = encodedChunks(plan);
  return own ? { ...plan, chunks, audio: own.audio, sound_track: own.track } : { ...plan, chunks };
}

/** Returns a video with the rate of a chunk: that of the hardest sample in it, or next to it if it contains none. */
function videoOfChunk(video: VideoPlan | null, { start, end }: Pick<Chunk, "start" | "end">) {
  if (video?.mode !== "encode" || !video.rates) return video;
  const { rates, ...plain } = video;
  const isWithin = (at: number) => at >= start && at < (end ?? Number.POSITIVE_INFINITY);
  const own = rates.filter(({ at }) => isWithin(at));
  const near = [rates.findLast(({ at }) => at < start), rates.find(({ at }) => !isWithin(at) && at >= start)];
  const samples = own.length > 0 ? own : near.flatMap((sample) => sample ?? []);
  const crf = Math.min(...samples.map((sample) => sample.crf));
  return Number.isFinite(crf) ? { ...plain, rate: { crf } } : plain;
}

/** Returns a plan cut according to hints; joined videos stay whole, and spliced plans keep their cuts. */
export function cutPlan(plan: Plan, hints: ChunkHints): Plan {
  if (plan.concat || isSpliced(plan)) return plan;
  const chunks = plan.parts ? createPartChunks(plan, plan.parts, hints) : createSpanChunks(plan, hints);
  return { ...plan, chunks: withinTracks(chunks, plan) };
}

// A chunk of all tracks, as a copy from a later start has, ends with the longest.
function withinTracks(chunks: Chunk[], { track_ends }: Plan): Chunk[] {
  if (!track_ends) return chunks;
  const ends = { video: track_ends.pictures, audio: track_ends.sound, all: Number.POSITIVE_INFINITY };
  return chunks
    .map((chunk) => {
      const end = Math.min(chunk.end ?? Number.POSITIVE_INFINITY, ends[chunk.track]);
      return { ...chunk, end: Number.isFinite(end) ? end : null };
    })
    .filter(({ start, end }) => end === null || end > start)
    .map((chunk, index) => ({ ...chunk, index }));
}

function createSpanChunks(plan: Plan, hints: ChunkHints): Chunk[] {
  const { kind, start, end, video, audio, sounds, held: freeze, speed = 1 } = plan;
  const duration = freeze ? freeze.from - start : sourceSeconds(plan);
  const needs = {
    start,
    end,
    duration,
    has_audio: audio !== null,
    segmented: kind === "adaptive_video",
    encodes_video: video?.mode === "encode",
    sounds: sounds?.length,
    ...(needsOwnSound(plan) && { has_own_sound: true }),
    fps: video?.mode === "encode" && video.fps !== null ? video.fps / speed : null,
  };
  return createChunks(needs, hints);
}

function needsOwnSound({ start, video, audio, hidden_start, track_ends }: Plan): boolean {
  const encodes = video?.mode === "encode";
  // ffmpeg stops at the first incomplete packet of any track. A copy takes its start from its only chunk, so a copy that starts later
  // stays whole.
  if (track_ends && (encodes || start === 0)) return true;
  // To read the hidden beginning of a picture, ffmpeg must also read the hidden sound, which a copy would play.
  return hidden_start === true && audio?.mode === "copy" && encodes;
}

function createPartChunks(plan: Plan, parts: readonly PlannedPart[], hints: ChunkHints): Chunk[] {
  const { kind, start, end, video, audio, speed = 1 } = plan;
  const encodes_video = video?.mode === "encode";
  const fps = encodes_video && video.fps !== null ? video.fps / speed : null;
  const last = plan.held?.from ?? Number.POSITIVE_INFINITY;
  const pictures = parts.flatMap((part) => {
    const duration = (part.start < last ? Math.min(part.end, last) : part.end) - part.start;
    const needs = { ...part, duration, encodes_video, has_audio: false, fps };
    return createChunks({ ...needs, segmented: kind === "adaptive_video" }, hints).map((chunk): Chunk => {
      const at = roundTime(part.at + (chunk.start - part.start) / speed);
      return { ...chunk, track: "video", at };
    });
  });
  const needs = { start, end, duration: plan.duration, encodes_video, has_audio: audio !== null, fps };
  return withSounds(
    pictures.map((chunk, index) => ({ ...chunk, index })),
    { ...needs, sounds: plan.sounds?.length },
  );
}

/**
 * Returns the number of a chunk's first segment. The last `tail` seconds of a part, or fewer, get no segment of their own. Numbers may be
 * skipped, because a part with uneven pictures may have fewer segments.
 */
export function firstSegment(plan: Plan, chunk: Chunk, tail = 0): number {
  const { parts = [{ start: plan.start, end: plan.end ?? plan.start, at: 0 }] } = plan;
  const at = outputStart(plan, chunk);
  const own = parts.findLastIndex((part) => part.at <= at + EPSILON_SECONDS);
  const earlier = parts.slice(0, Math.max(0, own));
  const count = earlier.reduce((sum, { start, end }) => sum + segmentsIn(end - start - tail), 0);
  return count + Math.round((at - (parts[own]?.at ?? 0)) / SEGMENT_SECONDS);
}

function segmentsIn(seconds: number): number {
  return Math.max(1, Math.ceil((seconds - EPSILON_SECONDS) / SEGMENT_SECONDS));
}

function segmentCuts(start: number, duration: number, target: number): number[] {
  const segments = duration > target * (MAX_CHUNKS / 2) ? Math.ceil : Math.round;
  const length = Math.max(1, segments(target / SEGMENT_SECONDS)) * SEGMENT_SECONDS;
  const count = Math.max(0, Math.ceil(duration / length - 0.5) - 1);
  return Array.from({ length: count }, (_, index) => onGrid(start + (index + 1) * length, start, null));
}

function cuts(
  needs: ChunkNeeds,
  duration: number,
  target: number,
  keyframes: readonly number[],
): readonly number[] {
  const { start, fps } = needs;
  const count = Math.round(duration / target);
  const length = duration / count;
  const last = start + duration - length / 2;
  const edges: number[] = [];
  for (let index = 1; index < count; index++) {
    const even = start + index * length;
    const near = nearest(keyframes, even);
    const cut = near !== null && Math.abs(near - even) <= length / 2 ? near : even;
    const floor = (edges.at(-1) ?? start) + Math.min(1, length / 2);
    const grid = onGrid(cut, start, fps);
    if (grid >= floor && grid <= last) edges.push(grid);
  }
  return edges;
}

function onGrid(time: number, start: number, fps: number | null): number {
  const exact = fps === null ? time : start + Math.round((time - start) * fps) / fps;
  return roundTime(exact);
}

function nearest(times: readonly number[], target: number): number | null {
  let best: number | null = null;
  for (const time of times) {
    if (best === null || Math.abs(time - target) < Math.abs(best - target)) best = time;
  }
  return best;
}

/**
 * Returns the seconds from the start of a span to the end of its last picture: the end of the span or of the source's video. Null
 * when the source's headers do not state it; the last picture then gets the average duration.
 */
export function picturesEnd(
  source: Source,
  { start, end }: { start: number; end: number | null },
): number | null {
  const last = mainStream(source, "video")?.end ?? animationEnd(source);
  if (last === undefined) return null;
  const until = Math.min(end ?? last, last) - start;
  return until > 0 ? until : null;
}

function animationEnd({ kind, animated, duration }: Source): number | undefined {
  return kind === "image" && animated ? duration : undefined;
}

/** Returns the seconds of output up to the end of the last picture of a plan, or of a chunk of it; null when unknown. */
export function shownEnd(
  source: Source,
  plan: Plan,
  span: { start: number; end: number | null } = plan,
): number | null {
  const last = span === plan && plan.parts?.at(-1);
  const range = last || span;
  const freeze = freezeOf(plan, range);
  const until = freeze ? freeze.until - range.start : picturesEnd(source, range);
  return until === null ? null : (last ? last.at : 0) + until / (plan.speed ?? 1);
}

/** Seconds by which one track of a stream may end before another without stalling players. */
export const SLACK = 0.2;

/**
 * Plans a freeze of a stream's last picture when an audio track, or one of several parts, lasts longer: players stall, or cannot seek,
 * beyond the end of a track. Null for none.
 */
export function planFreeze(
  source: Source,
  plan: Pick<Plan, "start" | "end" | "parts" | "audio" | "sounds" | "sound_track">,
): Plan["held"] | null {
  const pictureEnd = trackEnd(source, "video");
  if (pictureEnd === undefined) return null;
  const { parts, end } = plan;
  if (parts && end !== null) return end > pictureEnd + SLACK ? { from: pictureEnd, until: end } : null;
  const soundEnds = soundsOf(plan).map(({ track }) => trackEnd(source, "audio", track) ?? 0);
  const from = Math.max(pictureEnd, plan.start);
  const until = Math.min(plan.end ?? Number.POSITIVE_INFINITY, Math.max(...soundEnds));
  return until > from + SLACK ? { from, until } : null;
}

/**
 * Returns the end in seconds of one of a source's tracks, by default of the one that the source describes; undefined when its headers
 * do not state it.
 */
export function trackEnd(source: Source, kind: "video" | "audio", index?: number): number | undefined {
  const stream =
    index === undefined
      ? mainStream(source, kind)
      : source.streams?.filter((each) => each.kind === kind)[index];
  return stream?.end ?? stream?.duration;
}

// A plan ends this many seconds before a cut, because the packet there may be incomplete.
const CUT_EDGE = 0.001;

/** Returns options with which a plan of a kind reads only whole packets of a truncated file. */
export function intactOptions<O extends object>(kind: EncodeKind, options: O, source: Source): O {
  const whole = needsPartial(source) ? intactEnd(kind, options, source) : null;
  if (whole === null || ("concat" in options && options.concat)) return options;
  if ("parts" in options && Array.isArray(options.parts)) {
    const within = ({ end = whole, ...range }) => ({ ...range, end: Math.min(end, whole) });
    return { ...options, parts: options.parts.map(within) };
  }
  const end = "end" in options && typeof options.end === "number" ? options.end : Number.POSITIVE_INFINITY;
  return { ...options, end: Math.min(end, whole) };
}

function intactEnd(kind: EncodeKind, options: object, source: Source): number | null {
  const isMute = "mute" in options && options.mute === true;
  const track = "track" in options ? (options.track as Parameters<typeof findTrack>[1]) : undefined;
  const pictures = kind === "audio" || kind === "waveform" ? undefined : wholeEnd(source, "video");
  const hasSound = pictures === undefined || (kind === "video" && !isMute) || kind === "adaptive_video";
  const sound = hasSound ? wholeEnd(source, "audio", findTrack(source, track)) : undefined;
  const ends = [pictures, sound].filter((end) => end !== undefined);
  if (ends.length === 0) return source.duration === undefined ? null : source.duration - CUT_EDGE;
  // The tracks of a stream end together.
  return kind === "adaptive_video" ? Math.min(...ends) : Math.max(...ends);
}

function wholeEnd(source: Source, kind: "video" | "audio", track?: number): number | undefined {
  if (source.codecs?.[kind] === null) return undefined;
  const end = trackEnd(source, kind, track);
  return end === undefined ? undefined : Math.max(0, end - CUT_EDGE);
}

/**
 * Returns where the whole packets of a truncated video's pictures and sound end, in seconds, so that each is read that far; null for
 * other plans.
 */
export function planTrackEnds(
  {
    kind,
    video,
    audio,
    concat,
    sound_track = 0,
  }: Pick<Plan, "kind" | "video" | "audio" | "concat" | "sound_track">,
  source: Source,
): NonNullable<Plan["track_ends"]> | null {
  if (!needsPartial(source) || kind !== "video" || !video || !audio || concat) return null;
  const pictures = wholeEnd(source, "video");
  const sound = wholeEnd(source, "audio", sound_track);
  return pictures === undefined || sound === undefined ? null : { pictures, sound };
}

/** Returns the seconds of a video that can be joined, up to the first end of a track if it is truncated; undefined when unknown. */
export function joinableSeconds(source: Source): number | undefined {
  if (!needsPartial(source)) return source.duration;
  const ends = [wholeEnd(source, "video"), wholeEnd(source, "audio", source.sound_track ?? 0)];
  return Math.min(source.duration ?? Number.POSITIVE_INFINITY, ...ends.filter((end) => end !== undefined));
}

/**
 * Returns how many times a chunk's last picture is repeated during the freeze, the time of the first repeat from the start of the chunk, and
 * the time between repeats, in seconds.
 */
export function freezePictures(
  { fps = DEFAULT_FPS }: Source,
  plan: Plan,
  chunk: Chunk,
): { count: number; from: number; seconds: number } {
  const seconds = 1 / Math.max(MIN_FPS, exactFps(fps));
  const freeze = freezeOf(plan, chunk);
  if (!freeze || chunk.track === "audio") return { count: 0, from: 0, seconds };
  const count = Math.max(1, Math.round((freeze.until - freeze.from) / seconds));
  const from = freeze.from - chunk.start;
  // A chunk after the last picture begins with it, and only then repeats it.
  return from > 0 ? { count, from, seconds } : { count: count - 1, from: seconds, seconds };
}

// Every segment must begin with a picture.
const MIN_FPS = 1;

/** Returns the freeze at the end of a span, in seconds of the source: each of several parts has its own. Null for none. */
function freezeOf(
  { held: freeze, parts, end }: Plan,
  span: { start: number; end: number | null },
): NonNullable<Plan["held"]> | null {
  if (!freeze || !parts) return freeze && span.end === end ? freeze : null;
  if (span.end === null || span.end <= freeze.from + SLACK) return null;
  return { from: Math.max(freeze.from, span.start), until: span.end };
}
