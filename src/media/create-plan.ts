import { NO_LANGUAGE, threeLetters } from "../util/text.ts";
import { EPSILON_SECONDS, roundTime } from "./clock.ts";
import { hasClearPadding, pictureFormat, playsHidden } from "./containers.ts";
import { anyPicture, hasVideo, movingPicture } from "./decoded-pictures.ts";
import type { ExtraFile } from "./extra-files.ts";
import { extraInputs, readerOf } from "./extra-inputs.ts";
import type { PictureSize } from "./feature.ts";
import { planMotion } from "./features/animation.ts";
import { codecIn } from "./features/audio-format.ts";
import { furtherCodecs } from "./features/codecs.ts";
import {
  type CopyJoin,
  checkCopyJoin,
  concatSources,
  joinsByCopy,
  joinVideos,
} from "./features/concat-plan.ts";
import { planEncryption } from "./features/encryption.ts";
import { exactFps, isEven } from "./features/fps.ts";
import type { GeometryOptions } from "./features/geometry.ts";
import { chapterBytes, planChapters, planTags } from "./features/metadata.ts";
import { findTruncatedFile } from "./features/partial.ts";
import { type Splice, type SpliceRefusal, splicedChunks, spliceRequest } from "./features/splice-plan.ts";
import { checkStillImage, isSeries, ownFormat, planSeries } from "./features/stills.ts";
import { planSprite } from "./features/storyboard.ts";
import { burnFiles, ownTextBytes, planSubtitles, subtitleBytes } from "./features/subtitles.ts";
import { textFiles } from "./features/text.ts";
import { findTrack, languageOf, sourceForTrack } from "./features/track.ts";
import { planWaveform } from "./features/waveform.ts";
import { movesPictures, planPictures, planWhole } from "./features.ts";
import {
  ANIMATION_DEFAULTS,
  DEFAULT_FORMAT,
  type EncodeKind,
  FORMATS,
  type ImageFormat,
  STORYBOARD_DEFAULTS,
  type VideoFormat,
} from "./formats.ts";
import type {
  AdaptiveVideoOptions,
  AnimationOptions,
  AudioOptions,
  ImageOptions,
  OptionsOf,
  StoryboardOptions,
  VideoOptions,
  WaveformOptions,
} from "./options.ts";
import { createGeometry, createView, type StoredPicture, storedPicture } from "./picture-geometry.ts";
import {
  constantFps,
  type ImagePlan,
  type Plan,
  type PlannedPart,
  plannedOf,
  type SourceRange,
  type VideoPlan,
} from "./plan.ts";
import * as errors from "./plan-errors.ts";
import { fixedQuality, isAutoQuality } from "./quality-search.ts";
import { copiedBytes, createLadder, imageQuality, VIDEO_FLOOR, videoBitsWithin } from "./rates.ts";
import { loudnessChange, soundPlan, streamSounds } from "./sound-plan.ts";
import type { Source } from "./source.ts";
import {
  type ChunkHints,
  createSpan,
  cutPlan,
  intactOptions,
  placeRanges,
  planFreeze,
  planTrackEnds,
  type Span,
  shownEnd,
  spanAtSpeed,
  withRanges,
} from "./timeline.ts";
import {
  continuePictures,
  copyPictures,
  copySound,
  copySoundOnly,
  createVideoPlan,
  holdsCopiedSound,
  matteFor,
  pictureNeeds,
  soundFormat,
  videoFormat,
  withoutSmart,
} from "./video-plan.ts";

function createImage(
  source: Source,
  picture: StoredPicture,
  format: ImageFormat,
  options: GeometryOptions & Pick<ImageOptions, "quality">,
  even = false,
): Omit<ImagePlan, "animated"> {
  const facts = FORMATS.image[format];
  const quality = imageQuality(format, options.quality);
  checkMeasurable(options, format, quality);
  const { max_side = Number.POSITIVE_INFINITY } = pictureFormat(format);
  const rules = { even, alpha: hasClearPadding(format, source), max: max_side };
  const geometry = createGeometry(picture, options, rules);
  const alpha = facts.alpha && (source.has_alpha === true || geometry.pad?.color.length === 10);
  return {
    geometry,
    quality,
    alpha,
    ...planPictures(options, source, null, geometry),
    matte: alpha ? null : matteFor(source, options.background),
  };
}

