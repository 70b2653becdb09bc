import { z } from "zod";
import { checkAudioFilters } from "./features/audio-filters.ts";
import { checkAudioFormat } from "./features/audio-format.ts";
import { checkConcat } from "./features/concat.ts";
import { checkEncryption } from "./features/encryption.ts";
import { checkGeometry } from "./features/geometry.ts";
import { checkIFrames } from "./features/i-frames.ts";
import { checkParts } from "./features/parts.ts";
import { checkAutoQuality, checkRate } from "./features/rate.ts";
import { checkSpan } from "./features/span.ts";
import { checkStills } from "./features/stills.ts";
import { checkSubtitles } from "./features/subtitles.ts";
import { checkTransition } from "./features/transition.ts";
import { checkWaveform } from "./features/waveform.ts";
import { brokenS3, closed, issue, listCodecs, oneOf, type Report, ruled } from "./fields.ts";
import {
  COPY_MODES,
  DEFAULT_FORMAT,
  type EncodeKind,
  FORMATS,
  type StepKind,
  VIDEO_CODECS,
  VIDEO_MODES,
  type VideoCodec,
  type VideoFormat,
} from "./formats.ts";
import { aloneNames, changesDefault, isCopyable, optionSchemas } from "./option-groups.ts";

const flag = z.boolean("must be true or false.").optional();

const probeOptions = {
  thumbhash: flag.meta({
    description:
      "Adds the ThumbHash of the picture, or of a frame of the video, which a page can show while the media loads.",
    default: false,
  }),
  dominant_color: flag.meta({
    description: "Adds the most frequent color of the picture, or of a frame of the video.",
    default: false,
  }),
  entries: flag.meta({
    description: "Adds the times at which a copy of the video can start without an encode.",
    default: false,
  }),
};

const keys = <T extends object>(table: T) =>
  Object.keys(table) as [keyof T & string, ...(keyof T & string)[]];

const formatOf = <K extends EncodeKind>(kind: K) => oneOf(keys(FORMATS[kind]), ` for ${kind}`).optional();

const codecsOf = () =>
  listCodecs(Object.fromEntries(Object.entries(FORMATS.video).map(([name, { codecs }]) => [name, codecs])));

const optionsOf = <const S extends z.core.$ZodLooseShape>(kind: string, shape: S) =>
  closed(shape, "option", ` for ${kind}`);

const COPY_NAMES: ReadonlySet<string> = new Set(["mode", "format", "codec"]);

function checkCopy(options: { mode?: string | undefined }, report: Report): void {
  const { mode } = options;
  if (mode !== "copy" && mode !== "smart") return;
  for (const [name, value] of Object.entries(options)) {
    const isSingle = mode === "smart" && name === "concat";
    if (!changesDefault(name, value) || COPY_NAMES.has(name) || (isCopyable(name) && !isSingle)) continue;
    const whole = `options.${name} needs an encode, which options.mode "${mode}" rules out.`;
    report.addIssue(issue(name, "cannot be given for a copy.", whole));
  }
}

function checkAlone(options: { concat?: unknown }, report: Report): void {
  if (options.concat === undefined) return;
  const values = new Map<string, unknown>(Object.entries(options));
  for (const name of aloneNames()) {
    if (!changesDefault(name, values.get(name))) continue;
    const whole = `options.${name} and options.concat cannot both be given.`;
    report.addIssue(issue(name, "cannot be given together with concat.", whole));
  }
}

function checkCodec(
  options: { format?: VideoFormat | undefined; codec?: VideoCodec | undefined },
  report: Report,
): void {
  const { format = DEFAULT_FORMAT.video, codec } = options;
  const codecs: readonly string[] = FORMATS.video[format].codecs;
  if (codec === undefined || codecs.includes(codec)) return;
  report.addIssue(issue("codec", `${format} cannot hold ${codec} here; use ${codecs.join(", ")}.`, true));
}

const { metadata, ...videoSchemas } = optionSchemas("video");

/** Schema of the options of the kind `video`. */
export const VideoOptions = optionsOf("video", {
  format: formatOf("video").meta({ description: "The container.", default: DEFAULT_FORMAT.video }),
  codec: oneOf(VIDEO_CODECS)
    .optional()
    .meta({
      description: `The codec of the pictures: ${codecsOf()}. By default the first one of the format.`,
    }),
  mode: oneOf(VIDEO_MODES).optional().meta({
    description:
      "`auto` encodes only what an option changes. `copy` encodes nothing: start moves back to a keyframe, and the output's cut says which span it contains, or its cuts say which spans if it has several parts. `smart` cuts at the exact picture: it copies whole groups of pictures and encodes only those around a cut.",
    default: "auto",
  }),
  ...videoSchemas,
  metadata,
})
  .superRefine(checkAudioFormat("video"))
  .superRefine(checkAudioFilters)
  .superRefine(checkSubtitles)
  .superRefine(checkCodec)
  .superRefine(checkRate)
  .superRefine(checkAutoQuality)
  .superRefine(checkCopy)
  .superRefine(checkAlone)
  .superRefine(checkGeometry)
  .superRefine(checkSpan)
  .superRefine(checkParts)
  .superRefine(checkConcat)
  .superRefine(checkTransition)
  .meta({ id: "VideoOptions" });

