import { containerOf, hidesEnds } from "../containers.ts";
import { movingPicture } from "../decoded-pictures.ts";
import { firstInputIndex } from "../extra-inputs.ts";
import { FORMATS } from "../formats.ts";
import { mainStream } from "../main-tracks.ts";
import type { VideoOptions } from "../options.ts";
import { createGeometry } from "../picture-geometry.ts";
import type { ConcatPart, Plan, VideoPlan } from "../plan.ts";
import type { JoinFault } from "../plan-errors.ts";
import * as errors from "../plan-errors.ts";
import { audibleTrack } from "../sound-plan.ts";
import type { Source } from "../source.ts";
import { joinableSeconds } from "../timeline.ts";
import { copiesPictures, pictureNeeds, videoFormat } from "../video-plan.ts";
import { hasLength } from "./concat.ts";
import { sourceForTrack } from "./track.ts";

/** A part whose pictures are copied. */
export interface CopiedPart {
  pictures: number;
  /** Seconds from the start of the file to the end of the last picture. */
  seconds: number;
  /** Ticks per second of their times. */
  ticks: number;
}

/** The copied parts of a joined video, in order; or why they cannot be copied, and the index of the input at fault. */
export type CopyJoin = { parts: CopiedPart[] } | { fault: JoinFault; input: number };

/**
 * Returns whether joined videos may be copied, which then depends on their indexes; false when an option or a part requires an
 * encode. Returns the fault when a copy is requested but impossible.
 */
export function canJoinByCopy(
  source: Source,
  options: VideoOptions,
  extra: readonly Source[],
): CopyJoin | boolean {
  if (options.concat === undefined) return false;
  const others = concatSources(options, extra);
  const all = [source, ...others.map((each) => each.source)];
  const cut = [{ source, range: options }, ...others].findIndex(({ source: each, range }) =>
    isCut(each, range),
  );
  const format = videoFormat(options, source);
  const input = all.findIndex(
    (each) => !containerOf({ format: each.format }).indexed || each.fragmented === true,
  );
  const truncated = all.findIndex((each) => each.truncated === true);
  const fault: CopyJoin | null = !containerOf({ format }).indexed
    ? { fault: "output", input: 0 }
    : input >= 0
      ? { fault: "format", input }
      : truncated >= 0
        ? { fault: "truncated", input: truncated }
        : cut >= 0
          ? { fault: "range", input: cut }
          : null;
  if (options.mode === "copy") return fault ?? true;
  // A target size needs pictures at a bitrate, and only AAC is muxed with copied pictures.
  const { target_size, mute, audio_codec = "aac" } = options;
  if (target_size !== undefined || (!mute && audio_codec !== "aac")) return false;
  const codec = options.codec ?? FORMATS.video[format].codecs[0];
  return fault === null && all.every((each) => !hidesEnds(each) && copiesPictures(each, codec, options));
}

/** Throws `invalid_options` when the videos cannot be joined by copying. */
export function checkCopyJoin(join: CopyJoin | null | undefined): void {
  if (join && "fault" in join) throw errors.copyJoinRefused(join);
}

interface OtherSource {
  /** Index among all inputs, including the main one. */
  input: number;
  source: Source;
  range: RangeOptions;
}

/** The requested range of a joined video, in seconds. */
interface RangeOptions {
  start?: number | undefined;
  end?: number | undefined;
}

function isCut({ duration = 0 }: Source, { start = 0, end = duration }: RangeOptions): boolean {
  return start > 0 || end < duration;
}

/** Returns the probed videos that a request joins to its input. */
export function concatSources(
  options: { concat?: RangeOptions[] | undefined } | object,
  extra: readonly Source[] = [],
): OtherSource[] {
  const list = ("concat" in options && options.concat) || [];
  const first = firstInputIndex(options, "concat");
  return list.flatMap((range, index) => {
    const source = extra[first + index];
    return source ? [{ input: first + index + 1, source, range }] : [];
  });
}

/**
 * Plans a joined video whose first part has the plan `video`; null when there is nothing to join yet. Keeps HDR if all parts have the
 * same transfer function. Throws `input_unsupported` when the duration of a part to encode is unknown.
 */
export function joinVideos(
  source: Source,
  video: VideoPlan,
  options: VideoOptions,
  { extra, copyJoin }: { extra?: readonly Source[] | undefined; copyJoin?: CopyJoin | null | undefined },
) {
  const others = concatSources(options, extra);
  if (others.length === 0) return null;
  const all = [{ input: 0, source, range: options }, ...others];
  if (video.mode === "copy") {
    if (!copyJoin || !("parts" in copyJoin)) return null;
    const concat = copyParts(all, copyJoin.parts, options);
    const seconds = concat.reduce((sum, { joined }) => sum + (joined?.seconds ?? 0), 0);
    return { ...joinedVideo(source, concat, video, seconds), transition: undefined };
  }
  if (video.fps === null) return null;
  const { fps } = video;
  const concat = encodeParts(all, { ...video, fps }, options);
  const overlap = options.transition ? Math.max(1, Math.round(options.transition.seconds * fps)) : 0;
  checkOverlaps(concat, overlap, fps);
  const frames = framesOf(concat) - overlap * (concat.length - 1);
  return {
    ...joinedVideo(source, concat, concat[0]?.video ?? video, frames / fps),
    frames,
    transition: overlap > 0 ? ({ kind: "fade", frames: overlap } as const) : undefined,
  };
}

