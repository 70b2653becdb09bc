import { containerOf, playsHidden } from "./containers.ts";
import { codecIn, holdsSound, isPcm } from "./features/audio-format.ts";
import { DEFAULT_FPS, exactFps, isEven, isSameFps, joinedFps, smoothFps } from "./features/fps.ts";
import type { ParameterSets } from "./features/smart.ts";
import type { Splice, SpliceRefusal } from "./features/splice-plan.ts";
import { holdsHdr, keepsHdr } from "./features/tone-map.ts";
import { movesPictures, needsFeature, planPictures } from "./features.ts";
import { BLACK, parseColor } from "./fields.ts";
import {
  type AudioFormat,
  BOUNDS,
  DEFAULT_FORMAT,
  FORMATS,
  SOUND_CODECS,
  VIDEO_CODECS,
  type VideoCodec,
  type VideoFormat,
} from "./formats.ts";
import type { AudioOptions, VideoOptions } from "./options.ts";
import {
  createGeometry,
  keepsPicture,
  parsePixelAspect,
  type Size,
  type StoredPicture,
  storedPicture,
  toRightAngle,
} from "./picture-geometry.ts";
import type { AudioPlan, Plan, VideoPlan } from "./plan.ts";
import * as errors from "./plan-errors.ts";
import { plannedQuality } from "./quality-search.ts";
import { isOwnBitrate, videoRate } from "./rates.ts";
import type { Source } from "./source.ts";
import type { Span } from "./timeline.ts";

const PLAIN_PIXELS: ReadonlySet<string> = new Set(["yuv420p", "yuvj420p"]);
const DEEP_PIXELS: ReadonlySet<string> = new Set([...PLAIN_PIXELS, "yuv420p10le"]);

/**
 * Plans the video: copied when no option changes it and every player accepts it, otherwise encoded. The videos of `joined` play after it.
 */
export function createVideoPlan(
  source: Source,
  stored: StoredPicture,
  codec: VideoCodec,
  options: VideoOptions,
  trimmed: boolean,
  joined: readonly Source[] = [],
): VideoPlan {
  if (!trimmed && copiesPictures(source, codec, options)) {
    return { mode: "copy", codec, width: stored.width, height: stored.height };
  }
  const geometry = createGeometry(stored, options, { even: true, alpha: false });
  return {
    mode: "encode",
    codec,
    geometry,
    rate: videoRate(codec, { ...options, quality: plannedQuality(options.quality) }),
    fps: outputFps(source, options, joined),
    ...pictureNeeds(source, codec, options, geometry),
  };
}

// Speeding up would exceed the frame rate of screens, and joined videos need a common rate.
function outputFps(source: Source, options: VideoOptions, joined: readonly Source[]): number | null {
  const { fps = DEFAULT_FPS } = source;
  const { speed = 1, concat } = options;
  const isOwn = speed === 1 && concat === undefined && keepsFps(source, options);
  if (options.fps !== undefined && !isOwn) return exactFps(options.fps);
  if (concat !== undefined) return joinedFps([source, ...joined]);
  if (options.fps === undefined && movesPictures(options)) {
    const smooth = smoothFps({ ...source, fps: fps * speed });
    if (smooth !== null) return smooth;
  }
  if (speed <= 1) return null;
  // With uneven frames, the average rate is too low for dense passages.
  const { min, max } = BOUNDS.fps;
  return exactFps(
    isEven(fps) ? Math.min(max, Math.max(min, fps)) : Math.max(DEFAULT_FPS, Math.min(max, fps)),
  );
}

/** Plans the conversions that pictures need before a codec encodes them. */
export function pictureNeeds(
  source: Source,
  codec: VideoCodec,
  options: { background?: string | undefined },
  size: Size,
) {
  const features = planPictures(options, source, codec, size);
  return {
    ...features,
    depth: keepsHdr(source, codec) ? 10 : 8,
    matte: features.transparent ? null : matteFor(source, options.background),
  } as const;
}

