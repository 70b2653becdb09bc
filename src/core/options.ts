import { z } from "zod";
import { optionSchemas } from "../media/features.ts";
import {
  brokenS3,
  closed,
  frame,
  heldCodecs,
  oneOf,
  ruled,
  seconds,
  size,
  span,
  wholeWithin,
  within,
} from "./fields.ts";
import {
  ANIMATION_DEFAULTS,
  BOUNDS,
  COPY_MODES,
  DEFAULT_FORMAT,
  type EncodeKind,
  FORMATS,
  QUALITIES,
  STORYBOARD_DEFAULTS,
  type StepKind,
  VIDEO_CODECS,
} from "./formats.ts";
import { checkConcat, concat } from "./further/concat-options.ts";
import { checkSubtitles, subtitles } from "./further/subtitle-options.ts";
import { placeholders } from "./images/placeholders.ts";
import { checkStills, stills } from "./images/stills.ts";
import { checkCodec, checkCopy, checkFrame, checkIFrames, checkRate, checkSpan } from "./option-rules.ts";
import { audio_codec, checkSound, sound, soundtrack } from "./sound-options.ts";
import { checkEncryption, encryption } from "./streams/encryption.ts";
import { METADATA_MODES } from "./tags.ts";
import { WaveformOptions } from "./waveform/waveform-options.ts";

const keys = <T extends object>(table: T) =>
  Object.keys(table) as [keyof T & string, ...(keyof T & string)[]];

const formatOf = <K extends EncodeKind>(kind: K) => oneOf(keys(FORMATS[kind]), ` for ${kind}`);

const codecsOf = () =>
  heldCodecs(Object.fromEntries(Object.entries(FORMATS.video).map(([name, { codecs }]) => [name, codecs])));

const quality = oneOf(QUALITIES).optional().meta({
  description: "From the smallest file to the best picture or sound.",
  default: "medium",
});
const metadata = oneOf(METADATA_MODES).optional().meta({
  description:
    "Tags and cover: keep all that the format can hold, clean of location, device and other private data, or strip all.",
  default: "clean",
});
const BITS = "a whole number of bits per second";

const optionsOf = <const S extends z.core.$ZodLooseShape>(kind: string, shape: S) =>
  closed(shape, "option", ` for ${kind}`);

/** Schema of the options of the kind `video`. */
export const VideoOptions = optionsOf("video", {
  format: formatOf("video").optional().meta({ description: "The container.", default: DEFAULT_FORMAT.video }),
  codec: oneOf(VIDEO_CODECS)
    .optional()
    .meta({
      description: `The codec of the picture: ${codecsOf()}; the first one of the format when absent.`,
    }),
  mode: oneOf(COPY_MODES).optional().meta({
    description:
      "Auto encodes what an option changes. Copy encodes nothing: start moves back to a keyframe, and the output's cut says what it holds.",
    default: "auto",
  }),
  quality,
  ...frame,
  fps: within(BOUNDS.fps)
    .optional()
    .meta({ description: "Frames per second; those of the source when absent." }),
  bitrate: wholeWithin(BOUNDS.video_bitrate, BITS)
    .optional()
    .meta({ description: "Bits per second; wins over quality." }),
  target_size: wholeWithin(BOUNDS.target_size, "a whole number of bytes").optional().meta({
    description:
      "Bytes that the file stays below, in place of bitrate, and with bitrates below its least; quality is then that of the sound.",
  }),
  audio_codec,
  audio_bitrate: wholeWithin(BOUNDS.audio_bitrate, BITS)
    .optional()
    .meta({ description: "Bits per second of the sound; that of quality when absent." }),
  ...soundtrack,
  ...span,
  ...optionSchemas("video"),
  concat,
  subtitles,
  metadata,
})
  .superRefine(checkSound("video"))
  .superRefine(checkSubtitles)
  .superRefine(checkCodec)
  .superRefine(checkRate)
  .superRefine(checkCopy)
  .superRefine(checkConcat)
  .superRefine(checkFrame)
  .superRefine(checkSpan)
  .meta({ id: "VideoOptions" });

