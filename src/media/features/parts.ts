import { z } from "zod";
import { EPSILON_SECONDS } from "../clock.ts";
import { feature, type OptionValues, option } from "../feature.ts";
import { closed, type Report, seconds } from "../fields.ts";

/** Maximum number of parts of an output. */
export const MAX_PARTS = 500;
/** Minimum length of a part in seconds. */
export const MIN_PART_SECONDS = 0.01;

const RULE = `must be a list of 1 to ${MAX_PARTS} ranges, each { start, end }.`;

const ranges = z
  .array(
    closed(
      {
        start: seconds
          .optional()
          .meta({ description: "Start of the part in the source, in seconds.", default: 0 }),
        end: seconds.optional().meta({
          description: "End of the part in the source, in seconds; the end of the source when absent.",
        }),
      },
      "field",
      " of parts",
    ),
    RULE,
  )
  .min(1, RULE)
  .max(MAX_PARTS, RULE)
  .optional()
  .meta({
    description:
      "Up to 500 ranges of the source to play one after the other, in this order, instead of start and end. They may overlap and repeat.",
  });

/** Labels of a part's fields in a form. */
export const PART_LABELS = { start: "Part from", end: "Part to" } as const;

/** Plays several ranges of one source one after the other. The timeline places them. */
export const parts = feature({
  options: {
    parts: option({
      kinds: ["video", "audio", "animation", "adaptive_video"],
      schema: ranges,
      alone: true,
      copyable: true,
      placed: true,
      words: { label: "Parts", fields: PART_LABELS },
    }),
  },
  summary: ({ parts: list }) => (list && list.length > 1 ? `${list.length} parts` : null),
  fields: {
    parts: z
      .array(
        z.strictObject({
          /** Seconds of the source. */
          start: z.number().min(0).max(1e7),
          end: z.number().min(0).max(1e7),
          /** Start of the part in the output, in seconds. */
          at: z.number().min(0).max(1e7),
        }),
      )
      .min(2)
      .max(MAX_PARTS)
      .exactOptional(),
  },
  part: "plan",
  doneBy: { native: true, stock: true, fast: true, webcodecs: true },
  refusal: { code: "parts", clause: () => "it cannot encode several parts of a file" },
});

/** Joins the pictures of several parts in one animation. */
export const picture_parts = feature({
  options: {},
  fields: {},
  isNeeded: ({ parts, kind }) => parts !== undefined && kind === "animation",
  doneBy: { native: true, stock: true },
  refusal: { code: "picture_parts", clause: () => "it cannot join several parts of a file in one animation" },
});

/** Places the segments of several parts one after the other in a stream. */
export const stream_parts = feature({
  options: {},
  fields: {},
  isNeeded: ({ parts, kind }) => parts !== undefined && kind === "adaptive_video",
  doneBy: { native: true, stock: true, fast: true, webcodecs: true },
  refusal: { code: "stream_parts", clause: () => "it cannot join several parts of a file in one stream" },
});

/** Checks that each part ends after its start, and that no other range is requested. */
export function checkParts(
  options: OptionValues<typeof parts.options> & { start?: number | undefined; end?: number | undefined },
  report: Report,
): void {
  if (options.parts === undefined) return;
  for (const name of ["start", "end"] as const) {
    if (options[name] === undefined) continue;
    const whole = `options.${name} and options.parts cannot both be given.`;
    report.addIssue({
      code: "custom",
      path: [name],
      message: "cannot be given together with parts.",
      params: { whole },
    });
  }
  for (const [index, { start = 0, end }] of options.parts.entries()) {
    if (end === undefined || end - start >= MIN_PART_SECONDS - EPSILON_SECONDS) continue;
    const message = `must be at least ${MIN_PART_SECONDS} s after the start of the part (${start}).`;
    report.addIssue({
      code: "custom",
      path: ["parts", index, "end"],
      message,
      params: { whole: `options.parts.${index}.end (${end}) ${message}` },
    });
  }
}
