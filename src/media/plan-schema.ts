import { z } from "zod";
import { ExtraFile } from "./extra-files.ts";
import { Motion } from "./features/animation.ts";
import { AudioFilters } from "./features/audio-filters.ts";
import { concatFields } from "./features/concat.ts";
import { EncryptionPlan } from "./features/encryption.ts";
import { METADATA_FIELDS } from "./features/metadata.ts";
import { Sprite } from "./features/storyboard.ts";
import { SUBTITLE_FIELDS } from "./features/subtitles.ts";
import { WaveformPlan } from "./features/waveform.ts";
import { PICTURE_FIELDS, PLAN_FIELDS, VIDEO_FIELDS } from "./features.ts";
import { plainName } from "./fields.ts";
import { type AudioCodec, ENCODE_KINDS, FORMATS, VIDEO_CODECS, WAV_CODECS } from "./formats.ts";
import { renameFacts, Source } from "./source.ts";

// A plan crosses a trust boundary: objects are strict, and every text that becomes part of a path or filter has a pattern.
const fileName = z.string().regex(/^[A-Za-z0-9_-][\w.-]{0,127}$/);
const pixels = z
  .int()
  .min(0)
  .max(1 << 16);
const color = z.string().regex(/^0x([0-9a-f]{6}|[0-9a-f]{8})$/i);
const seconds = z.number().min(0).max(1e7);
const count = z.int().min(0);
const index = z.int().min(0).max(1000);
const bits = z.number().positive().max(1e10);
const fps = z.number().positive().max(1000).nullable();
const box = { x: pixels, y: pixels, width: pixels, height: pixels };

/** How a stored picture becomes the output picture; the operations apply in the order of the fields. */
export const Geometry = z.strictObject({
  /** Clockwise rotation of the stored picture in degrees. */
  rotate: z.literal([0, 90, 180, 270]),
  /** Rotation still to apply when the decoder autorotates. */
  turn: z.literal([0, 90, 180, 270]),
  /** Whether the rotated picture is mirrored, left to right. */
  mirror: z.boolean(),
  /** The part to keep, in stored pixels after rotating and mirroring; null keeps all. */
  crop: z.strictObject(box).nullable(),
  /** Size to scale to; from here on pixels are square. Null when no scaling is needed. */
  scale: z.strictObject({ width: pixels, height: pixels }).nullable(),
  /** The canvas around the scaled picture, its position there, and a color as `0xRRGGBB` or `0xRRGGBBAA`; null for none. */
  pad: z.strictObject({ ...box, color }).nullable(),
  /** Size of the output picture in pixels. */
  width: pixels,
  height: pixels,
});

/** Constant quality on the codec's scale, or an average bitrate in bits per second. */
export const Rate = z.union([
  z.strictObject({ crf: z.number().min(0).max(63), maxrate: bits.exactOptional() }),
  z.strictObject({ bitrate: bits }),
]);

/** A video stream that is encoded. */
export const VideoEncode = z.strictObject({
  mode: z.literal("encode"),
  codec: z.enum(VIDEO_CODECS),
  geometry: Geometry,
  rate: Rate,
  /** Frames per second of the output; null keeps the source's timing. */
  fps,
  ...VIDEO_FIELDS,
  /** Bits per component: 10 when the codec keeps an HDR source as HDR, otherwise 8. */
  depth: z.literal([8, 10]),
  /** Background for transparent pictures as `0xRRGGBB`; null when the source has no transparency. */
  matte: color.nullable(),
});

/** How the video stream is produced. */
export const VideoPlan = z.discriminatedUnion("mode", [
  z.strictObject({ mode: z.literal("copy"), codec: plainName, width: pixels, height: pixels }),
  VideoEncode,
]);

/** How the audio stream is produced. */
export const AudioPlan = z.discriminatedUnion("mode", [
  z.strictObject({ mode: z.literal("copy"), codec: plainName }),
  z.strictObject({
    mode: z.literal("encode"),
    codec: z.enum(["aac", "mp3", "opus", "vorbis", "flac", ...WAV_CODECS] satisfies AudioCodec[]),
    /** Bits per second; null for lossless codecs. */
    bitrate: bits.nullable(),
    /** FLAC compression level; null for other codecs. */
    compression: z.int().min(0).max(12).nullable(),
    channels: z.int().min(1).max(64),
    sample_rate: z.int().min(1).max(1_000_000),
    shape: AudioFilters.exactOptional(),
  }),
]);

/** How an image is produced. */
export const ImagePlan = z.strictObject({
  geometry: Geometry,
  /** Quality: 1 to 100 for jpeg and webp, 0 to 63 (lower is better) for avif, null for png and gif. */
  quality: z.number().min(0).max(100).nullable(),
  /** How many times the decoder halves the picture's sides, before anything else; absent for none. */
  shrink: z.literal([1, 2, 3]).exactOptional(),
  /** Compression effort of libwebp, from 0 to 6; default 4. */
  effort: z.int().min(0).max(6).exactOptional(),
  /** Whether more than one frame is kept (gif and webp from animated input). */
  animated: z.boolean(),
  alpha: z.boolean(),
  ...PICTURE_FIELDS,
  matte: color.nullable(),
  /** Maximum bytes of the file, met by lowering quality and then size; absent for no limit. */
  max_bytes: count.exactOptional(),
  motion: Motion.exactOptional(),
  sheet: Sprite.exactOptional(),
});