/** Schema of the options of the kind `audio`. */
export const AudioOptions = optionsOf("audio", {
  format: formatOf("audio").meta({ description: "The format.", default: DEFAULT_FORMAT.audio }),
  mode: oneOf(COPY_MODES).optional().meta({
    description:
      "`auto` encodes only what an option changes. `copy` encodes nothing: start moves back and end moves on to the edge of a packet, and the output's cut says which span it contains.",
    default: "auto",
  }),
  ...optionSchemas("audio"),
})
  .superRefine(checkAudioFormat("audio"))
  .superRefine(checkAudioFilters)
  .superRefine(checkCopy)
  .superRefine(checkSpan)
  .superRefine(checkParts)
  .meta({ id: "AudioOptions" });

/** Schema of the options of the kind `image`. */
export const ImageOptions = optionsOf("image", {
  format: formatOf("image").meta({
    description: "The format; by default the source's own if it is one of these, otherwise jpeg.",
  }),
  ...optionSchemas("image"),
})
  .superRefine(checkAutoQuality)
  .superRefine(checkStills)
  .superRefine(checkGeometry)
  .meta({ id: "ImageOptions" });

/** Schema of the options of the kind `animation`. */
export const AnimationOptions = optionsOf("animation", {
  format: formatOf("animation").meta({ description: "The format.", default: DEFAULT_FORMAT.animation }),
  ...optionSchemas("animation"),
})
  .superRefine(checkGeometry)
  .superRefine(checkSpan)
  .superRefine(checkParts)
  .meta({ id: "AnimationOptions" });

/** Schema of the options of the kind `storyboard`. */
export const StoryboardOptions = optionsOf("storyboard", {
  format: formatOf("storyboard").meta({
    description: "The format of the sheets.",
    default: DEFAULT_FORMAT.storyboard,
  }),
  ...optionSchemas("storyboard"),
})
  .superRefine(checkSpan)
  .meta({ id: "StoryboardOptions" });

/** Schema of the options of the kind `waveform`, by the names of audiowaveform. */
export const WaveformOptions = optionsOf("waveform", {
  format: formatOf("waveform").meta({
    description:
      "The format: peaks as audiowaveform's JSON or binary data (.dat), version 2, or a picture of them.",
    default: DEFAULT_FORMAT.waveform,
  }),
  ...optionSchemas("waveform"),
})
  .superRefine(checkWaveform)
  .superRefine(checkSpan)
  .meta({ id: "WaveformOptions" });

/** Schema of the options of the kind `adaptive_video`. */
export const AdaptiveVideoOptions = optionsOf("adaptive_video", {
  format: formatOf("adaptive_video").meta({
    description:
      "The kind of stream: HLS, DASH, or both from the same segments, with manifest.mpd beside master.m3u8.",
    default: DEFAULT_FORMAT.adaptive_video,
  }),
  ...optionSchemas("adaptive_video"),
})
  .superRefine(checkAudioFormat("adaptive_video"))
  .superRefine(checkAudioFilters)
  .superRefine(checkSubtitles)
  .superRefine(checkIFrames)
  .superRefine(checkEncryption)
  .superRefine(checkGeometry)
  .superRefine(checkSpan)
  .superRefine(checkParts)
  .meta({ id: "AdaptiveVideoOptions" });

/** Schema of the options of the kind `probe`. */
export const ProbeOptions = optionsOf("probe", probeOptions).meta({ id: "ProbeOptions" });

/** Schema of the options of the kind `ingest`: none yet. */
export const NoOptions = optionsOf("ingest", {}).meta({ id: "NoOptions" });

/** Schema of the options of the kind `upload`. */
export const UploadOptions = optionsOf("upload", {
  url: ruled(
    z.string({ error: ({ input }) => (input === undefined ? "is required." : "must be a string.") }),
    brokenS3,
  ).meta({ description: "Destination, `s3://<bucket>/<key>`.", example: "s3://bucket/key.mp4" }),
  connection_id: z.string("must be a string.").optional().meta({
    description: "Id of a stored connection; by default the default connection.",
    example: "conn_01k",
  }),
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
/** Options of the kind `waveform`, as parsed. */
export type WaveformOptions = z.infer<typeof WaveformOptions>;
/** Options of the kind `adaptive_video`, as parsed. */
export type AdaptiveVideoOptions = z.infer<typeof AdaptiveVideoOptions>;
/** Options of the kind `probe`, as parsed. */
export type ProbeOptions = z.infer<typeof ProbeOptions>;
/** Options of the kind `upload`, as parsed. */
export type UploadOptions = z.infer<typeof UploadOptions>;
/** The options of a kind, as parsed. */
export type OptionsOf<K extends StepKind> = z.infer<(typeof OPTIONS)[K]>;
/** A kind of encode with its options. */
export type EncodeRequest = { [K in EncodeKind]: { kind: K; options: OptionsOf<K> } }[EncodeKind];