/** Throws `invalid_options` when a measured quality is requested for a format without adjustable quality. */
function checkMeasurable(options: object, format: ImageFormat, quality: number | null): void {
  if (isAutoQuality(options) && quality === null) throw errors.autoQualityLossless({ format });
}

/** Facts for a plan besides the source and the options. */
export interface PlanHints extends ChunkHints {
  /** The extra inputs as probed, in order; absent before they are read. */
  extra?: readonly Source[] | undefined;
  /** Whether joined videos can be copied; null or absent when they are encoded anyway. */
  copyJoin?: CopyJoin | null | undefined;
  /** The packets of the source to copy for a video in parts, or the reason that none can be copied; absent before they are read. */
  splice?: Splice | SpliceRefusal | null | undefined;
  /** Whether a video with `target_size` is encoded although it could be copied; default false. */
  encodes?: boolean | undefined;
}

/** Returns whether a handwritten source lacks facts that a plan needs, and so must be probed first. */
export function needsProbe(source: Source): boolean {
  if (source.codecs === undefined) return true;
  return source.codecs.video !== null && storedPicture(source) === null;
}

/**
 * Plans all the work for a probed source, before any of it starts.
 *
 * @throws `input_no_video`, `input_no_audio` or `input_unsupported` when the source lacks what the kind needs, and
 * `invalid_options` when the options do not suit the source.
 */
export function createPlan<K extends EncodeKind>(
  source: Source,
  kind: K,
  options: OptionsOf<K>,
  hints: PlanHints = {},
): Plan {
  if (!Object.hasOwn(PLANS, kind)) throw errors.kindUnknown({ kind });
  const cut = findTruncatedFile(source, options, concatSources(options, hints.extra));
  if (cut) throw errors.cutOff(cut);
  const plan = PLANS[kind](source, intactOptions(kind, options, source), hints);
  const features = planWhole(plannedOf(plan), source, options);
  const track_ends = planTrackEnds(plan, source);
  const whole = {
    ...plan,
    ...features,
    ...placePictureFades(features, plan, source),
    ...(track_ends && { track_ends }),
  };
  return features.hidden_start || track_ends ? cutPlan(whole, hints) : whole;
}

function placePictureFades(
  { picture_fades: fades }: Pick<Plan, "picture_fades">,
  plan: Plan,
  source: Source,
): Pick<Plan, "picture_fades"> {
  if (!fades) return {};
  const { in: rise = 0, out } = fades;
  if (plan.duration === null && out) throw errors.fadeEndUnknown({ name: "picture_fade_out" });
  if (plan.duration === null) return {};
  const duration = Math.min(plan.duration, picturesLength(plan, source) ?? plan.duration);
  if (rise + (out?.seconds ?? 0) > duration) {
    const name = rise > duration || !out ? "picture_fade_in" : "picture_fade_out";
    throw errors.fadeTooLong({ name, duration: roundTime(duration) });
  }
  if (!out) return {};
  return { picture_fades: { ...fades, out: { ...out, at: roundTime(duration - out.seconds) } } };
}

/** Returns for how many seconds an output has pictures; null when unknown. At a constant rate, the last one lasts to the end of a span. */
function picturesLength(plan: Plan, source: Source): number | null {
  const isFilled = plan.concat || (constantFps(plan) !== null && (plan.parts || plan.end !== null));
  return isFilled ? plan.duration : shownEnd(source, plan);
}

const PLANS: {
  readonly [K in EncodeKind]: (source: Source, options: OptionsOf<K>, hints: PlanHints) => Plan;
} = {
  video: videoPlan,
  audio: audioPlan,
  image: imagePlan,
  animation: animationPlan,
  storyboard: storyboardPlan,
  waveform: waveformPlan,
  adaptive_video: adaptivePlan,
};

