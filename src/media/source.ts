import { z } from "zod";
import { SPLICE_FAULT_CODES } from "./plan-errors.ts";
import { Refusal } from "./refusal.ts";
import { SourceFacts } from "./source-facts.ts";

export type { SourceColor, SourceStream } from "./source-facts.ts";

const counts = z
  .object({
    pictures: z
      .object({
        source: z.int().min(0).meta({
          description:
            "Pictures that the source shows in the requested span, without those that its edit list hides.",
        }),
        output: z.int().min(0).meta({
          description:
            "Pictures that the output shows; for adaptive video, in each rendition. A copy may end with a few more than its span has, because earlier pictures refer to them.",
        }),
        unreadable: z.int().min(0).optional().meta({
          description:
            "Pictures before the source's first entry point, which nothing can decode; absent when 0.",
        }),
        crowded: z.int().min(0).optional().meta({
          description:
            "Pictures of bursts that exceed the output's constant rate, so that the output does not show them; absent when 0. Pictures that it omits because its rate is below the source's average do not count.",
        }),
      })
      .optional(),
    sound: z
      .object({
        source: z.number().min(0).meta({
          description:
            "Seconds of sound in the source's packets in that span, for all tracks that the output has.",
        }),
        output: z
          .number()
          .min(0)
          .meta({ description: "Seconds of sound in the output's packets, at the speed of the output." }),
      })
      .optional(),
  })
  .meta({ id: "Counts", description: "Counts of an encode's source and output, packet by packet." });

const dropped = z
  .object({
    kind: z
      .enum([
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
        "pictures",
      ])
      .meta({ description: "The kind of stream or property that the output lacks." }),
    index: z.int().min(0).optional().meta({ description: "Index of the stream in the source." }),
    part: z.int().min(1).optional().meta({
      description:
        "Number of the joined video that has the part, 1 for the first of `concat`; absent for the input itself.",
    }),
    language: z
      .string()
      .optional()
      .meta({ description: "Language of the stream, if the source states one." }),
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
          "asked: the kind or an option asks for it; one_track: the output has one track of the kind, or one program; " +
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
      .meta({ description: "Rows of peaks: 1, or one for each channel with split_channels." }),
    sample_rate: z.int().min(1).meta({ description: "Samples per second." }),
    samples_per_pixel: z.int().min(1).meta({ description: "Samples that a point represents." }),
    bits: z.literal([8, 16]).meta({ description: "Bits of a peak." }),
    length: z.int().min(0).meta({ description: "Points in each row." }),
  })
  .meta({ id: "WaveformFacts", description: "The header of a waveform's data." });

const cuts = z.array(
  z.object({
    start: z.number().min(0).meta({ description: "Start in the source, in seconds." }),
    end: z.number().min(0).meta({ description: "End in the source, in seconds." }),
    pictures: z.int().min(0),
    copied: z.int().min(0).meta({ description: "The number of copied pictures; the others are encoded." }),
    sound: z
      .number()
      .min(0)
      .optional()
      .meta({ description: "Seconds of copied sound; absent if the sound is encoded, or there is none." }),
  }),
);

const fallback = z.object({
  code: z.enum(SPLICE_FAULT_CODES),
  reason: z.string().meta({ description: "A sentence that says why." }),
});

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
        score: z.number().max(1).optional().meta({
          description:
            'With `ladder: "auto"`: similarity to the source at the size of the best rendition, in the worst quarter of the hardest measured picture.',
        }),
        rate: z.number().min(0).optional().meta({
          description: 'With `ladder: "auto"`: the chosen constant rate factor, on the codec\'s scale.',
        }),
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
        time: z
          .number()
          .min(0)
          .optional()
          .meta({ description: "Time of a still in the source, in seconds." }),
      }),
    )
    .optional()
    .meta({
      description:
        "All files of an output that has several, in order: the WebVTT, the JSON and the sheets of a storyboard, or several stills, each with its time.",
    }),
  waveform: waveform.optional().meta({ description: "On the output of a waveform: the header of its data." }),
  thumbhash: z.string().optional().meta({
    description:
      "ThumbHash in base64 of the picture, or of the frame of a video at a tenth of its duration; only from a probe with the option thumbhash.",
    example: "3OcRJYB4d3h/iIeHeEh3eIhw+j2A",
  }),
  dominant_color: z.string().optional().meta({
    description:
      "The most frequent color: the mean of the fullest of 16 × 16 × 16 steps of red, green and blue; only from a probe with the option dominant_color. Absent if the whole picture is transparent.",
    example: "#1e90ff",
  }),
  entries: z
    .array(z.number().min(0))
    .optional()
    .meta({
      description:
        "Times in seconds at which a copy can start, ascending: every picture from there on is complete. Only from a probe of a video with the option entries; empty if they are unknown.",
      example: [0, 2, 4],
    }),
  etag: z.string().optional(),
  counts: counts.optional(),
  larger_than_source: z.literal(true).optional().meta({
    description:
      "On the output of an encode to the source's own kind: true if its file is larger than the source, without having more pixels, frames, channels, samples or seconds; otherwise absent.",
  }),
  score: z.number().max(1).optional().meta({
    description:
      "On the output of an encode whose quality or ladder is auto: its similarity to the source in the worst quarter of the measured pictures, where 1 is equal, and 0.97 or more looks the same. A video has the score of its hardest sample, a stream that of its best rendition. Absent for pictures with a side of less than 8 pixels.",
    example: 0.974,
  }),
  rate: z.number().min(0).optional().meta({
    description:
      "On the output of an encode whose quality or ladder is auto: the chosen rate on the format's own scale: 1 to 100 for jpeg and webp, 63 to 0 for avif, and the constant rate factor for video: that of the hardest chunk if chunks differ, and of the best rendition of a stream.",
    example: 72,
  }),
  cut: z
    .object({ start: z.number().min(0), end: z.number().min(0) })
    .optional()
    .meta({
      description:
        "On the output of a copy: the span of the source that it contains, in seconds. It starts with a keyframe, or with any packet if it has sound only, and ends where its last packet ends.",
    }),
  cuts: cuts.optional().meta({
    description:
      "On the output of a copy in parts, or of a smart cut: the spans of the source that it contains, in order.",
  }),
  fallback: fallback.optional().meta({
    description: "On the output of a smart cut that was encoded completely: why nothing could be copied.",
  }),
  encoder: z
    .string()
    .optional()
    .meta({ description: "On an encode's output: the name of the encoder that did the work." }),
  reason: z
    .string()
    .optional()
    .meta({ description: "On an encode's output: a short sentence that says why this encoder was chosen." }),
  refusals: z.array(Refusal).optional().meta({
    description:
      "On an encode's output: the reasons why preferred encoders did not do the work; absent if none refused.",
  }),
}).meta({ id: "Source" });

/** Probed media: the output of a step and the input of the next. */
export type Source = z.infer<typeof Source>;

/** Returns a source, as stored or received, with today's names for its facts: `flipped` was once `mirrored`. */
export function renameFacts<T>(source: T): T {
  if (typeof source !== "object" || source === null || !("mirrored" in source)) return source;
  const { mirrored, ...rest } = source;
  return { ...rest, flipped: mirrored } as T;
}

/** The counts of an encode's source and output. */
export type Counts = z.infer<typeof counts>;
/** The spans of a source that a copy in parts or a smart cut contains. */
export type Cuts = z.infer<typeof cuts>;
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
