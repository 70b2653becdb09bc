import { MIB } from "../util/bytes.ts";
import { quote } from "../util/text.ts";
import { invalid, MediaError } from "./errors.ts";
import type { FileFault } from "./feature.ts";
import type { SourceFacts } from "./source-facts.ts";

const NEEDS = {
  video: "Video needs pictures",
  image: "An image needs pictures",
  animation: "An animation needs pictures",
  storyboard: "A storyboard needs pictures",
} as const;
/** A kind whose source must have pictures. */
export type PictureKind = keyof typeof NEEDS;

const JOIN_FAULTS = {
  format: "is not an MP4 or MOV with one index for the whole file",
  index: "has an index that cannot be joined, for example of several video tracks or of rotated pictures",
  codec: "has pictures in a codec, or a variant of one, that cannot be joined",
  cut: "hides some of its pictures",
  truncated: "is cut off",
  entry: "does not begin with a keyframe",
  different: "was encoded differently from the input",
  many: "has more pictures than can be joined",
  range: "is trimmed",
} as const;
const SPLICE_FAULTS = {
  format: "the packets of this source, or of any file of its format, cannot be read one by one",
  codec: "groups of pictures in its codec cannot be told apart",
  hidden: "the edit list of the source hides a part of it",
  damaged: "the packets of the source could not be read",
  other_codec: "its pictures are not H.264, H.265, VP9 or AV1",
  new_codec: "the option codec names a codec other than that of the source",
  pixels:
    "its pictures are interlaced, or are not stored as 4:2:0 in 8 bits (in H.265 and AV1, in 8 or 10 bits)",
  colors:
    "an encode would convert its colors, which are in full range or HDR, or would lose the mastering metadata of PQ",
  shape: "its pictures are mirrored, or have odd sides or pixels that are not square",
  sets: "its parameter sets cannot be combined with those of another encoder",
  no_encoder: "no encoder here can continue its pictures",
  changed_sets: "its parameter sets change midway",
  short: "no group of pictures that can be copied begins within the parts",
  output: "the output format cannot hold its pictures",
  entry: "has no keyframe near its start at which a decoder discards all earlier pictures (an IDR picture)",
} as const;
const FILE_FAULTS = {
  not_picture: ({ format, animated }) =>
    `The picture must be a PNG, JPEG, GIF, BMP, TIFF or WebP that is not animated; it is ${animated ? "animated " : ""}${format}.`,
  not_video: ({ kind, format }) =>
    `The file must be a video with pictures; it is ${format}${kind === "audio" ? " with sound only" : ""}.`,
  duration_unknown: () =>
    "The exact duration of the video is unknown, so it cannot be joined to another; convert it to MP4 first.",
} as const satisfies Record<FileFault, (source: SourceFacts) => string>;

/** The reason that the pictures of a video cannot follow those of the one before without an encode. */
export type JoinFault = "output" | keyof typeof JOIN_FAULTS;

/** The reason that packets of a source cannot be copied part by part. */
export type SpliceFault = keyof typeof SPLICE_FAULTS;
/** The codes of {@link SpliceFault}. */
export const SPLICE_FAULT_CODES = Object.keys(SPLICE_FAULTS) as [SpliceFault, ...SpliceFault[]];

type Codec = string | null | undefined;

const option = (name: string, rule: string) => invalid(`options.${name}`, rule, "invalid_options");
const copy = (why: string) => option("mode", `cannot be "copy": ${why}.`);
// The parameter of `optionsForSize`, not the option.
const TARGET_SIZE = { param: "target_size" } as const;

export const notObject = () => new MediaError("request_invalid", "The body must be a JSON object.");
export const wrongBody = () => new MediaError("request_invalid", "The body is not valid.");
export const urlOptionUnknown = ({ pair, names }: { pair: string; names: readonly string[] }) =>
  new MediaError(
    "request_invalid",
    `Unknown option ${quote(pair)} in the URL; they are ${names.join(", ")}.`,
  );
