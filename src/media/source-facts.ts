import { z } from "zod";
import { Chapters } from "./chapters.ts";
import { BOUNDS } from "./formats.ts";

const color = z
  .object({
    primaries: z.string().optional().meta({ description: "Color primaries, as ffmpeg names them." }),
    transfer: z.string().optional().meta({ description: "Transfer characteristics, as ffmpeg names them." }),
    space: z.string().optional().meta({ description: "Matrix of YCbCr, as ffmpeg names it." }),
    range: z.enum(["limited", "full"]).optional().meta({ description: "Range of the sample values." }),
    bit_depth: z.int().optional().meta({ description: "Bits per component." }),
    hdr: z.boolean().meta({ description: "True if the transfer is PQ or HLG." }),
  })
  .meta({ id: "Color" });

const part = z.number().min(-1000).max(1000);

/** A curve from stored values to light, both from 0 to 1: parametric (ICC.1:2022, function type 4), or of points from dark to bright. */
export const ToneCurve = z.union([
  z.strictObject({ g: part, a: part, b: part, c: part, d: part, e: part, f: part }),
  z.strictObject({ points: z.array(z.array(part).length(2)).min(2).max(64) }),
]);

/**
 * The conversion of a profile's colors to sRGB: curves of red, green and blue, then a matrix of their light, row by row; or a table of
 * 16 × 16 × 16 colors, red fastest, in base64: three 16-bit numbers per color, which range over light from -0.25 to 1.25.
 */
export const ToSrgb = z.union([
  z.strictObject({ curves: z.array(ToneCurve).length(3), matrix: z.array(part).length(9) }),
  z.strictObject({ table: z.string().regex(/^[A-Za-z0-9+/]{32768}$/) }),
]);

const color_profile = z
  .object({
    name: z
      .string()
      .optional()
      .meta({ description: "The profile's own description.", example: "Display P3" }),
    space: z.string().optional().meta({
      description: "The color space of an ICC profile: RGB, GRAY, CMYK and others.",
    }),
    to_srgb: ToSrgb.optional().meta({
      description: "The conversion of the profile's colors to sRGB; absent if they are not converted.",
    }),
    ignored: z.literal(true).optional().meta({
      description:
        "True for an ICC profile that viewers ignore, because it is damaged or describes colors other than those of the picture; otherwise absent.",
    }),
  })
  .meta({ id: "ColorProfile" });

const stream = z
  .object({
    index: z.int().meta({ description: "Index in the file, from 0." }),
    kind: z
      .enum(["video", "audio", "subtitle", "data", "cover"])
      .meta({ description: "A cover is a picture that goes with the whole file." }),
    codec: z
      .string()
      .nullable()
      .meta({ description: "Name of the codec, as ffmpeg has it; null when unknown." }),
    duration: z.number().optional().meta({ description: "Seconds." }),
    end: z
      .number()
      .min(0)
      .optional()
      .meta({ description: "Seconds from the start of the file to the end of the stream's last frame." }),
    bitrate: z.int().optional().meta({ description: "Bits per second." }),
    language: z.string().optional().meta({ description: "Language code that the file states." }),
    title: z.string().optional().meta({ description: "Name of a subtitle track." }),
    tag_names: z
      .array(z.string())
      .optional()
      .meta({
        description:
          "Names of the tags that a video or sound track has of its own, such as title; absent if it has none.",
        example: ["title"],
      }),
    default: z.literal(true).optional().meta({
      description: "True if players show a subtitle track by default; otherwise absent.",
    }),
    disabled: z.literal(true).optional().meta({
      description:
        "True if the file disables a video or sound track, which players then ignore; otherwise absent.",
    }),
    other_program: z.literal(true).optional().meta({
      description:
        "True for a video or sound track of a transport stream that belongs to a program other than that of the described pictures; otherwise absent.",
    }),
    forced: z.literal(true).optional().meta({
      description:
        "True if a subtitle track holds only what every viewer needs, such as translated signs; otherwise absent.",
    }),
    channels: z.int().min(1).optional().meta({
      description: "Channels of a sound track; absent for the track that `audio` describes.",
    }),
    sample_rate: z.int().min(1).optional().meta({
      description: "Samples per second of a sound track; absent for the track that `audio` describes.",
    }),
    bit_depth: z
      .int()
      .min(1)
      .optional()
      .meta({ description: "Bits per sample of a lossless sound track, as in `audio`." }),
    floating: z
      .literal(true)
      .optional()
      .meta({ description: "True if a sound track has floating-point samples, as in `audio`." }),
  })
  .meta({ id: "Stream" });