/** Returns the background of transparent pictures in an opaque output, black by default; null for an opaque source. */
export function matteFor(source: Source, background: string | undefined): string | null {
  if (source.has_alpha !== true) return null;
  return background === undefined ? BLACK : parseColor(background, false);
}

/** Returns whether video can be copied by default: no option changes it, and every player accepts it as it is. */
export function copiesPictures(source: Source, codec: VideoCodec, options: VideoOptions): boolean {
  return isPlain(source, codec) && !needsFeature(options) && keepsPictures(source, options);
}

function keepsPictures(source: Source, options: VideoOptions): boolean {
  const { quality, bitrate, background } = options;
  const stored = storedPicture(source);
  return (
    quality === undefined &&
    (bitrate === undefined || isOwnBitrate(bitrate, source, "video")) &&
    (background === undefined || source.has_alpha !== true) &&
    keepsFps(source, options) &&
    (!GEOMETRY.some((name) => options[name] !== undefined) ||
      (stored !== null && keepsPicture(stored, options)))
  );
}

const GEOMETRY = [
  "width",
  "height",
  "fit",
  "background",
  "crop",
  "rotate",
  "flip",
] as const satisfies (keyof VideoOptions)[];

function keepsFps({ fps, constant_fps }: Source, options: VideoOptions): boolean {
  if (options.fps === undefined) return true;
  return fps !== undefined && constant_fps === true && isSameFps(fps, options.fps);
}

function isPlain(source: Source, codec: VideoCodec): boolean {
  const pixels = holdsHdr(codec) ? DEEP_PIXELS : PLAIN_PIXELS;
  return (
    source.codecs?.video === codec &&
    containerOf(source).copies === "always" &&
    pixels.has(source.pixel_format ?? "") &&
    (source.color?.hdr !== true || holdsHdr(codec)) &&
    source.interlaced !== true &&
    parsePixelAspect(source.sample_aspect_ratio) === 1 &&
    toRightAngle(source.rotation ?? 0) === 0 &&
    source.flipped !== true
  );
}

/** Returns the format of a video: the requested one, or for a copy the first that holds its pictures. */
export function videoFormat(options: VideoOptions, source: Source): VideoFormat {
  if (options.format !== undefined) return options.format;
  const formats = Object.keys(FORMATS.video) as VideoFormat[];
  const copies = options.mode === "copy" || options.mode === "smart";
  const own = copies ? formats.find((format) => holdsPictures(format, source)) : undefined;
  return own ?? DEFAULT_FORMAT.video;
}

/**
 * Plans a copy of the video.
 *
 * @throws `invalid_options` when the format cannot hold it, or the source cannot be cut without an encode.
 */
export function copyPictures(
  source: Source,
  { width, height }: StoredPicture,
  format: VideoFormat,
  { codec, start = 0 }: VideoOptions,
): VideoPlan {
  const own = source.codecs?.video;
  const { copies, seeks } = containerOf(source);
  if (source.edited) throw errors.copyEdited();
  if (playsHidden(source, format)) throw errors.copyHidden({ format });
  if (copies === "never") throw errors.copyPicturesUntimed(source);
  if (start > 0 && seeks !== "pictures") throw errors.copyCutAtStart(source);
  if (codec !== undefined && codec !== own) throw errors.copyCodecDiffers({ own, codec });
  if (!holdsPictures(format, source)) throw errors.copyPicturesNotInFormat({ format, codec: own });
  return { mode: "copy", codec: own as VideoCodec, width, height };
}

/**
 * Plans a copy of the audio of a video.
 *
 * @throws `invalid_options` when the format cannot hold it, or the source's container does not time it.
 */
export function copySound(source: Source, format: VideoFormat): AudioPlan {
  if (!containerOf(source).copies_sound) throw errors.copySoundUntimed(source);
  const own = source.codecs?.audio;
  const codec = SOUND_CODECS[format].find((each) => each === own);
  if (codec) return { mode: "copy", codec };
  throw errors.copySoundNotInVideo({ format, codec: own });
}