function checkOverlaps(concat: readonly ConcatPart[], overlap: number, fps: number): void {
  for (const [index, { input, frames }] of concat.entries()) {
    const overlaps = index === 0 || index === concat.length - 1 ? overlap : 2 * overlap;
    if (frames <= overlaps && overlap > 0) throw errors.transitionTooLong({ input, seconds: frames / fps });
  }
}

function joinedVideo(source: Source, concat: readonly ConcatPart[], video: VideoPlan, duration: number) {
  const first = concat.find((part) => audibleTrack(part.source) !== null)?.source ?? source;
  const soundSource = sourceForTrack(first, { sound_track: audibleTrack(first) ?? 0 });
  return {
    concat,
    video,
    frames: framesOf(concat),
    span: { start: 0, end: null, duration },
    soundSource: { ...soundSource, streams: [] },
    sound_track: audibleTrack(source) ?? 0,
  };
}

function framesOf(concat: readonly ConcatPart[]): number {
  return concat.reduce((sum, { frames }) => sum + frames, 0);
}

function encodeParts(
  all: readonly OtherSource[],
  video: NonNullable<ConcatPart["video"]> & { fps: number },
  { background }: VideoOptions,
): ConcatPart[] {
  const { transfer } = all[0]?.source.color ?? {};
  const hdr = all.every(({ source: { color } }) => color?.hdr === true && color.transfer === transfer);
  const { width, height } = video.geometry;
  const frame = { width, height, fit: "contain", ...(background !== undefined && { background }) } as const;
  return all.map(({ input, source, range }, index) => {
    const duration = joinableSeconds(source);
    if (!duration || !hasLength(source)) throw errors.fileUnsuitable({ fault: "duration_unknown", source });
    const start = range.start ?? 0;
    const end = Math.min(range.end ?? duration, duration);
    if (start >= end) {
      const param = index === 0 ? "options.start" : `options.concat.${index - 1}.start`;
      throw errors.startBeyondEnd({ start, duration: Number(duration.toFixed(3)), param });
    }
    const geometry =
      input === 0
        ? video.geometry
        : createGeometry(movingPicture(source), frame, { even: true, alpha: false });
    const needs = pictureNeeds(source, hdr ? video.codec : "h264", { background }, geometry);
    return {
      input,
      source,
      video: { ...video, ...needs, geometry },
      frames: Math.max(1, Math.round((end - start) * video.fps)),
      ...(start > 0 && { start }),
      ...(end < (source.duration ?? end) && { end }),
    };
  });
}

function copyParts(
  all: readonly OtherSource[],
  parts: readonly CopiedPart[],
  { mute }: VideoOptions,
): ConcatPart[] {
  return all.flatMap(({ input, source }, at) => {
    const part = parts[at];
    if (!part) return [];
    const { pictures, ticks } = part;
    const seconds = mute ? part.seconds : shownSeconds(part, source);
    return [{ input, source, video: null, frames: pictures, joined: { seconds, ticks } }];
  });
}

// Matches an encode: it cuts audio that exceeds the pictures by less than half a picture, and otherwise extends the last one.
function shownSeconds({ pictures, seconds }: CopiedPart, source: Source): number {
  const track = audibleTrack(source);
  if (track === null) return seconds;
  const { end = 0 } = mainStream(sourceForTrack(source, { sound_track: track }), "audio") ?? {};
  const picture = seconds / Math.max(1, pictures);
  return seconds + Math.max(0, Math.round((end - seconds) / picture)) * picture;
}

/** A part of a joined video with its start in the output and its length, in seconds. */
export interface PlacedPart extends ConcatPart {
  at: number;
  seconds: number;
  /** Index of the audio track that the output uses; null when the part is silent. */
  sound: number | null;
}

/** Returns whether the pictures of several videos are joined by copying. */
export function joinsByCopy({ concat, video }: Pick<Plan, "concat" | "video">): boolean {
  return concat !== undefined && video?.mode === "copy";
}

/** Returns the parts of a joined video in order, each with its place; empty for other plans. */
export function placedParts({
  concat = [],
  audio,
  transition,
}: Pick<Plan, "concat" | "audio" | "transition">): PlacedPart[] {
  let frames = 0;
  let copied = 0;
  return concat.map((part) => {
    const { video, joined } = part;
    const fps = video?.fps ?? 1;
    const at = joined ? copied : frames / fps;
    frames += part.frames - (transition?.frames ?? 0);
    copied += joined?.seconds ?? 0;
    const seconds = joined?.seconds ?? part.frames / fps;
    return { ...part, at, seconds, sound: audio && audibleTrack(part.source) };
  });
}