function videoPlan(source: Source, options: VideoOptions, hints: PlanHints): Plan {
  const { target_size } = options;
  if (target_size === undefined) return planVideo(source, options, hints);
  const copy = hints.encodes ? null : planCopyWithin(target_size, source, options, hints);
  if (copy) return copy;
  const plan = planVideo(source, { ...options, bitrate: VIDEO_FLOOR }, { extra: hints.extra });
  const text = subtitleBytes(options, hints.extra, plan.parts) + ownTextBytes(plan, source);
  const bitrate = videoBitsWithin(target_size - text - chapterBytes(plan, source), plan, source);
  return { ...planVideo(source, { ...options, bitrate }, hints), target_size };
}

/** Plans a video that copies the source's pictures if the file can stay within `bytes`; otherwise null. */
export function planCopyWithin(
  bytes: number,
  source: Source,
  { target_size: _, bitrate: __, quality: ___, ...options }: VideoOptions,
  hints: PlanHints = {},
): Plan | null {
  const plan = planVideo(source, options, hints);
  const size = copiedBytes(plan, source);
  return size !== null && size.min + subtitleBytes(options, hints.extra) <= bytes ? plan : null;
}

/**
 * Plans a video whose parts are copied, with encoded pieces around the cuts in the mode `smart`. Such a plan has no chunks before the
 * packets are read. Returns null for any other video, and for a smart cut of which nothing can be copied.
 */
function planSplice(source: Source, options: VideoOptions, { splice }: PlanHints): Plan | null {
  const { mode } = options;
  const request = spliceRequest(source, { kind: "video", options });
  const facts = splice ?? request;
  if (!request || !facts || (mode === "smart" && "fault" in facts)) return null;
  const format = videoFormat(options, source);
  const picture = movingPicture(source);
  const copy = () => copyPictures(source, picture, format, { codec: options.codec });
  const copied = mode === "copy" ? copy() : null;
  if ("fault" in facts) throw errors.copyPartsRefused(facts);
  const usable = "parts" in facts ? facts : null;
  const ranges = "ranges" in request ? request.ranges : [];
  const { span, parts } = placeSplice(source, ranges, mode === "copy" ? usable : null);
  const sound = splicedSound(source, options, format, span);
  const base = blank("video", format, span);
  const chunks = usable ? splicedChunks(parts, usable) : [];
  const isCopied = chunks.every((chunk) => chunk.copy);
  const video = copied ?? (isCopied ? copy() : continuePictures(source, picture, usable?.sets));
  const soundChunk = { index: chunks.length, track: "audio", start: span.start, end: span.end } as const;
  const plan = {
    ...base,
    ...planTags(source, format, options.metadata),
    ...planSubtitles(source, options),
    ...planChapters(source, format, options.metadata, base),
    video,
    ...sound,
    ...languageFact(source, sound),
    chunks: sound.audio?.mode === "encode" ? [...chunks, soundChunk] : chunks,
  };
  return { ...plan, frames: frameCount(source, span, null) };
}

/** Places the ranges of a splice one after the other; those of a copy begin and end where its packets do. */
function placeSplice(
  source: Source,
  ranges: readonly SourceRange[],
  copy: Splice | null,
): { span: Span; parts: readonly PlannedPart[] } {
  const cuts = copy?.parts.filter((part) => part !== null) ?? ranges;
  const layout = placeRanges(cuts, { speed: 1, fps: null });
  const [range] = ranges;
  const isSingle = range !== undefined && ranges.length === 1;
  const span = isSingle ? createSpan(range, source.duration, source.duration_estimated) : layout;
  return { span, parts: layout.parts ?? [] };
}

function splicedSound(source: Source, options: VideoOptions, format: VideoFormat, span: Span) {
  const soundOptions = { ...options, quality: fixedQuality(options.quality) };
  const sound = soundPlan(source, FORMATS.video[format].audio, soundOptions, span, true);
  if (!sound.audio) return sound;
  const own = sourceForTrack(source, sound);
  const encodes = options.mode === "smart" && !holdsCopiedSound(own, format);
  return { ...sound, audio: encodes ? sound.audio : copySound(own, format) };
}

