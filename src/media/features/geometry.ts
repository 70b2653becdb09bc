import { z } from "zod";
import { type OptionValues, option, optionGroup } from "../feature.ts";
import { hexColor, issue, offset, oneOf, type Report, size } from "../fields.ts";
import { FITS, type Fit, FLIPS, type Flip, POSITIONS, type Position, TURNS, type Turn } from "../formats.ts";

const KINDS = ["video", "image", "animation", "adaptive_video"] as const;

const TURN_NAMES = {
  0: "No",
  90: "90° clockwise",
  180: "180°",
  270: "90° counterclockwise",
} as const satisfies Record<Turn, string>;
const FLIP_NAMES = {
  horizontal: "Left to right",
  vertical: "Top to bottom",
  both: "Both",
} as const satisfies Record<Flip, string>;
const FIT_NAMES = { contain: "Contain", cover: "Cover", fill: "Fill" } as const satisfies Record<Fit, string>;
const FIT_HINTS = {
  contain: "Shows the whole picture, with bars where the shape differs.",
  cover: "Fills the frame; edges are cropped.",
  fill: "Stretches the picture to the exact size.",
} as const satisfies Record<Fit, string>;

/** Labels of the positions. */
export const POSITION_NAMES = {
  center: "Center",
  top: "Top",
  bottom: "Bottom",
  left: "Left",
  right: "Right",
  "top-left": "Top left",
  "top-right": "Top right",
  "bottom-left": "Bottom left",
  "bottom-right": "Bottom right",
} as const satisfies Record<Position, string>;

const RATIO = /^\d{1,5}(\.\d{1,4})?:\d{1,5}(\.\d{1,4})?$/;
const CROP =
  'must be a ratio of the sides such as "16:9", or { x, y, width, height } in pixels or percentages of the picture.';

/** Options of rotation, crop and size, planned together because each step depends on the ones before. */
export const geometry = optionGroup({
  options: {
    rotate: option({
      kinds: KINDS,
      schema: z
        .literal(TURNS, `must be one of ${TURNS.join(", ")}.`)
        .optional()
        .meta({
          description: "Clockwise degrees by which the picture is turned, from the way players show it.",
          default: 0,
          example: 90,
        }),
      alone: true,
      placed: true,
      default: 0,
      choices: TURNS,
      words: { label: "Rotate", choice: (degrees = 0) => TURN_NAMES[degrees] },
    }),
    flip: option({
      kinds: KINDS,
      schema: oneOf(FLIPS).optional().meta({
        description: "How to mirror the turned picture: left to right, top to bottom, or both.",
      }),
      alone: true,
      placed: true,
      words: { label: "Mirror", choice: (flip) => (flip === undefined ? "No" : FLIP_NAMES[flip]) },
    }),
    crop: option({
      kinds: KINDS,
      schema: z
        .union(
          [
            z
              .string(CROP)
              .regex(RATIO)
              .refine((text) => text.split(":").every((side) => Number(side) > 0)),
            z.strictObject({ x: offset, y: offset, width: size, height: size }),
          ],
          CROP,
        )
        .meta({
          description:
            "The part of the turned and mirrored picture that is kept, before it is scaled: the largest one of a ratio, placed by position, or a rectangle in displayed pixels or percentages.",
          example: "16:9",
        })
        .optional(),
      alone: true,
      placed: true,
      choices: ["16:9", "4:3", "3:2", "1:1", "4:5", "9:16"],
      words: { label: "Crop", choice: (crop) => (crop === undefined ? "Whole picture" : String(crop)) },
    }),
    width: option({
      kinds: KINDS,
      schema: size.optional(),
      placed: true,
      words: { label: "Width" },
    }),
    height: option({
      kinds: KINDS,
      schema: size.optional(),
      placed: true,
      words: { label: "Height" },
    }),
    enlarge: option({
      kinds: KINDS,
      schema: z.boolean("must be true or false.").optional().meta({
        description:
          "Whether width and height may enlarge the picture; if false, neither side exceeds that of the turned and cropped source.",
        default: true,
      }),
      default: true,
      copyable: true,
      choices: [true, false],
      words: {
        label: "Smaller pictures",
        choice: (enlarges = true) => (enlarges ? "Are enlarged" : "Keep their size"),
        hint: (enlarges = true) => (enlarges ? undefined : "Width and height are the most, never more."),
      },
    }),
    fit: option({
      kinds: KINDS,
      schema: oneOf(FITS).optional().meta({
        description:
          "How a picture of another shape fills width and height, both of which must be set: contain adds bars, cover crops, fill stretches. By default contain with a background, otherwise fill.",
      }),
      placed: true,
      words: {
        label: "Fit",
        choice: (fit = "fill") => FIT_NAMES[fit],
        hint: (fit = "fill") => FIT_HINTS[fit],
      },
    }),
    position: option({
      kinds: KINDS,
      schema: oneOf(POSITIONS).optional().meta({
        description: "The position of the picture between its bars, or of the part that is kept.",
        default: "center",
      }),
      placed: true,
      words: { label: "Position", choice: (position = "center") => POSITION_NAMES[position] },
    }),
    background: option({
      kinds: KINDS,
      schema: hexColor.optional().meta({
        description:
          "Hex color of the bars, and behind transparent pictures in a format without transparency. Needs fit contain and both sides; 100% keeps each.",
        example: "#000000",
      }),
      placed: true,
      words: {
        label: "Background",
        empty: "none",
        hint: () =>
          "Color of the bars, such as #1e90ff. Empty: black, or transparent where the format allows it.",
      },
    }),
  },
  summary({ width, height }) {
    if (width === undefined && height === undefined) return null;
    const [across, down] = [width, height].map((side) => String(side).replace(/%$/, " %"));
    if (width === height && typeof width === "string") return `${across} of the size`;
    if (width !== undefined && height !== undefined) return `${across} × ${down}`;
    return width === undefined ? `${down} high` : `${across} wide`;
  },
});

/** The options of the geometry, as parsed. */
export type GeometryOptions = OptionValues<typeof geometry.options>;

/** Checks that `fit` and `background` come with both sides, and `background` with the fit that needs it. */
export function checkGeometry({ width, height, fit, background }: GeometryOptions, report: Report): void {
  if (background !== undefined && (fit ?? "contain") !== "contain") {
    report.addIssue(issue("background", `needs fit "contain", not "${fit}".`));
  }
  if ((fit !== undefined || background !== undefined) && (width === undefined || height === undefined)) {
    report.addIssue(issue(fit === undefined ? "background" : "fit", "needs both width and height."));
  }
}
