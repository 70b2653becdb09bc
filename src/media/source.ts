import { z } from "zod";
import { Refusal } from "./refusal.ts";
import { SourceFacts } from "./source-facts.ts";

export type { SourceColor, SourceStream } from "./source-facts.ts";

const counts = z
  .object({
    pictures: z
      .object({
        source: z.int().min(0).meta({
          description:
            "Pictures that the source shows in the span; those that its edit list hides do not count.",
        }),
        output: z.int().min(0).meta({
          description:
            "Pictures that the output shows; of adaptive video, in each rendition. A copy may end with a few more than its span has, because earlier pictures refer to them.",
        }),
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
    kind: z.enum([
      "video",
      "audio",
      "subtitle",
      "chapters",
      "data",
      "cover",
      "tags",
      "channels",
      "alpha",
      "bit_depth",
      "hdr",
      "color_profile",
      "gain_map",
    ]),
    index: z.int().min(0).optional().meta({ description: "Index of the source's stream." }),
    part: z.int().min(1).optional().meta({
      description: "Which video of concat has it, 1 for the first; absent for what the input itself has.",
    }),
    language: z.string().optional(),
    reason: z
      .enum([
        "asked",
        "one_track",
        "no_place_in_format",
        "not_supported",
        "downmixed",
        "private",
        "joined",
        "too_long",
        "cut_off",
      ])
      .meta({
        description:
          "asked: the kind or an option asks for it; one_track: the output has one track of the kind; " +
          "no_place_in_format: the format cannot hold it; not_supported: it is not carried over; " +
          "downmixed: the channels are mixed to fewer; private: location, device, software and other data that do not describe the work; " +
          "joined: the values of a tag are joined into one; too_long: a tag's text is longer than 32,768 characters, or all are too many; " +
          "cut_off: the file ends before its headers say, and the rest of the track is missing.",
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

/** Probed media: the output of a step and the input of the next. */
export const Source = SourceFacts.extend({
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
  entries: z
    .array(z.number().min(0))
    .optional()
    .meta({
      description:
        "Seconds at which a copy can start, ascending, of a probe of a video with that option: every picture from there on is complete. Empty when they are unknown.",
      example: [0, 2, 4],
    }),
  etag: z.string().optional(),
  counts: counts.optional(),
  larger_than_source: z.literal(true).optional().meta({
    description:
      "On an encode's output of the source's own kind: true where its file is larger than that of the source, with no more pixels, frames, channels, samples or seconds; else absent.",
  }),
  cut: z
    .object({ start: z.number().min(0), end: z.number().min(0) })
    .optional()
    .meta({
      description:
        "On the output of a copy: what it holds of its source, in seconds. It starts with a keyframe, or a packet of sound alone, and ends where its last packet does.",
    }),
  encoder: z.string().optional().meta({ description: "On an encode's output: which encoder did the work." }),
  reason: z
    .string()
    .optional()
    .meta({ description: "On an encode's output: why that encoder was chosen, in one short sentence." }),
  refusals: z.array(Refusal).optional().meta({
    description:
      "On an encode's output: why the preferred encoders did not do the work; absent when there are none.",
  }),
}).meta({ id: "Source" });

/** Probed media: the output of a step and the input of the next. */
export type Source = z.infer<typeof Source>;
/** The counts of an encode's source and output. */
export type Counts = z.infer<typeof counts>;
/** The header of a waveform's data, under the names of audiowaveform's JSON. */
export type WaveformFacts = z.infer<typeof waveform>;
/** A part of a source that its output lacks, and why. */
export type Dropped = z.infer<typeof dropped>;

/** Media not yet probed: the input of probe and ingest. */
export const ExternalFile = z
  .object({ object: z.literal("external_file"), url: z.string() })
  .meta({ id: "ExternalFile" });
/** Media not yet probed: the input of probe and ingest. */
export type ExternalFile = z.infer<typeof ExternalFile>;