function planVideo(source: Source, request: VideoOptions, hints: PlanHints): Plan {
  const spliced = planSplice(source, request, hints);
  if (spliced) return spliced;
  const { parts, ...options } = withRanges(withoutSmart(source, request, hints.splice), source);
  const picture = movingPicture(source);
  const format = videoFormat(options, source);
  const copies = options.mode === "copy";
  const facts = FORMATS.video[format];
  const { speed = 1 } = options;
  const trimmed =
    parts !== undefined ||
    isTrimmed(createSpan(options, source.duration, source.duration_estimated)) ||
    speed !== 1 ||
    options.concat !== undefined ||
    playsHidden(source, format);
  if (copies) checkCopyJoin(hints.copyJoin);
  const joined = concatSources(options, hints.extra).map((other) => other.source);
  const main =
    copies || (hints.copyJoin && "parts" in hints.copyJoin)
      ? copyPictures(source, picture, format, options)
      : createVideoPlan(source, picture, options.codec ?? facts.codecs[0], options, trimmed, joined);
  const own = parts
    ? placeRanges(parts, { speed, fps: main.mode === "encode" ? main.fps : null })
    : createSpan(options, source.duration, source.duration_estimated);
  const join = joinVideos(source, main, options, hints);
  const { video = main, span = own, concat, transition } = join ?? {};
  const soundOptions = {
    ...options,
    quality: fixedQuality(options.quality),
    bitrate: options.audio_bitrate,
    isLimited: options.target_size !== undefined,
  };
  const soundCodec = options.audio_codec ?? facts.audio;
  const sound = soundPlan(join?.soundSource ?? source, soundCodec, soundOptions, span, trimmed);
  if (copies && sound.audio) {
    if (options.concat) throw errors.copyJoinedSound();
    sound.audio = copySound(sourceForTrack(source, sound), format);
  }
  const fps = video.mode === "encode" ? video.fps : null;
  const frames = join?.frames ?? frameCount(source, fps === null ? span : spanAtSpeed(span, speed), fps);
  const base = blank("video", format, span, speed);
  const plan = {
    ...base,
    ...planTags(source, format, options.metadata, keepsLoudness(sound, join?.soundSource ?? source)),
    ...planSubtitles(options.concat ? { ...source, streams: [] } : source, options),
    ...(options.concat ? {} : planChapters(source, format, options.metadata, base)),
    frames,
    video,
    ...sound,
    ...(join && sound.audio && join.sound_track > 0 && { sound_track: join.sound_track }),
    ...languageFact(join?.soundSource ?? source, sound),
    ...(concat && { concat }),
    ...(transition && { transition }),
    ...extraFiles(options, hints.extra, video.mode === "encode" ? video.geometry : null),
  };
  const sounds =
    plan.audio?.mode === "encode" ? [{ index: 0, track: "audio" as const, start: 0, end: null }] : [];
  return joinsByCopy(plan) ? { ...plan, chunks: sounds } : cutPlan(plan, hints);
}

function audioPlan(source: Source, request: AudioOptions): Plan {
  const { parts, ...options } = withRanges(request, source);
  const copies = options.mode === "copy";
  const own = copies ? sourceForTrack(source, { sound_track: findTrack(source, options.track) }) : source;
  const format = soundFormat(options, own);
  if (copies && parts) throw errors.copySoundParts();
  const { speed = 1 } = options;
  const span = parts
    ? placeRanges(parts, { speed, fps: null })
    : createSpan(options, source.duration, source.duration_estimated);
  const trimmed = isTrimmed(span) || speed !== 1 || playsHidden(source, format);
  const sound = soundPlan(source, (track) => codecIn(format, track), options, span, trimmed);
  if (!sound.audio) throw errors.noSound();
  if (copies) sound.audio = copySoundOnly(own, format, span);
  const plan = blank("audio", format, span, speed);
  return {
    ...plan,
    ...planTags(source, format, options.metadata, keepsLoudness(sound, source), plan),
    ...planChapters(source, format, options.metadata, plan),
    ...sound,
  };
}

function keepsLoudness(sound: Pick<Plan, "audio" | "sound_track">, source: Source): boolean {
  return sound.audio !== null && loudnessChange(sound, source) === null;
}