/** One stream of adaptive video. */
export const Rendition = z.strictObject({
  name: fileName,
  geometry: Geometry,
  rate: Rate,
  fps,
  /** The codec of the rendition; absent if it is that of the plan. */
  codec: z.enum(VIDEO_CODECS).exactOptional(),
});

/** A span of the source, in seconds, that is encoded separately; `track` selects its streams. */
export const Chunk = z.strictObject({
  index: z.int().min(0).max(100_000),
  track: z.enum(["all", "video", "audio"]),
  start: seconds,
  end: seconds.nullable(),
  /** Start of the chunk in the output, in seconds; absent where that follows from `start`. */
  at: seconds.optional(),
  /** Where decoding starts, at or before `start`. Default: `start`. */
  decode_from: seconds.optional(),
  /** Start of the picture visible at `start`, which may be before 0; absent when it is unknown or in another chunk. */
  shown_from: z.number().min(-1e7).max(1e7).optional(),
  keyframes_only: z.boolean().optional(),
  /** The number of pictures whose packets are copied from the source; absent for a chunk that is encoded. */
  copy: z.strictObject({ pictures: count }).optional(),
  sound: index.optional(),
  sound_from: seconds.optional(),
});

/** A source on the wire: parsed as strictly as the plan, with patterns for names that become arguments. */
export const NamedSource = z.unknown().transform((json, context): Source => {
  const { data, error } = Source.safeParse(renameFacts(json));
  if (!data) {
    for (const { path, message } of error.issues) {
      context.addIssue({ code: "custom", path: [...path], message });
    }
    return z.NEVER;
  }
  const { format, color: { primaries, transfer, space } = {} } = data;
  const names = { format, "color.primaries": primaries, "color.transfer": transfer, "color.space": space };
  for (const [path, name] of Object.entries(names)) {
    if (name === undefined || plainName.safeParse(name).success) continue;
    context.addIssue({ code: "custom", path: path.split("."), message: "is no name" });
  }
  const unknown = strippedPath(renameFacts(json), data);
  if (unknown) {
    context.addIssue({ code: "unrecognized_keys", path: unknown.slice(0, -1), keys: unknown.slice(-1) });
  }
  return data;
});

// The API documents sources as open objects, so parsing strips unknown fields at any depth.
function strippedPath(json: unknown, parsed: unknown): string[] | null {
  if (typeof json !== "object" || json === null) return null;
  const values = new Map(Object.entries(parsed ?? {}));
  for (const [name, value] of Object.entries(json)) {
    const rest = values.has(name) ? strippedPath(value, values.get(name)) : [];
    if (rest) return [name, ...rest];
  }
  return null;
}

/** All the work on a source, decided before any of it starts; plain data that survives a restart. */
export const Plan = z.strictObject({
  kind: z.enum(ENCODE_KINDS),
  /** Output format, a key of FORMATS for the kind. */
  format: plainName,
  /** Whether the input is a still image (no timeline). */
  still: z.boolean(),
  start: seconds,
  end: seconds.nullable(),
  /** Expected seconds of output; null when unknown or for a still. */
  duration: seconds.nullable(),
  /** Expected number of output frames; null when unknown. */
  frames: z.number().min(0).nullable(),
  target_size: count.exactOptional(),
  video: VideoPlan.nullable(),
  audio: AudioPlan.nullable(),
  sound_track: index.exactOptional(),
  language: z
    .string()
    .regex(/^[a-z]{3}$/)
    .exactOptional(),
  ...PLAN_FIELDS,
  sounds: z
    .array(z.strictObject({ track: index, audio: AudioPlan }))
    .max(100)
    .exactOptional(),
  image: ImagePlan.nullable(),
  waveform: WaveformPlan.exactOptional(),
  ...METADATA_FIELDS,
  ...SUBTITLE_FIELDS,
  further: z.array(ExtraFile).max(100).readonly().exactOptional(),
  ...concatFields(VideoEncode, NamedSource),
  renditions: z.array(Rendition).max(32),
  held: z.strictObject({ from: seconds, until: seconds }).exactOptional(),
  i_frames: z.literal(true).exactOptional(),
  encryption: EncryptionPlan.exactOptional(),
  /** Ends of the last whole packets of a truncated source's tracks, in seconds; each track then has chunks of its own. */
  track_ends: z.strictObject({ pictures: seconds, sound: seconds }).exactOptional(),
  chunks: z.array(Chunk).max(100_000),
});

/** A plan whose format belongs to its kind. */
export const CheckedPlan = Plan.refine(({ kind, format }) => Object.hasOwn(FORMATS[kind], format), {
  path: ["format"],
  message: "is none of this kind",
});
