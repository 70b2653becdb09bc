import { MediaError } from "../core/errors.ts";
import { DEFAULT_FORMAT, type EncodeKind, FORMATS, STORYBOARD_DEFAULTS } from "../core/formats.ts";
import type {
  AdaptiveVideoOptions,
  AnimationOptions,
  AudioOptions,
  ImageOptions,
  OptionsOf,
  StoryboardOptions,
  VideoOptions,
} from "../core/options.ts";
import type { Source } from "../core/source.ts";
import { encryptionInPlaylists } from "../core/streams/encryption.ts";
import type { WaveformOptions } from "../core/waveform/waveform-options.ts";
import { NO_LANGUAGE, threeLetters } from "../util/language.ts";
import { errorFor } from "../words/reason-words.ts";
import { findTrack, heardSource, languageOf } from "./audio.ts";
import { cutPlan } from "./chunks.ts";
import { copyPictures, copySound, copySoundAlone, soundFormat, videoFormat } from "./copied.ts";
import { planBurn } from "./further/burn.ts";
import { furtherFiles } from "./further/further-file.ts";
import { checkJoint, refuseJoinedSound } from "./further/join.ts";
import { joinVideos } from "./further/joined-film.ts";
import { joinsByCopy } from "./further/placed-parts.ts";
import type { PlanHints } from "./further/plan-hints.ts";
import { createMotion, withUsualSize } from "./image/animation.ts";
import { createImage } from "./image/image.ts";
import { anyPicture, hasVideo, movingPicture } from "./image/pictures.ts";
import { asksStills, createStills, ownFormat, stillSpan } from "./image/stills.ts";
import { createSheet } from "./image/storyboard.ts";
import { createLadder } from "./ladder.ts";
import { chapterBytes, planChapters, planMetadata } from "./metadata.ts";
import { holdPicture } from "./pictures-end.ts";
import type { Plan, VideoPlan } from "./plan.ts";
import { storedPicture } from "./size.ts";
import { soundPlan, streamSounds } from "./sound/plan-sound.ts";
import { createSpan, played, type Span } from "./span.ts";
import { ownTextBytes, planSubtitles, subtitleBytes } from "./subtitles/subtitles.ts";
import { createVideoPlan, matteFor, pictureNeeds } from "./video.ts";
import { VIDEO_FLOOR, videoBitsWithin } from "./video-bits.ts";
import { createWaveform } from "./waveform/create-waveform.ts";

/** Returns whether a source states too little for a plan, because it was written by hand, and must be probed first. */
export function needsProbe(source: Source): boolean {
  if (source.codecs === undefined) return true;
  return source.codecs.video !== null && storedPicture(source) === null;
}