/** Returns whether a video format can hold the audio of a source as it is. */
export function holdsCopiedSound(source: Source, format: VideoFormat): boolean {
  return (
    containerOf(source).copies_sound && SOUND_CODECS[format].some((each) => each === source.codecs?.audio)
  );
}

// The pieces are short and lie between copied pictures, so they are encoded with little loss.
const CONTINUED_CRF = 14;

/**
 * Plans pieces that are encoded like the source's own pictures. One decoder gets the parameter sets of the source and those of the
 * pieces; a codec without such sets needs none.
 */
export function continuePictures(
  source: Source,
  stored: StoredPicture,
  parameter_sets: ParameterSets | undefined,
): VideoPlan {
  const rotate = toRightAngle(-stored.rotate);
  const geometry = createGeometry(stored, { rotate }, { even: true, alpha: false });
  const codec = source.codecs?.video as VideoCodec;
  return {
    mode: "encode",
    codec,
    geometry,
    rate: { crf: CONTINUED_CRF },
    fps: null,
    ...pictureNeeds(source, codec, {}, geometry),
    depth: source.pixel_format === "yuv420p10le" ? 10 : 8,
    ...(parameter_sets && { parameter_sets }),
  };
}

/** Returns options that encode all of a video, for a smart cut that cannot copy anything or has nothing to cut. */
export function withoutSmart(
  source: Source,
  options: VideoOptions,
  splice: Splice | SpliceRefusal | null | undefined,
): VideoOptions {
  if (options.mode !== "smart") return options;
  const own = VIDEO_CODECS.find((each) => each === source.codecs?.video);
  const hasEncoder = !splice || !("fault" in splice) || splice.fault !== "no_encoder";
  const keepsCodec = own && hasEncoder && holdsPictures(videoFormat(options, source), source);
  const codec = options.codec ?? (keepsCodec ? own : undefined);
  return { ...options, mode: undefined, format: videoFormat(options, source), codec };
}

/** Returns the format of sound: the requested one, or for a copy the first that holds the codec of `source`. */
export function soundFormat({ format, mode }: AudioOptions, source: Source): AudioFormat {
  if (format !== undefined) return format;
  const formats = Object.keys(FORMATS.audio) as AudioFormat[];
  const own = mode === "copy" ? formats.find((each) => holdsSound(each, source)) : undefined;
  return own ?? DEFAULT_FORMAT.audio;
}

/**
 * Plans a copy of the audio without video.
 *
 * @throws `invalid_options` when the format cannot hold it, or the source cannot be cut without an encode.
 */
export function copySoundOnly(source: Source, format: AudioFormat, { start, end }: Span): AudioPlan {
  const own = source.codecs?.audio;
  if (!holdsSound(format, source)) throw errors.copySoundNotInFormat({ format, codec: own });
  if (source.edited) throw errors.copyEdited();
  if (playsHidden(source, format)) throw errors.copyHidden({ format });
  if (!containerOf(source).copies_sound) throw errors.copySoundUntimed(source);
  const codec = codecIn(format, source);
  const isPart = start > 0 || end !== null;
  if (codec === "flac" && isPart) throw errors.copyFlacCut();
  if (isPcm(codec) && isPart) {
    // Re-encoding PCM is lossless and can cut between any two samples.
    const { channels = 2, sample_rate = 48_000 } = source.audio ?? {};
    return { mode: "encode", codec, bitrate: null, compression: null, channels, sample_rate };
  }
  if (start > 0 && (source.fragmented || containerOf(source).seeks === "beginning")) {
    throw errors.copyCutAtStart({
      format: source.fragmented ? `fragmented ${source.format}` : source.format,
    });
  }
  return { mode: "copy", codec };
}

function holdsPictures(format: VideoFormat, { codecs }: Source): boolean {
  return FORMATS.video[format].codecs.some((codec) => codec === codecs?.video);
}

/** Returns whether a plan re-encodes nothing. */
export function isCopy({ video, audio, image }: Plan): boolean {
  return !image && [video, audio].every((track) => track === null || track.mode === "copy");
}