function languageFact(source: Source, { audio, sound_track = 0 }: Pick<Plan, "audio" | "sound_track">) {
  const language = audio ? threeLetters(languageOf(source, sound_track)) : NO_LANGUAGE;
  return language === NO_LANGUAGE ? {} : { language };
}

function imagePlan(source: Source, options: ImageOptions, hints: PlanHints): Plan {
  const picture = anyPicture(source, "image");
  const format = options.format ?? ownFormat(source, options) ?? DEFAULT_FORMAT.image;
  const animated = source.animated === true && FORMATS.image[format].animated && options.start === undefined;
  const still = source.kind === "image" && source.animated !== true;
  if (still) checkStillImage(options);
  const span = still
    ? { start: 0, end: null, duration: null }
    : createSpan({ start: options.start }, source.duration);
  const { max_bytes } = options;
  const limit = max_bytes !== undefined && { max_bytes };
  const pictures = createImage(source, picture, format, options);
  const image = { ...pictures, animated, ...limit };
  const plan = {
    ...blank("image", format, span),
    still,
    image,
    ...extraFiles(options, hints.extra, image.geometry),
  };
  if (isSeries(options)) {
    const sheet = planSeries(span.duration, options);
    return { ...plan, frames: sheet.sheets, image: { ...image, animated: true, sheet } };
  }
  if (animated) return { ...plan, frames: frameCount(source, span, null) };
  return { ...plan, duration: null, frames: 1 };
}

function animationPlan(source: Source, request: AnimationOptions, hints: PlanHints): Plan {
  const { parts, ...options } = withRanges(request, source);
  const picture = movingPicture(source, "animation");
  const format = options.format ?? DEFAULT_FORMAT.animation;
  const motion = planMotion(source, format, options, movesPictures(options));
  const span = parts
    ? placeRanges(parts, { speed: 1, fps: motion.fps })
    : createSpan(options, source.duration, source.duration_estimated);
  const image = createImage(source, picture, format, withDefaultWidth(picture, options));
  return {
    ...blank("animation", format, span),
    frames: frameCount(source, span, motion.fps),
    image: { ...image, animated: true, motion },
    ...extraFiles(options, hints.extra, image.geometry),
  };
}

function withDefaultWidth(picture: StoredPicture, options: AnimationOptions): AnimationOptions {
  if (options.width !== undefined || options.height !== undefined) return options;
  const { displaySize } = createView(picture, options);
  return { ...options, width: Math.min(displaySize.width, ANIMATION_DEFAULTS.width) };
}

function storyboardPlan(source: Source, options: StoryboardOptions): Plan {
  const picture = movingPicture(source, "storyboard");
  const format = options.format ?? DEFAULT_FORMAT.storyboard;
  const span = createSpan(options, source.duration, source.duration_estimated);
  const { width = STORYBOARD_DEFAULTS.width, quality } = options;
  // At odd sizes, neighboring tiles would share chroma samples.
  const tile = createImage(source, picture, format, { width, quality }, true);
  const sheet = planSprite(span.duration, options, tile.geometry);
  return {
    ...blank("storyboard", format, span),
    frames: sheet.sheets,
    image: { ...tile, alpha: false, matte: matteFor(source, undefined), animated: true, sheet },
  };
}

// A waveform is one chunk, because a lossy decoder may return different samples after a seek.
function waveformPlan(source: Source, options: WaveformOptions): Plan {
  const format = options.format ?? DEFAULT_FORMAT.waveform;
  const span = createSpan(options, source.duration, source.duration_estimated);
  const sound = soundPlan(source, "pcm_s16le", options, span, true);
  if (!sound.audio) throw errors.noSound();
  const waveform = planWaveform(sourceForTrack(source, sound), options, span.duration);
  return { ...blank("waveform", format, span), ...sound, waveform };
}

