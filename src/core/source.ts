import { z } from "zod";
import { Chapters } from "./chapters/chapters.ts";
import { BOUNDS } from "./formats.ts";
import { Refusal } from "./refusal.ts";

const color = z
  .object({
    primaries: z.string().optional(),
    transfer: z.string().optional(),
    space: z.string().optional(),
    range: z.enum(["limited", "full"]).optional(),
    bit_depth: z.int().optional().meta({ description: "Bits per component." }),
    hdr: z.boolean().meta({ description: "True for PQ and HLG." }),
  })
  .meta({ id: "Color" });

const stream = z
  .object({
    index: z.int(),
    kind: z
      .enum(["video", "audio", "subtitle", "data", "cover"])
      .meta({ description: "A cover is a picture that goes with the whole file." }),
    codec: z.string().nullable(),
    duration: z.number().optional(),
    end: z
      .number()
      .min(0)
      .optional()
      .meta({ description: "Seconds from the start of the file to the end of the stream's last frame." }),
    bitrate: z.int().optional(),
    language: z.string().optional(),
    title: z.string().optional().meta({ description: "Name of a subtitle track." }),
    default: z.literal(true).optional().meta({
      description: "Whether players show a subtitle track by default; else absent.",
    }),
    forced: z.literal(true).optional().meta({
      description: "Whether a subtitle track holds only what every viewer needs; else absent.",
    }),
    channels: z.int().min(1).optional().meta({
      description: "Of a sound track after the first; those of the first are in audio.",
    }),
    sample_rate: z.int().min(1).optional().meta({ description: "The same, in hertz." }),
  })
  .meta({ id: "Stream" });

const audio = z
  .object({ channels: z.int().min(1), sample_rate: z.int().min(1).meta({ description: "Hertz." }) })
  .meta({ id: "SourceAudio" });

const counts = z
  .object({
    pictures: z
      .object({
        source: z.int().min(0).meta({ description: "Pictures that the source holds in the span asked for." }),
        output: z
          .int()
          .min(0)
          .meta({ description: "Pictures in the output; of adaptive video, in each rendition." }),
        unreadable: z.int().min(0).optional().meta({
          description:
            "Pictures before the source's first entry point, which nothing can decode; absent when 0.",
        }),
      })
      .optional(),
    sound: z
      .object({
        source: z.number().min(0).meta({
          description:
            "Seconds of sound that the source's packets hold in the span; of all tracks that the output has.",
        }),
        output: z
          .number()
          .min(0)
          .meta({ description: "Seconds of sound that the output's packets hold, at its own speed." }),
      })
      .optional(),
  })
  .meta({ id: "Counts", description: "Counts of an encode's source and output, packet by packet." });

const dropped = z
  .object({
    kind: z.enum(["video", "audio", "subtitle", "chapters", "data", "cover", "tags", "channels"]),
    index: z.int().min(0).optional().meta({ description: "Index of the source's stream." }),
    part: z.int().min(1).optional().meta({
      description: "Which video of concat has it, 1 for the first; absent for what the input itself has.",
    }),
    language: z.string().optional(),
    reason: z
      .enum(["asked", "one_track", "no_place_in_format", "not_supported", "downmixed", "private"])
      .meta({
        description:
          "asked: the kind or an option asks for it; one_track: the output has one track of the kind; " +
          "no_place_in_format: the format cannot hold it; not_supported: it is not carried over; " +
          "downmixed: the channels are mixed to fewer; private: location, device and other data that do not describe the work.",
      }),
  })
  .meta({ id: "Dropped" });

const waveform = z
  .object({
    version: z.literal(2).meta({ description: "Version of audiowaveform's data format." }),
    channels: z
      .int()
      .min(1)
      .meta({ description: "Rows of peaks: 1, or each channel's with split_channels." }),
    sample_rate: z.int().min(1).meta({ description: "Hertz." }),
    samples_per_pixel: z.int().min(1).meta({ description: "Samples in a point." }),
    bits: z.literal([8, 16]),
    length: z.int().min(0).meta({ description: "Points of a channel." }),
  })
  .meta({ id: "WaveformFacts", description: "The header of a waveform's data." });

// A Source written by hand may omit the codec that it does not have.
const codec = z.string().nullable().default(null);

