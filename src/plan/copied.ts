import { invalid } from "../core/errors.ts";
import {
  type AudioFormat,
  DEFAULT_FORMAT,
  FORMATS,
  SOUND_CODECS,
  type VideoCodec,
  type VideoFormat,
} from "../core/formats.ts";
import type { AudioOptions, VideoOptions } from "../core/options.ts";
import type { Source } from "../core/source.ts";
import { containerOf } from "../media/containers.ts";
import type { AudioPlan, Plan, VideoPlan } from "./plan.ts";
import type { StoredPicture } from "./size.ts";
import type { Span } from "./span.ts";

/** Returns the format of a video: the one asked for, or for a copy the first that holds its pictures. */
export function videoFormat(options: VideoOptions, source: Source): VideoFormat {
  if (options.format !== undefined) return options.format;
  const formats = Object.keys(FORMATS.video) as VideoFormat[];
  const own = options.mode === "copy" ? formats.find((format) => holdsPictures(format, source)) : undefined;
  return own ?? DEFAULT_FORMAT.video;
}

/**
 * Plans pictures that must not be encoded.
 *
 * @throws `invalid_options` when the format cannot hold them, or the source cannot be cut without an encode.
 */
export function copyPictures(
  source: Source,
  { width, height }: StoredPicture,
  format: VideoFormat,
  { codec, start = 0 }: VideoOptions,
): VideoPlan {
  const own = source.codecs?.video;
  if (containerOf(source).copies === "never")
    throw refuseCopy(`${source.format} does not say when its pictures are shown`);
  if (start > 0 && containerOf(source).seeks !== "pictures")
    throw refuseCopy(`${source.format} can only be cut at its end`);
  if (codec !== undefined && codec !== own) throw refuseCopy(`the pictures are ${own}, not ${codec}`);
  if (!holdsPictures(format, source)) throw refuseCopy(`${format} cannot hold pictures in ${own} here`);
  return { mode: "copy", codec: own as VideoCodec, width, height };
}

/**
 * Plans sound that must not be encoded.
 *
 * @throws `invalid_options` when the format cannot hold it.
 */
export function copySound({ codecs }: Source, format: VideoFormat): AudioPlan {
  const codec = SOUND_CODECS[format].find((each) => each === codecs?.audio);
  if (codec) return { mode: "copy", codec };
  throw refuseCopy(`${format} cannot hold sound in ${codecs?.audio} here; mute leaves it out`);
}

/** Returns the format of sound: the one asked for, or for a copy the first that holds the codec of `heard`. */
export function soundFormat({ format, mode }: AudioOptions, heard: Source): AudioFormat {
  if (format !== undefined) return format;
  const formats = Object.keys(FORMATS.audio) as AudioFormat[];
  const own = mode === "copy" ? formats.find((each) => holdsSound(each, heard)) : undefined;
  return own ?? DEFAULT_FORMAT.audio;
}

/**
 * Plans sound without pictures that must not be encoded.
 *
 * @throws `invalid_options` when the format cannot hold it, or the source cannot be cut without an encode.
 */
export function copySoundAlone(heard: Source, format: AudioFormat, { start, end }: Span): AudioPlan {
  const own = heard.codecs?.audio;
  if (!holdsSound(format, heard)) throw refuseCopy(`${format} cannot hold sound in ${own} here`);
  if (!containerOf(heard).copies_sound) throw refuseCopy(`${heard.format} does not say when its sound plays`);
  const { codec } = FORMATS.audio[format];
  const isPart = start > 0 || end !== null;
  if (codec === "flac" && isPart) throw refuseCopy("a cut of flac needs an encode, which loses nothing");
  if (codec === "pcm_s16le" && isPart) {
    // Samples are their own packets: writing them again keeps each, and cuts between any two.
    const { channels = 2, sample_rate = 48_000 } = heard.audio ?? {};
    return { mode: "encode", codec, bitrate: null, compression: null, channels, sample_rate };
  }
  if (start > 0 && (heard.fragmented || containerOf(heard).seeks === "beginning")) {
    const what = heard.fragmented ? `fragmented ${heard.format}` : heard.format;
    throw refuseCopy(`${what} can only be cut at its end`);
  }
  return { mode: "copy", codec };
}

function holdsSound(format: AudioFormat, { codecs }: Source): boolean {
  return FORMATS.audio[format].codec === codecs?.audio;
}

function holdsPictures(format: VideoFormat, { codecs }: Source): boolean {
  return FORMATS.video[format].codecs.some((codec) => codec === codecs?.video);
}

/** Creates the error for a copy that cannot be made. */
export function refuseCopy(why: string) {
  return invalid("options.mode", `cannot be "copy": ${why}.`, "invalid_options");
}

/** Returns whether a plan re-encodes nothing. */
export function isCopy({ video, audio, image }: Plan): boolean {
  return !image && [video, audio].every((track) => track === null || track.mode === "copy");
}