export const urlOptionRepeated = ({ name }: { name: string }) => option(name, "is given twice.");

export const kindUnknown = ({ kind }: { kind: string }) =>
  new MediaError("invalid_kind", `There is no plan for the kind ${kind}.`);
export const noSound = () =>
  new MediaError("input_no_audio", "The source has no sound; use kind video or image.", {
    reason: { code: "no_sound" },
  });
export const noPictures = ({ kind }: { kind: PictureKind }) =>
  new MediaError("input_no_video", `${NEEDS[kind]}, and the source has none; use kind audio.`, {
    reason: { code: "no_pictures", kind },
  });
export const stillImage = () =>
  new MediaError("input_no_video", "The source is a still image; use kind image.", {
    reason: { code: "still_image" },
  });
export const pictureSizeUnknown = () =>
  new MediaError("input_unsupported", "The size of the source's pictures could not be read.");
export const picturesTooSmall = () =>
  new MediaError("input_unsupported", "The source's pictures are too small to stream.");
export const stillsDurationUnknown = () =>
  new MediaError("input_unsupported", "The source's duration is unknown; several stills need it.");
export const storyboardDurationUnknown = () =>
  new MediaError("input_unsupported", "The source's duration is unknown; a storyboard needs it.");

export const startBeyondEnd = ({
  start,
  duration,
  param = "options.start",
}: {
  start: number;
  duration: number;
  param?: string;
}) =>
  new MediaError(
    "invalid_options",
    `${param} (${start}) must be before the end of the source (${duration} s).`,
    {
      param,
      reason: { code: "start_beyond_end", start, duration },
    },
  );
export const partsDurationUnknown = () =>
  new MediaError("input_unsupported", "The source's duration is unknown; parts of it need it.");
export const noTimeline = ({ name }: { name: string }) =>
  option(name, "needs a source with a timeline; this is a still image.");
export const trackOfSilence = () => option("track", "names a sound track of a source that has no sound.");
export const trackAbsent = ({ tracks }: { tracks: readonly string[] }) =>
  option("track", `is none of the source's sound tracks, which are ${tracks.join(", ") || "0"}.`);
export const fadeTooLong = ({
  name,
  duration,
}: {
  name: `${"" | "picture_"}${"fade_in" | "fade_out"}`;
  duration: number;
}) => option(name, `is longer than the output, which has ${duration} seconds for its fades.`);
export const fadeEndUnknown = ({ name }: { name: `${"" | "picture_"}fade_out` }) =>
  option(name, "needs a source whose duration is known.");
export const transitionTooLong = ({ input, seconds }: { input: number; seconds: number }) =>
  option(
    "transition.seconds",
    `is too long: ${input === 0 ? "the input" : `concat.${input - 1}`} plays for ${Number(seconds.toFixed(3))} s, which its transitions must not fill.`,
  );
export const sizeOutOfBounds = ({
  side,
  width,
  height,
  max,
}: {
  side: "width" | "height";
  width: number;
  height: number;
  max: number;
}) => option(side, `gives a picture of ${width}x${height} pixels; each side must be from 1 to ${max}.`);
export const cropOutside = ({ width, height }: { width: number; height: number }) =>
  option(
    "crop",
    `must lie within the picture of ${width}x${height} pixels and contain at least one of them.`,
  );
export const stillsBeyondDuration = ({ max, duration }: { max: number; duration: number }) =>
  option("count", `must be at most ${max} for ${Number(duration.toFixed(3))} s.`);
export const tooManyStills = ({ max, interval, stills }: { max: number; interval: number; stills: number }) =>
  option("interval", `must make at most ${max} stills; ${interval} s make ${stills}.`);
export const tooManyTiles = ({ max, interval, tiles }: { max: number; interval: number; tiles: number }) =>
  option("interval", `must make at most ${max} tiles; ${interval} s make ${tiles}.`);
