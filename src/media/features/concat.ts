import { z } from "zod";
import { type FileFault, feature, type OptionValues, option } from "../feature.ts";
import { closed, fileUrl, type Report, seconds } from "../fields.ts";
import type { SourceFacts } from "../source-facts.ts";

/** Maximum number of videos after the first. */
export const MAX_CONCAT = 9;

const RULE = `must be a list of 1 to ${MAX_CONCAT} videos, each { url, start, end }.`;

const videos = z
  .array(
    closed(
      {
        url: fileUrl("of the video").meta({
          description: "URL of the video, which is read like the input: http://, https:// or s3://.",
          example: "https://example.com/second.mp4",
        }),
        start: seconds
          .optional()
          .meta({ description: "Start of the range to play, in seconds of the video.", default: 0 }),
        end: seconds.optional().meta({
          description: "End of the range to play, in seconds of the video; by default the end of the video.",
        }),
      },
      "field",
      " of concat",
    ),
    RULE,
  )
  .min(1, RULE)
  .max(MAX_CONCAT, RULE)
  .optional()
  .meta({
    description:
      "Up to nine videos that play after the input, in order. If their pictures match the input's, they are copied; otherwise all are encoded to its size, with bars, the highest of their frame rates and one channel layout.",
  });

/** Labels of a video's fields in a form. */
export const CONCAT_LABELS = {
  url: "Video to play after it",
  start: "Start in that video",
  end: "End in that video",
} as const;

/** Plays several videos one after the other. */
export const concat = feature({
  options: {
    concat: option({
      kinds: ["video"],
      schema: videos,
      copyable: true,
      placed: true,
      encodes: () => false,
      refuseFile,
      words: { label: CONCAT_LABELS.url, fields: CONCAT_LABELS },
    }),
  },
  summary: ({ concat: list }) => (list ? `${list.length} more after it` : null),
  fields: {},
  isNeeded: (plan) => plan.concat !== undefined,
  doneBy: { native: true, stock: true },
  refusal: { code: "concat", clause: () => "it cannot join videos" },
});

/** Joins ranges of videos. */
export const concat_ranges = feature({
  options: {},
  fields: {},
  isNeeded: ({ concat: list }) =>
    Array.isArray(list) && list.some((part) => part.start !== undefined || part.end !== undefined),
  doneBy: { native: true, stock: true },
  refusal: { code: "concat_ranges", clause: () => "it cannot join ranges of videos" },
});

/** Checks that the range of each joined video ends after its start. */
export function checkConcat(options: OptionValues<typeof concat.options>, report: Report): void {
  for (const [index, { start = 0, end }] of (options.concat ?? []).entries()) {
    if (end === undefined || end > start) continue;
    const message = `must be after the start (${start}).`;
    report.addIssue({
      code: "custom",
      path: ["concat", index, "end"],
      message,
      params: { whole: `options.concat.${index}.end (${end}) ${message}` },
    });
  }
}

/** Returns the plan fields of the feature, from the schemas of encoded video and of sources. */
export function concatFields<V extends z.ZodType, S extends z.ZodType>(video: V, source: S) {
  const part = z.strictObject({
    /** Index among all inputs; 0 for the main one. */
    input: z.int().min(0).max(100),
    source,
    /** Encode of the pictures; null if they are copied. */
    video: video.nullable(),
    frames: z.int().min(0),
    /** The range of the source, in seconds; an absent bound is that of the source. */
    start: z.number().min(0).max(1e7).exactOptional(),
    end: z.number().min(0).max(1e7).exactOptional(),
    /** The length of copied pictures, and the ticks per second of their times. */
    joined: z
      .strictObject({ seconds: z.number().min(0).max(1e7), ticks: z.int().min(1).max(0xffffffff) })
      .exactOptional(),
  });
  return { concat: z.array(part).max(100).readonly().exactOptional() };
}

function refuseFile(source: SourceFacts): FileFault | null {
  const { kind, codecs, width, height } = source;
  if (kind !== "video" || codecs?.video == null || !width || !height) {
    return "not_video";
  }
  return hasLength(source) ? null : "duration_unknown";
}

/** Returns whether the duration of a source is exact. */
export function hasLength({ duration, duration_estimated }: SourceFacts): boolean {
  return duration !== undefined && duration > 0 && duration_estimated !== true;
}
