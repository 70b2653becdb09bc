import { invalid } from "../core/errors.ts";
import { DEFAULT_FORMAT, FORMATS, SOUND_CODECS, type VideoCodec, type VideoFormat } from "../core/formats.ts";
import type { VideoOptions } from "../core/options.ts";
import type { Source } from "../core/source.ts";
import type { AudioPlan, VideoPlan } from "./plan.ts";
import type { StoredPicture } from "./size.ts";

// Their packets carry the times that another container needs.
const TIMED: ReadonlySet<string> = new Set(["mp4", "mov", "matroska", "webm", "flv", "mpegts"]);
// ffmpeg seeks in these by presentation time, so that a copy starts with the keyframe that was looked up.
const SEEKABLE: ReadonlySet<string> = new Set(["mp4", "mov", "matroska", "webm"]);

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
  if (!TIMED.has(source.format)) throw refuse(`${source.format} does not say when its pictures are shown`);
  if (start > 0 && !SEEKABLE.has(source.format)) throw refuse(`${source.format} can only be cut at its end`);
  if (codec !== undefined && codec !== own) throw refuse(`the pictures are ${own}, not ${codec}`);
  if (!holdsPictures(format, source)) throw refuse(`${format} cannot hold pictures in ${own} here`);
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
  throw refuse(`${format} cannot hold sound in ${codecs?.audio} here; mute leaves it out`);
}

function holdsPictures(format: VideoFormat, { codecs }: Source): boolean {
  return FORMATS.video[format].codecs.some((codec) => codec === codecs?.video);
}

function refuse(why: string) {
  return invalid("options.mode", `cannot be "copy": ${why}.`, "invalid_options");
}