export const spriteTooLarge = ({ max, side }: { max: number; side: number }) =>
  option("width", `must make sheets of at most ${max} pixels; these have ${side}.`);
export const tooManySprites = ({
  max,
  columns,
  rows,
  sprites,
}: {
  max: number;
  columns: number;
  rows: number;
  sprites: number;
}) => option("columns", `must leave at most ${max} sheets; ${columns}x${rows} tiles make ${sprites}.`);
export const zoomTooClose = ({ max, sampleRate }: { max: number; sampleRate: number }) =>
  option(
    "pixels_per_second",
    `must be at most ${max} for this source, which has ${sampleRate} samples a second.`,
  );
export const tooManyPoints = ({ name, points, max }: { name: string; points: number; max: number }) =>
  option(
    name,
    `would make ${points} points of this source; ${max} is the maximum, so use more samples per pixel.`,
  );
export const pointsDurationUnknown = ({ name }: { name: string }) =>
  option(
    name,
    "needs a source whose duration is known; give options.samples_per_pixel or options.pixels_per_second.",
  );

export const copyPicturesUntimed = ({ format }: { format: string }) =>
  copy(`${format} does not say when its pictures are shown`);
export const copySoundUntimed = ({ format }: { format: string }) =>
  copy(`${format} does not say when its sound plays`);
export const cutOff = ({ seconds, part }: { seconds: number; part?: number }) =>
  new MediaError(
    "input_unsupported",
    `${part === undefined ? "The file" : `Video ${part} of options.concat`} is cut off after ${seconds} s; options.partial converts that part.`,
    { reason: { code: "cut_off", seconds, ...(part !== undefined && { part }) } },
  );
export const copyEdited = () =>
  copy(
    "the edit list of the source shows several parts, or its picture size, sample rate or channels change midway; only an encode can follow that",
  );
export const copyHidden = ({ format }: { format: string }) =>
  copy(`the edit list of the source hides a part of it, and ${format} files have no edit list`);
export const copyCutAtStart = ({ format }: { format: string }) =>
  copy(`${format} can only be cut at its end`);
export const copyCodecDiffers = ({ own, codec }: { own: Codec; codec: string }) =>
  copy(`the pictures are ${own}, not ${codec}`);
export const copyPicturesNotInFormat = ({ format, codec }: { format: string; codec: Codec }) =>
  copy(`${format} cannot hold pictures in ${codec} here`);
export const copySoundNotInVideo = ({ format, codec }: { format: string; codec: Codec }) =>
  copy(`${format} cannot hold sound in ${codec} here; mute omits it`);
export const copySoundNotInFormat = ({ format, codec }: { format: string; codec: Codec }) =>
  copy(`${format} cannot hold sound in ${codec} here`);
export const copyFlacCut = () => copy("trimming flac needs an encode, which is lossless");
export const copyJoinedSound = () =>
  copy(
    "frames of sound do not end where pictures do, so joined sound must be encoded; leave out mode to encode the sound only, or set mute",
  );
export const copyJoinRefused = ({ fault, input }: { fault: JoinFault; input: number }) =>
  copy(
    fault === "output"
      ? "joined videos that are copied need an MP4 or MOV"
      : `${input === 0 ? "the input" : `concat.${input - 1}`} ${JOIN_FAULTS[fault]}`,
  );

export const av1FrameRate = () =>
  option(
    "codecs",
    'cannot contain "av1" for this source, because its frame rate is not constant: convert it to video with fps first.',
  );
export const copyPartsRefused = ({ fault, part }: { fault: SpliceFault; part?: number }) =>
  copy(`${part === undefined ? "" : `part ${part} `}${SPLICE_FAULTS[fault]}`);
/** Returns the sentence that says why all of a video is encoded, rather than only the pictures around its cuts. */
export const describeSpliceFault = ({ fault }: { fault: SpliceFault }) =>
  `Nothing could be copied: ${SPLICE_FAULTS[fault]}.`;