const audio = z
  .object({
    channels: z.int().min(1),
    sample_rate: z.int().min(1).meta({ description: "Hertz." }),
    bit_depth: z.int().min(1).optional().meta({
      description:
        "Bits of a sample of lossless sound if they are more than 16; absent if the name of the codec states them.",
    }),
    floating: z.literal(true).optional().meta({
      description:
        "True if lossless sound has floating-point samples and its codec does not say so; otherwise absent.",
    }),
  })
  .meta({ id: "SourceAudio" });

const codec = z.string().nullable().default(null);

/** The facts of media, as a probe reads them. */
export const SourceFacts = z.object({
  object: z.literal("source"),
  url: z.string().meta({ description: "URL of the file, or of the master playlist of adaptive video." }),
  kind: z.enum(["video", "audio", "image", "adaptive_video", "data"]).meta({
    description: "The kind of media; `data` is the JSON or .dat of a waveform.",
  }),
  format: z.string().meta({ description: "Container format, such as mp4, matroska, jpeg.", example: "mp4" }),
  mime: z.string().optional().meta({ description: "Media type, such as video/mp4." }),
  filesize: z.int().min(0).optional().meta({ description: "Size of the file in bytes." }),
  width: z
    .int()
    .min(1)
    .optional()
    .meta({ description: "Displayed width in pixels, after rotation and pixel aspect ratio." }),
  height: z
    .int()
    .min(1)
    .optional()
    .meta({ description: "Displayed height in pixels, after rotation and pixel aspect ratio." }),
  duration: z
    .number()
    .min(BOUNDS.seconds.min)
    .max(BOUNDS.seconds.max)
    .optional()
    .meta({ description: "Duration in seconds; absent for a still image, and when unknown." }),
  duration_estimated: z.boolean().optional().meta({
    description:
      "True if the duration is an estimate, because no header states it and the file is too large to count; otherwise absent.",
  }),
  fragmented: z.literal(true).optional().meta({
    description:
      "True for a fragmented MP4 or MOV, which lists its packets throughout the file; otherwise absent.",
  }),
  edited: z.literal(true).optional().meta({
    description:
      "True if the edit list of an MP4 or MOV shows several parts, if its picture size changes midway, or if the sample rate or channels of an MP4, MOV, Matroska, WebM, MP3, AAC, AC-3, E-AC-3, Ogg, transport or program stream change midway, so that every output is encoded; otherwise absent.",
  }),
  untimed: z.literal(true).optional().meta({
    description:
      "True if the index of an MP4 or MOV gives all pictures the same time; they then play at 25 a second, and every output is encoded. Otherwise absent.",
  }),
  preroll: z.number().min(0).optional().meta({
    description:
      "Seconds at the start that the edit list of an MP4 or MOV hides, as after a cut without an encode; absent if it hides no more than decoders need.",
  }),
  postroll: z.number().min(0).optional().meta({
    description:
      "Seconds at the end that the edit list of an MP4 or MOV hides; absent where it hides at most a few pictures.",
  }),
  restarted: z.literal(true).optional().meta({
    description:
      "True if the clock restarts midway, as in a file joined from several, or the frames of a FLAC are misnumbered, so that the file cannot be seeked; otherwise absent.",
  }),
  truncated: z.literal(true).optional().meta({
    description:
      "True if the file ends earlier than its headers say, for example after an interrupted download; the duration then counts only the part that is there. Otherwise absent.",
  }),
  priming: z.number().min(0).optional().meta({
    description:
      "Seconds of sound before the start of the file that only prime its decoder (Opus in Matroska and WebM); absent when there are none.",
  }),
  codecs: z.object({ video: codec, audio: codec }).optional(),
  fps: z.number().min(0).optional().meta({ description: "Average frames per second." }),
  constant_fps: z.literal(true).optional().meta({
    description:
      "True if the pictures are evenly spaced by the index of an MP4 or MOV, the declared rate of a Matroska or WebM, or the container itself (AVI, MPEG); otherwise absent, and fps is only an average.",
  }),
  bitrate: z.int().min(0).optional().meta({ description: "Bits per second of the whole file." }),
  rotation: z
    .int()
    .min(0)
    .max(270)
    .multipleOf(90)
    .optional()
    .meta({ description: "Clockwise degrees by which a player turns the picture: 0, 90, 180 or 270." }),
  flipped: z.literal(true).optional().meta({
    description: "True if a player mirrors the turned picture left to right; otherwise absent.",
  }),
  has_alpha: z.boolean().optional().meta({ description: "True if the picture has transparency." }),
  premultiplied: z.literal(true).optional().meta({
    description: "True if the colors are stored multiplied by the transparency; otherwise absent.",
  }),
  transparent_color: z.string().optional().meta({
    description:
      "The color that a gray PNG of 1, 2 or 4 bits shows as transparent, `0xRRGGBB`; otherwise absent.",
  }),
  binary_alpha: z.literal(true).optional().meta({
    description:
      "True where every pixel is known to be either opaque or fully transparent, as in a GIF; else absent.",
  }),
  animated: z.boolean().optional().meta({ description: "True for an image with more than one frame." }),
  interlaced: z.boolean().optional().meta({ description: "True if a picture consists of two fields." }),
  pixel_format: z
    .string()
    .optional()
    .meta({ description: "Pixel format, as ffmpeg names it, such as yuv420p." }),
  coded_width: z
    .int()
    .min(1)
    .optional()
    .meta({ description: "Stored width in pixels, before rotation and pixel aspect ratio." }),
  coded_height: z
    .int()
    .min(1)
    .optional()
    .meta({ description: "Stored height in pixels, before rotation and pixel aspect ratio." }),
  sample_aspect_ratio: z
    .string()
    .optional()
    .meta({ description: "Ratio of width to height of a stored pixel.", example: "1:1" }),
  audio: audio.optional(),
  color: color.optional(),
  color_profile: color_profile.optional().meta({
    description: "The color profile of a picture, embedded or stated by its header; absent for sRGB.",
  }),
  gain_map: z.literal(true).optional().meta({
    description: "True for a photo with a gain map, from which viewers compute HDR; otherwise absent.",
  }),
  exif: z.literal(true).optional().meta({
    description:
      "True for a picture whose EXIF data hold more than its layout, such as its camera, place or date; otherwise absent.",
  }),
  xmp: z.literal(true).optional().meta({
    description: "True for a picture whose XMP data hold more than its layout; otherwise absent.",
  }),
  iptc: z.literal(true).optional().meta({
    description: "True for a picture with IPTC data, such as a caption or a credit; otherwise absent.",
  }),
  comments: z.literal(true).optional().meta({
    description:
      "True for a JPEG or GIF with a comment, and for a PNG with text such as a title, unless it only names the software; otherwise absent.",
  }),
  streams: z.array(stream).optional().meta({ description: "The streams of the file, in its order." }),
  video_track: z.int().min(0).optional().meta({
    description:
      "Index, from 0 among the video tracks in streams, of the track that the source describes and outputs show; absent for the first.",
  }),
  sound_track: z.int().min(0).optional().meta({
    description:
      "Index, from 0 among the sound tracks in streams, of the track that the source describes and outputs play; absent for the first.",
  }),
  tags: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: "Tags of the file, by the names that ffmpeg uses.", example: { title: "Dawn" } }),
  tag_values: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .meta({
      description:
        "The values of tags that have several, which tags joins with semicolons; absent if none has.",
      example: { artist: ["Ada", "Ben"] },
    }),
  long_tags: z
    .array(z.string())
    .optional()
    .meta({ description: "Names of tags whose texts are too long to carry; absent if there are none." }),
  chapters: Chapters.optional().meta({
    description: "Chapters in order of time; absent if the file has none.",
  }),
});
/** The facts of media, as a probe reads them. */
export type SourceFacts = z.infer<typeof SourceFacts>;
/** One stream of a source. */
export type SourceStream = z.infer<typeof stream>;
/** A curve from stored values to light. */
export type ToneCurve = z.infer<typeof ToneCurve>;
/** The conversion of a profile's colors to sRGB. */
export type ToSrgb = z.infer<typeof ToSrgb>;
/** The color profile of a picture. */
export type ColorProfile = z.infer<typeof color_profile>;
/** Color properties of a source. */
export type SourceColor = z.infer<typeof color>;
