import { z } from "zod";
import { closed, fileUrl, offset, oneOf, seconds, size, within } from "../fields.ts";
import { BOUNDS, POSITIONS } from "../formats.ts";
import { issue } from "../option-rules.ts";

const POSITION = `must be one of ${POSITIONS.join(", ")}, or { x, y } in pixels or percentages of the picture.`;

const position = z.union([oneOf(POSITIONS), z.strictObject({ x: offset, y: offset })], POSITION);

const picture = {
  url: fileUrl("of the picture").meta({
    description: "URL of the picture, which is read as the input is: http://, https:// or s3://.",
    example: "https://example.com/logo.png",
  }),
  position: position.optional().meta({
    description:
      "Where it lies: a side, a corner or the center, or the place of its upper left corner in pixels or percentages of the picture.",
    default: "center",
    example: "bottom-right",
  }),
  width: size.optional().meta({
    description:
      'Its width: pixels, or a percentage of the output such as "20%"; its own when absent. Its shape is kept.',
    example: "20%",
  }),
  opacity: within(BOUNDS.opacity)
    .optional()
    .meta({ description: "From 0, invisible, to 1, as it is.", default: 1 }),
};

const FORMATS = "PNG, JPEG, WebP that is not animated, BMP, TIFF, or GIF, of which the first frame counts";

/** Schema of a picture that is laid over a video. */
export const overlay = closed(
  {
    ...picture,
    start: seconds.optional().meta({ description: "When it appears, in seconds of the output.", default: 0 }),
    end: seconds
      .optional()
      .meta({ description: "When it disappears, in seconds of the output; never when absent." }),
  },
  "field",
  " of an overlay",
)
  .superRefine(({ start = 0, end }, report) => {
    if (end === undefined || end > start) return;
    report.addIssue(issue("end", `must be after the start (${start}).`));
  })
  .optional()
  .meta({ description: `A picture to lay over the video, such as a logo: ${FORMATS}.` });

/** Schema of a picture that is laid over an image. */
export const imageOverlay = closed(picture, "field", " of an overlay of an image, which has no span of time")
  .optional()
  .meta({ description: `A picture to lay over the image, such as a logo: ${FORMATS}.` });