/** Schema of the options of the kind `audio`. */
export const AudioOptions = optionsOf("audio", {
  format: formatOf("audio").optional().meta({ description: "The format.", default: DEFAULT_FORMAT.audio }),
  mode: oneOf(COPY_MODES).optional().meta({
    description:
      "Auto encodes what an option changes. Copy encodes nothing: start moves back and end on to the edge of a packet, and the output's cut says what it holds.",
    default: "auto",
  }),
  quality,
  bitrate: wholeWithin(BOUNDS.audio_bitrate, BITS)
    .optional()
    .meta({ description: "Bits per second; wins over quality; lossless formats ignore it." }),
  ...sound,
  ...span,
  ...optionSchemas("audio"),
  metadata,
})
  .superRefine(checkSound("audio"))
  .superRefine(checkCopy)
  .superRefine(checkSpan)
  .meta({ id: "AudioOptions" });

/** Schema of the options of the kind `image`. */
export const ImageOptions = optionsOf("image", {
  format: formatOf("image")
    .optional()
    .meta({ description: "The format; the source's own where it is one of these, else jpeg." }),
  quality,
  ...frame,
  start: seconds
    .optional()
    .meta({ description: "Time of the frame in seconds, for a video input.", default: 0 }),
  max_bytes: wholeWithin(BOUNDS.image_bytes, "a whole number of bytes").optional().meta({
    description:
      "Bytes that the file never exceeds: quality is lowered as far as it takes, down to very_low, then the size. PNG and GIF become smaller alone.",
    example: 100_000,
  }),
  ...optionSchemas("image"),
  ...stills,
})
  .superRefine(checkStills)
  .superRefine(checkFrame)
  .meta({ id: "ImageOptions" });

/** Schema of the options of the kind `animation`. */
export const AnimationOptions = optionsOf("animation", {
  format: formatOf("animation")
    .optional()
    .meta({ description: "The format.", default: DEFAULT_FORMAT.animation }),
  quality,
  ...frame,
  fps: within(BOUNDS.animation_fps)
    .optional()
    .meta({
      description: `Frames per second; ${ANIMATION_DEFAULTS.fps}, or those of a slower video, or the times of an animated picture, when absent.`,
    }),
  loop: wholeWithin(BOUNDS.loop, "a whole number of times").optional().meta({
    description: "How many times the animation plays; 0 plays it forever.",
    default: 0,
  }),
  ...span,
})
  .superRefine(checkFrame)
  .superRefine(checkSpan)
  .meta({ id: "AnimationOptions" });

const tiles = wholeWithin(BOUNDS.tiles, "a whole number of tiles");

/** Schema of the options of the kind `storyboard`. */
export const StoryboardOptions = optionsOf("storyboard", {
  format: formatOf("storyboard")
    .optional()
    .meta({ description: "The format of its sheets.", default: DEFAULT_FORMAT.storyboard }),
  quality,
  width: size.optional().meta({
    description: "Width of a tile: pixels, or a percentage of the displayed source.",
    default: STORYBOARD_DEFAULTS.width,
  }),
  interval: within(BOUNDS.interval, "a number of seconds").optional().meta({
    description: "Seconds between tiles; a hundredth of the duration, from 1 to 10, when absent.",
    example: 10,
  }),
  columns: tiles
    .optional()
    .meta({ description: "Tiles across a sheet.", default: STORYBOARD_DEFAULTS.columns }),
  rows: tiles.optional().meta({ description: "Tiles down a sheet.", default: STORYBOARD_DEFAULTS.rows }),
  ...span,
})
  .superRefine(checkSpan)
  .meta({ id: "StoryboardOptions" });

