import { z } from "zod";

function reason<const C extends string, F extends z.core.$ZodLooseShape>(code: C, facts: F) {
  return z.object({ code: z.literal(code), ...facts });
}

/** Distinguishes an error from others of its kind: a code from a closed set, with its facts. */
export const ErrorReason = z
  .discriminatedUnion("code", [
    reason("field", {
      field: z.string().meta({ description: "Dotted path of the field at fault." }),
      rule: z.string().meta({ description: "The rule that its value breaks, for a form to show beside it." }),
    }),
    reason("playlist", {}),
    reason("tiff_layout", {
      layout: z
        .enum(["samples", "compression", "colors", "tiles", "cmyk", "extra_samples", "bit_order"])
        .meta({
          description:
            "The feature that the decoder cannot read, or would show in black or wrong colors: samples that are signed, floating-point or of more than 16 bits; an unusual compression; colors such as CIE L*a*b*; pixels in tiles; planar or 16-bit CMYK; extra samples other than transparency, such as infrared, or of a palette; bits in reverse order.",
        }),
    }),
    reason("cut_off", {
      seconds: z
        .number()
        .meta({ description: "Length of the intact part in seconds; the option partial converts it." }),
      part: z
        .int()
        .min(1)
        .optional()
        .meta({ description: "Which video of concat it is, 1 for the first; absent for the input itself." }),
    }),
    reason("program_changes", {
      change: z.enum(["streams", "types"]).meta({
        description:
          "The change midway in a transport stream: it continues in other streams, or a stream gets another type.",
      }),
    }),
    reason("no_sound", {}),
    reason("no_pictures", { kind: z.enum(["video", "image", "animation", "storyboard"]) }),
    reason("still_image", {}),
    reason("start_beyond_end", { start: z.number(), duration: z.number() }),
    reason("after", {
      task: z.string().meta({ description: "The task whose output is the input." }),
      ended: z.enum(["failed", "cancelled", "deleted"]),
    }),
    reason("size_not_positive", {}),
    reason("size_unbounded", {}),
    reason("size_lossless", { format: z.string() }),
    reason("size_unknown_duration", {}),
    reason("bytes_too_few", { max_bytes: z.number(), least_bytes: z.number() }),
    reason("size_too_small", {
      bytes: z.number(),
      duration: z.number(),
      min_bytes: z.number().optional().meta({ description: "The smallest target_size that is accepted." }),
    }),
    // A browser does not distinguish a response that CORS blocks from none.
    reason("no_answer", { from: z.enum(["source", "output", "storage"]), host: z.string() }),
  ])
  .meta({
    id: "ErrorReason",
    description: "Distinguishes an error from others of its kind: a code from a closed set, with its facts.",
  });
/** Distinguishes an error from others of its kind: a code from a closed set, with its facts. */
export type ErrorReason = z.infer<typeof ErrorReason>;
