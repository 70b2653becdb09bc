import { z } from "zod";
import { closed, hexColor, issue, oneOf, type Report, span, wholeWithin } from "../fields.ts";
import { BOUNDS, DEFAULT_FORMAT, FORMATS, WAVEFORM_DEFAULTS, type WaveformFormat } from "../formats.ts";
import { checkSpan } from "../option-rules.ts";
import { sound } from "../sound-options.ts";

const FORMAT_NAMES = Object.keys(FORMATS.waveform) as [WaveformFormat, ...WaveformFormat[]];

const pixels = wholeWithin(BOUNDS.pixels, "a whole number of pixels");

/** Schema of the options of the kind `waveform`, by the names of audiowaveform. */
export const WaveformOptions = closed(
  {
    format: oneOf(FORMAT_NAMES, " for waveform").optional().meta({
      description:
        "Peaks as audiowaveform's JSON or as its binary data (.dat), version 2, or a picture of them.",
      default: DEFAULT_FORMAT.waveform,
    }),
    samples_per_pixel: wholeWithin(BOUNDS.samples_per_pixel, "a whole number of samples")
      .optional()
      .meta({
        description: `Samples of each channel in a point; ${WAVEFORM_DEFAULTS.samples_per_pixel}, or as many as let a picture show the whole, when absent.`,
        example: WAVEFORM_DEFAULTS.samples_per_pixel,
      }),
    pixels_per_second: wholeWithin(BOUNDS.pixels_per_second, "a whole number of points").optional().meta({
      description: "Points for a second of sound, in place of samples_per_pixel.",
      example: 100,
    }),
    points: wholeWithin(BOUNDS.points, "a whole number of points").optional().meta({
      description: "Most points for the whole, in place of samples_per_pixel.",
      example: 800,
    }),
    bits: z
      .literal([8, 16], "must be 8 or 16.")
      .optional()
      .meta({ description: "Bits of a peak in JSON and .dat.", default: WAVEFORM_DEFAULTS.bits }),
    split_channels: z.boolean("must be true or false.").optional().meta({
      description: "Peaks of each channel, in place of those of their mean.",
      default: false,
    }),
    track: sound.track,
    ...span,
    width: pixels
      .optional()
      .meta({ description: "Width of a PNG in pixels, a point each.", default: WAVEFORM_DEFAULTS.width }),
    height: pixels
      .optional()
      .meta({ description: "Height of a PNG in pixels.", default: WAVEFORM_DEFAULTS.height }),
    waveform_color: hexColor
      .optional()
      .meta({ description: "Hex color of a PNG's waveform.", default: WAVEFORM_DEFAULTS.waveform_color }),
    background_color: hexColor.optional().meta({
      description: 'Hex color behind it; "#0000" is transparent.',
      default: WAVEFORM_DEFAULTS.background_color,
    }),
  },
  "option",
  " for waveform",
)
  .superRefine(checkZoom)
  .superRefine(checkPicture)
  .superRefine(checkSpan)
  .meta({ id: "WaveformOptions" });

/** Options of the kind `waveform`, as parsed. */
export type WaveformOptions = z.infer<typeof WaveformOptions>;

const ZOOMS = ["samples_per_pixel", "pixels_per_second", "points"] as const;
const OF_PICTURE = ["width", "height", "waveform_color", "background_color"] as const;
const OF_DATA = ["bits", "points"] as const;

type Given = { readonly [K in (typeof ZOOMS | typeof OF_PICTURE | typeof OF_DATA)[number]]?: unknown };

// Only one option may set how much a point spans.
function checkZoom(options: Given, report: Report): void {
  const [first, second] = ZOOMS.filter((name) => options[name] !== undefined);
  if (first === undefined || second === undefined) return;
  const whole = `options.${first} and options.${second} cannot both be given.`;
  report.addIssue(issue(second, `cannot be given together with ${first}.`, whole));
}

function checkPicture(options: Given & { format?: WaveformFormat | undefined }, report: Report): void {
  const { format = DEFAULT_FORMAT.waveform } = options;
  const others = format === "png" ? OF_DATA : OF_PICTURE;
  const rule = format === "png" ? 'needs format "json" or "dat".' : 'needs format "png".';
  for (const name of others) if (options[name] !== undefined) report.addIssue(issue(name, rule));
}
