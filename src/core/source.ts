import { z } from "zod";
import { BOUNDS } from "./formats.ts";

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
    kind: z.enum(["video", "audio", "subtitle", "data"]),
    codec: z.string().nullable(),
    duration: z.number().optional(),
    bitrate: z.int().optional(),
    language: z.string().optional(),
  })
  .meta({ id: "Stream" });

const audio = z
  .object({ channels: z.int().min(1), sample_rate: z.int().min(1).meta({ description: "Hertz." }) })
  .meta({ id: "SourceAudio" });

// A caller who composes a Source by hand may leave out the one that is not there.
const codec = z.string().nullable().default(null);

/** Probed media: what a step gives, and what the next one takes. */
export const Source = z
  .object({
    object: z.literal("source"),
    url: z.string(),
    kind: z.enum(["video", "audio", "image", "adaptive_video"]),
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
    has_alpha: z.boolean().optional(),
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
    etag: z.string().optional(),
    encoder: z
      .string()
      .optional()
      .meta({ description: "On an encode's output: which encoder did the work." }),
    reason: z
      .string()
      .optional()
      .meta({ description: "On an encode's output: why that encoder was chosen." }),
  })
  .meta({ id: "Source" });

/** Probed media: what a step gives, and what the next one takes. */
export type Source = z.infer<typeof Source>;
/** One stream of a {@link Source}. */
export type SourceStream = z.infer<typeof stream>;
/** Color facts of a {@link Source}. */
export type SourceColor = z.infer<typeof color>;

/** Media that nobody has looked into yet: the input of probe and ingest. */
export const ExternalFile = z
  .object({ object: z.literal("external_file"), url: z.string() })
  .meta({ id: "ExternalFile" });
/** Media that nobody has looked into yet: the input of probe and ingest. */
export type ExternalFile = z.infer<typeof ExternalFile>;