function adaptivePlan(source: Source, request: AdaptiveVideoOptions, hints: PlanHints): Plan {
  const { parts, ...options } = alignStarts(withRanges(request, source), source);
  const format = options.format ?? DEFAULT_FORMAT.adaptive_video;
  const span = parts
    ? placeRanges(parts, { speed: 1, fps: null })
    : createSpan(options, source.duration, source.duration_estimated);
  // Always encoded: copied packets may change their channel layout, which HLS forbids.
  const sound = streamSounds(source, options, span);
  const { audio } = sound;
  const i_frames = options.i_frames && ({ i_frames: true } as const);
  const encryption = options.encryption && { encryption: planEncryption(options.encryption) };
  const plan = { ...blank("adaptive_video", format, span), ...sound, ...i_frames, ...encryption };
  if (!hasVideo(source) && audio && !options.subtitles?.length) return plan;
  if (hasAv1(options) && !isEven(source.fps ?? Number.NaN)) throw errors.av1FrameRate();
  const renditions = createLadder(movingPicture(source), options);
  const [best] = renditions;
  if (!best) throw errors.picturesTooSmall();
  const video: VideoPlan = {
    mode: "encode",
    codec: "h264",
    geometry: best.geometry,
    rate: best.rate,
    fps: null,
    ...pictureNeeds(source, "h264", options, best.geometry),
  };
  const frames = frameCount(source, span, null);
  const freeze = planFreeze(source, plan);
  // Uncut by default: not every encoder can produce segments that can be joined.
  const whole = { chunk_seconds: Number.POSITIVE_INFINITY };
  const stream = {
    ...plan,
    ...planSubtitles(source, options),
    ...extraFiles(options, hints.extra, best.geometry),
    frames,
    video,
    renditions,
    ...(freeze && { held: freeze }),
  };
  return cutPlan(stream, hints.chunk_seconds === undefined ? whole : hints);
}

// The encoder of AV1 counts pictures from keyframe to keyframe, which must be two seconds apart.
function hasAv1({ codecs }: Pick<AdaptiveVideoOptions, "codecs">): boolean {
  return furtherCodecs(codecs).includes("av1");
}

/** Moves the starts of a stream with AV1 back to those of pictures: from within a picture, its segments would differ from those of H.264. */
function alignStarts<
  O extends Pick<AdaptiveVideoOptions, "start" | "codecs"> & { parts?: readonly SourceRange[] },
>(options: O, { fps }: Source): O {
  if (fps === undefined || !hasAv1(options)) return options;
  const rate = exactFps(fps);
  const startOf = (start: number) => roundTime(Math.floor((start + EPSILON_SECONDS) * rate) / rate);
  const { start, parts } = options;
  return {
    ...options,
    ...(start !== undefined && { start: startOf(start) }),
    ...(parts && { parts: parts.map((part) => ({ ...part, start: startOf(part.start) })) }),
  };
}

function extraFiles(
  options: object,
  sources: readonly Source[] = [],
  picture: PictureSize | null,
): { further?: ExtraFile[] } {
  const inputs = extraInputs({ options }).filter(({ role }) => readerOf(role) !== "host");
  const files = inputs.map(({ role }, at): ExtraFile => {
    const { format = "unknown", filesize = 0, width = 0, height = 0 } = sources[at] ?? {};
    return { role, format, size: filesize, pixels: width * height };
  });
  const drawings = picture
    ? [...burnFiles(options, sources, picture), ...textFiles(options, sources, picture)]
    : [];
  const all = [...files, ...drawings];
  return all.length > 0 ? { further: all } : {};
}

function blank(kind: EncodeKind, format: string, span: Span, speed = 1): Plan {
  return {
    kind,
    format,
    still: false,
    ...spanAtSpeed(span, speed),
    ...(speed !== 1 && { speed }),
    frames: null,
    video: null,
    audio: null,
    image: null,
    renditions: [],
    chunks: [{ index: 0, track: "all", start: span.start, end: span.end }],
  };
}

function frameCount(source: Source, span: Span, fps: number | null): number | null {
  const rate = fps ?? source.fps;
  if (rate === undefined || span.duration === null) return null;
  if (span.parts && fps === null) {
    const pictures = span.parts.map(({ start, end }) => Math.max(1, Math.round((end - start) * rate)));
    return pictures.reduce((sum, count) => sum + count, 0);
  }
  return Math.max(1, Math.round(span.duration * rate));
}

function isTrimmed(span: Span): boolean {
  return span.start > 0 || span.end !== null;
}