/** Probed media: the output of a step and the input of the next. */
export const Source = z
  .object({
    object: z.literal("source"),
    url: z.string(),
    kind: z.enum(["video", "audio", "image", "adaptive_video", "data"]).meta({
      description: "Data is the JSON or the .dat of a waveform.",
    }),
    format: z
      .string()
      .meta({ description: "Container format, such as mp4, matroska, jpeg.", example: "mp4" }),
    mime: z.string().optional(),
    filesize: z.int().min(0).optional().meta({ description: "Bytes." }),
    width: z
      .int()
      .min(1)
      .optional()
      .meta({ description: "Displayed pixels, after rotation and pixel aspect." }),
    height: z
      .int()
      .min(1)
      .optional()
      .meta({ description: "Displayed pixels, after rotation and pixel aspect." }),
    duration: z
      .number()
      .min(BOUNDS.seconds.min)
      .max(BOUNDS.seconds.max)
      .optional()
      .meta({ description: "Seconds." }),
    duration_estimated: z.boolean().optional().meta({
      description:
        "True where the duration is estimated: the file has no header that states it, and is too large to count.",
    }),
    fragmented: z.literal(true).optional().meta({
      description:
        "True for a fragmented MP4 or MOV, whose packets are listed throughout the file; else absent.",
    }),
    priming: z.number().min(0).optional().meta({
      description:
        "Seconds of sound before the start of the file that only prime its decoder (Opus in Matroska and WebM); absent when there are none.",
    }),
    codecs: z.object({ video: codec, audio: codec }).optional(),
    fps: z.number().min(0).optional().meta({ description: "Average frames per second." }),
    bitrate: z.int().min(0).optional().meta({ description: "Bits per second of the whole file." }),
    rotation: z
      .int()
      .min(0)
      .max(270)
      .multipleOf(90)
      .optional()
      .meta({ description: "Clockwise degrees that a player turns the picture: 0, 90, 180, 270." }),
    mirrored: z.literal(true).optional().meta({
      description: "True where a player mirrors the turned picture, left to right; else absent.",
    }),
    has_alpha: z.boolean().optional(),
    premultiplied: z.literal(true).optional().meta({
      description: "True where the colors are stored multiplied by the transparency; else absent.",
    }),
    transparent_color: z.string().optional().meta({
      description:
        "The color that stands for transparency, `0xRRGGBB`, in a gray PNG of 1, 2 or 4 bits; else absent.",
    }),
    animated: z.boolean().optional().meta({ description: "True for an image with more than one frame." }),
    interlaced: z.boolean().optional(),
    pixel_format: z.string().optional(),
    coded_width: z
      .int()
      .min(1)
      .optional()
      .meta({ description: "Stored pixels, before rotation and pixel aspect." }),
    coded_height: z
      .int()
      .min(1)
      .optional()
      .meta({ description: "Stored pixels, before rotation and pixel aspect." }),
    sample_aspect_ratio: z
      .string()
      .optional()
      .meta({ description: "Width to height of one stored pixel.", example: "1:1" }),
    audio: audio.optional(),
    color: color.optional(),
    streams: z.array(stream).optional(),
    tags: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: "Tags of the file, by the names that ffmpeg uses.", example: { title: "Dawn" } }),
    chapters: Chapters.optional().meta({ description: "In order of time; absent when the file has none." }),
    dropped: z.array(dropped).optional().meta({
      description: "On an encode's output: the parts of the source that it lacks; absent when it lacks none.",
    }),
    renditions: z
      .array(
        z.object({
          url: z.string(),
          width: z.int().min(1).optional(),
          height: z.int().min(1).optional(),
          bitrate: z.int(),
          codecs: z.string(),
        }),
      )
      .optional()
      .meta({ description: "The streams of adaptive video, best first." }),
    files: z
      .array(
        z.object({
          url: z.string(),
          mime: z.string(),
          filesize: z.int().min(0),
          time: z.number().min(0).optional().meta({ description: "Seconds in the source." }),
        }),
      )
      .optional()
      .meta({
        description:
          "All files of an output of several: the WebVTT, the JSON and the sheets of a storyboard, in order; each of several stills with its time.",
      }),
    waveform: waveform.optional().meta({ description: "On the output of the kind waveform." }),
    thumbhash: z.string().optional().meta({
      description:
        "ThumbHash in base64, of a probe with that option: of the picture, or of what a video shows after a tenth of its time.",
      example: "3OcRJYB4d3h/iIeHeEh3eIhw+j2A",
    }),
    dominant_color: z.string().optional().meta({
      description:
        "Its most frequent color, of a probe with that option: the mean of the fullest of 16 × 16 × 16 steps of red, green and blue. Absent where all is transparent.",
      example: "#1e90ff",
    }),
    etag: z.string().optional(),
    counts: counts.optional(),
    cut: z
      .object({ start: z.number().min(0), end: z.number().min(0) })
      .optional()
      .meta({
        description:
          "On the output of a copy: what it holds of its source, in seconds. It starts with a keyframe, or a packet of sound alone, and ends where its last packet does.",
      }),
    encoder: z
      .string()
      .optional()
      .meta({ description: "On an encode's output: which encoder did the work." }),
    reason: z
      .string()
      .optional()
      .meta({ description: "On an encode's output: why that encoder was chosen, in one short sentence." }),
    refusals: z.array(Refusal).optional().meta({
      description:
        "On an encode's output: why the preferred encoders did not do the work; absent when there are none.",
    }),
  })
  .meta({ id: "Source" });

/** Probed media: the output of a step and the input of the next. */
export type Source = z.infer<typeof Source>;
/** One stream of a {@link Source}. */
export type SourceStream = z.infer<typeof stream>;
/** What an encode counted in its source and in its output, see {@link Source}. */
export type Counts = z.infer<typeof counts>;
/** The header of a waveform's data, under the names of audiowaveform's JSON. */
export type WaveformFacts = z.infer<typeof waveform>;
/** A part of a source that its output does not have, and why. */
export type Dropped = z.infer<typeof dropped>;
/** Color properties of a {@link Source}. */
export type SourceColor = z.infer<typeof color>;

/** Media not yet probed: the input of probe and ingest. */
export const ExternalFile = z
  .object({ object: z.literal("external_file"), url: z.string() })
  .meta({ id: "ExternalFile" });
/** Media not yet probed: the input of probe and ingest. */
export type ExternalFile = z.infer<typeof ExternalFile>;