export const copySoundParts = () =>
  copy("parts of sound alone are joined at exact samples, which needs an encode; leave out mode");

export const targetSizeTooSmall = ({
  bytes,
  duration,
  minBytes,
}: {
  bytes: number;
  duration: number;
  minBytes: number;
}) =>
  new MediaError(
    "invalid_options",
    `options.target_size (${bytes}) is too small for ${duration} seconds with these options; the minimum is ${minBytes}.`,
    {
      param: "options.target_size",
      reason: { code: "size_too_small", bytes, duration, min_bytes: minBytes },
    },
  );
export const targetSizeDurationUnknown = () =>
  new MediaError(
    "invalid_options",
    "The duration of the source is unknown, so options.target_size cannot be met; use bitrate.",
    { param: "options.target_size", reason: { code: "size_unknown_duration" } },
  );
export const autoQualityLossless = ({ format }: { format: string }) =>
  new MediaError(
    "invalid_options",
    `options.quality "auto" needs a format with adjustable quality: jpeg, webp or avif, not ${format}.`,
    { param: "options.quality" },
  );
export const sizeNotPositive = () =>
  new MediaError("invalid_options", "The target size must be a number above 0.", {
    ...TARGET_SIZE,
    reason: { code: "size_not_positive" },
  });
export const sizeUnbounded = () =>
  new MediaError(
    "invalid_options",
    "A target size applies to video and sound only; here the size in pixels and the quality decide.",
    { ...TARGET_SIZE, reason: { code: "size_unbounded" } },
  );
export const sizeLossless = ({ format }: { format: string }) =>
  new MediaError(
    "invalid_options",
    `${format} is lossless and has no bitrate; a target size needs mp3, aac, ogg or opus.`,
    { ...TARGET_SIZE, reason: { code: "size_lossless", format } },
  );
export const sizeDurationUnknown = () =>
  new MediaError(
    "invalid_options",
    "The duration is unknown, so no bitrate can be calculated; choose a quality instead.",
    TARGET_SIZE,
  );
export const sizeTooSmall = ({
  bytes,
  minBytes,
  seconds,
}: {
  bytes: number;
  minBytes: number;
  seconds: number;
}) =>
  new MediaError(
    "invalid_options",
    `${sizeText(bytes, Math.round)} is too small for ${clockText(seconds)}; the minimum is ${sizeText(minBytes, Math.ceil)}.`,
    TARGET_SIZE,
  );

/** The error of a file that an option names. */
export const fileUnsuitable = ({ fault, source }: { fault: FileFault; source: SourceFacts }) =>
  new MediaError("input_unsupported", FILE_FAULTS[fault](source));

/** The error for a file that an option cannot use. */
export const wrongFile = ({ what }: { what: string }) =>
  new MediaError("input_unsupported", `The file must be ${what}.`);
/** The error for a file that is too large for an option. */
export const fileTooLarge = ({ what, maxBytes }: { what: string; maxBytes: number }) =>
  new MediaError("input_too_large", `The file must be ${what} of at most ${maxBytes / MIB} MiB.`);

export const tooFewAnchors = () => new RangeError("The rate has too few anchors.");
export const noRungs = () => new RangeError("The ladder has no rungs.");
export const optionMissing = ({ kind, name }: { kind: string; name: string }) =>
  new RangeError(`${kind} has no option ${name}.`);

const UNITS = [
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "B"],
] as const;

function sizeText(bytes: number, round: (value: number) => number): string {
  const [unit, name] = UNITS.find(([each]) => bytes >= each) ?? [1, "B"];
  const figures = 10 ** (2 - Math.floor(Math.log10(Math.max(1, bytes / unit))));
  const value = round((bytes / unit) * figures) / figures;
  // 999.95 kB would otherwise become 1000 kB.
  return value >= 1000 && unit < UNITS[0][0] ? sizeText(1000 * unit, round) : `${value} ${name}`;
}

function clockText(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(rest)}`;
}