/**
 * Decides everything to be done with a probed source, before any work starts.
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
  if (!Object.hasOwn(PLANS, kind)) {
    throw new MediaError("invalid_kind", `There is no plan for the kind ${kind}.`);
  }
  return PLANS[kind](source, options, hints);
}

const PLANS: {
  readonly [K in EncodeKind]: (source: Source, options: OptionsOf<K>, hints: PlanHints) => Plan;
} = {
  ...{ video: videoPlan, audio: audioPlan },
  ...{ image: imagePlan, animation: animationPlan, storyboard: storyboardPlan },
  ...{ waveform: waveformPlan, adaptive_video: adaptivePlan },
};

function videoPlan(source: Source, asked: VideoOptions, hints: PlanHints): Plan {
  const { target_size } = asked;
  if (target_size === undefined) return planVideo(source, asked, hints);
  // The rest of the file's size follows from a plan; the pictures get what is left.
  const plan = planVideo(source, { ...asked, bitrate: VIDEO_FLOOR }, { further: hints.further });
  const beside =
    subtitleBytes(asked, hints.further) + ownTextBytes(plan, source) + chapterBytes(plan, source);
  const bitrate = videoBitsWithin(target_size - beside, plan, source);
  return { ...planVideo(source, { ...asked, bitrate }, hints), target_size };
}

function planVideo(source: Source, options: VideoOptions, hints: PlanHints): Plan {
  const stored = movingPicture(source);
  const format = videoFormat(options, source);
  const copies = options.mode === "copy";
  const facts = FORMATS.video[format];
  const own = createSpan(options, source.duration, source.duration_estimated);
  const { speed = 1 } = options;
  const trimmed = isTrimmed(own) || speed !== 1 || options.concat !== undefined;
  if (copies) checkJoint(hints.joint);
  const planned =
    copies || (hints.joint && "parts" in hints.joint)
      ? copyPictures(source, stored, format, options)
      : createVideoPlan(source, stored, options.codec ?? facts.codecs[0], options, trimmed);
  // `bitrate` is that of the pictures.
  const sound = { ...options, bitrate: options.audio_bitrate };
  const joined = joinVideos(source, planned, options, hints);
  const { video = planned, span = own, concat } = joined ?? {};
  const heard = soundPlan(joined?.heard ?? source, options.audio_codec ?? facts.audio, sound, span, trimmed);
  if (copies && heard.audio) {
    if (options.concat) throw refuseJoinedSound();
    heard.audio = copySound(heardSource(source, heard), format);
  }
  const fps = video.mode === "encode" ? video.fps : null;
  // At a constant rate, faster pictures are fewer.
  const frames = joined?.frames ?? frameCount(source, fps === null ? span : played(span, speed), fps);
  const shown = blank("video", format, span, speed);
  const plan = {
    ...shown,
    ...planMetadata(source, format, options.metadata),
    ...planSubtitles(options.concat ? { ...source, streams: [] } : source, options),
    ...(options.concat ? {} : planChapters(source, format, options.metadata, shown)),
    ...{ frames, video, ...heard },
    ...(joined && heard.audio && joined.sound_track > 0 && { sound_track: joined.sound_track }),
    ...languageFact(joined?.heard ?? source, heard),
    ...(concat && { concat }),
    ...furtherFiles({ options }, hints.further),
  };
  // Only the sound is encoded, and the pictures need no encoder.
  const sounds =
    plan.audio?.mode === "encode" ? [{ index: 0, track: "audio" as const, start: 0, end: null }] : [];
  return joinsByCopy(plan) ? { ...plan, chunks: sounds } : cutPlan(plan, hints);
}

function audioPlan(source: Source, options: AudioOptions): Plan {
  const copies = options.mode === "copy";
  const named = copies ? heardSource(source, { sound_track: findTrack(source, options.track) }) : source;
  const format = soundFormat(options, named);
  const span = createSpan(options, source.duration, source.duration_estimated);
  const { codec } = FORMATS.audio[format];
  const { speed = 1 } = options;
  const heard = soundPlan(source, codec, options, span, isTrimmed(span) || speed !== 1);
  if (!heard.audio) throw errorFor("input_no_audio", { code: "no_sound" });
  if (copies) heard.audio = copySoundAlone(named, format, span);
  const plan = blank("audio", format, span, speed);
  return {
    ...plan,
    ...planMetadata(source, format, options.metadata, plan),
    ...planChapters(source, format, options.metadata, plan),
    ...heard,
  };
}

function languageFact(source: Source, { audio, sound_track = 0 }: Pick<Plan, "audio" | "sound_track">) {
  const language = audio ? threeLetters(languageOf(source, sound_track)) : NO_LANGUAGE;
  return language === NO_LANGUAGE ? {} : { language };
}

function imagePlan(source: Source, options: ImageOptions, hints: PlanHints): Plan {
  const stored = anyPicture(source, "image");
  const format = options.format ?? ownFormat(source, options) ?? DEFAULT_FORMAT.image;
  // A start time selects one frame, so only an animation used whole stays animated.
  const animated = source.animated === true && FORMATS.image[format].animated && options.start === undefined;
  const still = source.kind === "image" && source.animated !== true;
  const span = still ? stillSpan(options) : createSpan({ start: options.start }, source.duration);
  const { max_bytes } = options;
  const limit = max_bytes !== undefined && { max_bytes };
  const pictures = createImage(source, stored, format, options);
  const image = { ...pictures, animated, ...limit };
  const plan = { ...blank("image", format, span), still, image, ...furtherFiles({ options }, hints.further) };
  if (asksStills(options)) {
    const sheet = createStills(span, options);
    return { ...plan, frames: sheet.sheets, image: { ...image, animated: true, sheet } };
  }
  if (animated) return { ...plan, frames: frameCount(source, span, null) };
  return { ...plan, duration: null, frames: 1 };
}

function animationPlan(source: Source, options: AnimationOptions): Plan {
  const stored = movingPicture(source, "animation");
  const format = options.format ?? DEFAULT_FORMAT.animation;
  const span = createSpan(options, source.duration, source.duration_estimated);
  const motion = createMotion(source, format, options);
  const image = createImage(source, stored, format, withUsualSize(stored, options));
  return {
    ...blank("animation", format, span),
    frames: frameCount(source, span, motion.fps),
    image: { ...image, animated: true, motion },
  };
}

function storyboardPlan(source: Source, options: StoryboardOptions): Plan {
  const stored = movingPicture(source, "storyboard");
  const format = options.format ?? DEFAULT_FORMAT.storyboard;
  const span = createSpan(options, source.duration, source.duration_estimated);
  const { width = STORYBOARD_DEFAULTS.width, quality } = options;
  // Of odd sizes, tiles would share the color between them.
  const tile = createImage(source, stored, format, { width, quality }, true);
  const sheet = createSheet(span, options, tile.geometry);
  return {
    ...blank("storyboard", format, span),
    frames: sheet.sheets,
    image: { ...tile, alpha: false, matte: matteFor(source, undefined), animated: true, sheet },
  };
}

// Never cut: a lossy decoder may return other samples after a cut than it would without one.
function waveformPlan(source: Source, options: WaveformOptions): Plan {
  const format = options.format ?? DEFAULT_FORMAT.waveform;
  const span = createSpan(options, source.duration, source.duration_estimated);
  const heard = soundPlan(source, "pcm_s16le", options, span, true);
  if (!heard.audio) throw errorFor("input_no_audio", { code: "no_sound" });
  const waveform = createWaveform(heardSource(source, heard), options, span);
  return { ...blank("waveform", format, span), ...heard, waveform };
}

function adaptivePlan(source: Source, options: AdaptiveVideoOptions, hints: PlanHints): Plan {
  const format = options.format ?? DEFAULT_FORMAT.adaptive_video;
  const span = createSpan(options, source.duration, source.duration_estimated);
  // Copied packets may change layout between sources; HLS requires a uniform one.
  const heard = streamSounds(source, options, span);
  const { audio } = heard;
  const i_frames = options.i_frames && ({ i_frames: true } as const);
  const encryption = options.encryption && { encryption: encryptionInPlaylists(options.encryption) };
  const plan = { ...blank("adaptive_video", format, span), ...heard, ...i_frames, ...encryption };
  if (!hasVideo(source) && audio && !options.subtitles?.length) return plan;
  const renditions = createLadder(movingPicture(source), options);
  const [best] = renditions;
  if (!best) throw new MediaError("input_unsupported", "The source's pictures are too small to stream.");
  const video: VideoPlan = {
    mode: "encode",
    codec: "h264",
    geometry: best.geometry,
    rate: best.rate,
    fps: null,
    ...pictureNeeds(source, "h264", options, best.geometry),
    ...planBurn(options),
  };
  const frames = frameCount(source, span, null);
  const held = holdPicture(source, plan);
  // Pictures are left whole unless requested: not every encoder can produce segments for another to join.
  const usual = { chunk_seconds: Number.POSITIVE_INFINITY };
  const pictured = {
    ...{ ...plan, ...planSubtitles(source, options), ...furtherFiles({ options }, hints.further) },
    ...{ frames, video, renditions },
    ...(held && { held }),
  };
  return cutPlan(pictured, hints.chunk_seconds === undefined ? usual : hints);
}

function blank(kind: EncodeKind, format: string, span: Span, speed = 1): Plan {
  return {
    kind,
    format,
    still: false,
    ...played(span, speed),
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
  return Math.max(1, Math.round(span.duration * rate));
}

function isTrimmed(span: Span): boolean {
  return span.start > 0 || span.end !== null;
}