/** Schema of the options of the kind `adaptive_video`. */
export const AdaptiveVideoOptions = optionsOf("adaptive_video", {
  format: formatOf("adaptive_video").optional().meta({
    description:
      "The kind of stream: HLS, DASH, or both from the same segments, with manifest.mpd beside master.m3u8.",
    default: DEFAULT_FORMAT.adaptive_video,
  }),
  i_frames: z.boolean("must be true or false.").optional().meta({
    description:
      "Adds an I-frame playlist to each rendition of HLS, from which players show pictures while a viewer seeks: one picture of every six seconds.",
    default: false,
  }),
  encryption: encryption.optional().meta({
    description: "Encrypts the segments of HLS with a key of yours; the playlists name where players get it.",
  }),
  quality,
  ...frame,
  ...soundtrack,
  track: soundtrack.track.unwrap().optional().meta({
    description:
      "The one sound track to keep: its index from 0, or a language such as en or eng. All of them, each with its language, when absent.",
    example: "en",
  }),
  ...span,
  subtitles,
})
  .superRefine(checkSound("adaptive_video"))
  .superRefine(checkSubtitles)
  .superRefine(checkIFrames)
  .superRefine(checkEncryption)
  .superRefine(checkFrame)
  .superRefine(checkSpan)
  .meta({ id: "AdaptiveVideoOptions" });

/** Schema of the options of the kind `probe`. */
export const ProbeOptions = optionsOf("probe", placeholders).meta({ id: "ProbeOptions" });

/** Schema of the options of the kind `ingest`: none yet. */
export const NoOptions = optionsOf("ingest", {}).meta({ id: "NoOptions" });

/** Schema of the options of the kind `upload`. */
export const UploadOptions = optionsOf("upload", {
  url: ruled(
    z.string({ error: ({ input }) => (input === undefined ? "is required." : "must be a string.") }),
    brokenS3,
  ).meta({ description: "Destination, `s3://<bucket>/<key>`.", example: "s3://bucket/key.mp4" }),
  connection_id: z
    .string("must be a string.")
    .optional()
    .meta({ description: "A stored connection; the default one when absent.", example: "conn_01k" }),
}).meta({ id: "UploadOptions" });

/** The schema of the options of each kind of step. */
export const OPTIONS = {
  probe: ProbeOptions,
  ingest: NoOptions,
  video: VideoOptions,
  audio: AudioOptions,
  image: ImageOptions,
  animation: AnimationOptions,
  storyboard: StoryboardOptions,
  waveform: WaveformOptions,
  adaptive_video: AdaptiveVideoOptions,
  upload: UploadOptions,
} as const;

/** Options of the kind `video`, as parsed; callers have those of option-types.ts. */
export type VideoOptions = z.infer<typeof VideoOptions>;
/** Options of the kind `audio`, as parsed. */
export type AudioOptions = z.infer<typeof AudioOptions>;
/** Options of the kind `image`, as parsed. */
export type ImageOptions = z.infer<typeof ImageOptions>;
/** Options of the kind `animation`, as parsed. */
export type AnimationOptions = z.infer<typeof AnimationOptions>;
/** Options of the kind `storyboard`, as parsed. */
export type StoryboardOptions = z.infer<typeof StoryboardOptions>;
/** Options of the kind `adaptive_video`, as parsed. */
export type AdaptiveVideoOptions = z.infer<typeof AdaptiveVideoOptions>;
/** Options of the kind `probe`, as parsed. */
export type ProbeOptions = z.infer<typeof ProbeOptions>;
/** Options of the kind `upload`, as parsed. */
export type UploadOptions = z.infer<typeof UploadOptions>;
/** The options of a kind, as parsed. */
export type OptionsOf<K extends StepKind> = z.infer<(typeof OPTIONS)[K]>;
/** A kind of encode with its options, such as a task has. */
export type EncodeRequest = { [K in EncodeKind]: { kind: K; options: OptionsOf<K> } }[EncodeKind];
/** The options that say how a picture is sized, shared by the kinds that have pictures. */
export type FrameOptions = Pick<ImageOptions, keyof typeof frame>;
