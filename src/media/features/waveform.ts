import { z } from "zod";
import { type OptionValues, option, optionGroup } from "../feature.ts";
import { hexColor, issue, parseColor, type Report, wholeWithin } from "../fields.ts";
import {
  BOUNDS,
  DEFAULT_FORMAT,
  isDrawnWaveform,
  WAVEFORM_DEFAULTS,
  type WaveformFormat,
} from "../formats.ts";
import * as errors from "../plan-errors.ts";
import type { SourceFacts } from "../source-facts.ts";
import { MAX_POINTS, MIN_SAMPLES, samplesPerPixel } from "./waveform-zoom.ts";

const POINTS = "a whole number of points";
const pixels = wholeWithin(BOUNDS.pixels, "a whole number of pixels");
const hintFor =
  ({ min, max }: { min: number; max: number }) =>
  () =>
    `${min} to ${max.toLocaleString("en")}.`;

/** Options of the peaks, under audiowaveform's names. */
export const peaks = optionGroup({
  options: {
    samples_per_pixel: option({
      kinds: ["waveform"],
      schema: wholeWithin(BOUNDS.samples_per_pixel, "a whole number of samples")
        .optional()
        .meta({
          description: `Samples of each channel that a point represents. By default ${WAVEFORM_DEFAULTS.samples_per_pixel}; for a picture, as many as make it show the whole.`,
          example: WAVEFORM_DEFAULTS.samples_per_pixel,
        }),
      control: "number",
      placed: true,
      words: { label: "Samples per point", hint: hintFor(BOUNDS.samples_per_pixel) },
    }),
    pixels_per_second: option({
      kinds: ["waveform"],
      schema: wholeWithin(BOUNDS.pixels_per_second, POINTS).optional().meta({
        description: "Points per second of sound, in place of samples_per_pixel.",
        example: 100,
      }),
      control: "number",
      placed: true,
      words: { label: "Points per second", hint: hintFor(BOUNDS.pixels_per_second) },
    }),
    points: option({
      kinds: ["waveform"],
      schema: wholeWithin(BOUNDS.points, POINTS).optional().meta({
        description: "Maximum number of points for the whole, in place of samples_per_pixel.",
        example: 800,
      }),
      control: "number",
      placed: true,
      words: { label: "Points in all", hint: hintFor(BOUNDS.points) },
    }),
    bits: option({
      kinds: ["waveform"],
      schema: z
        .literal([8, 16], "must be 8 or 16.")
        .optional()
        .meta({ description: "Bits of a peak in JSON and .dat.", default: WAVEFORM_DEFAULTS.bits }),
      default: WAVEFORM_DEFAULTS.bits,
      placed: true,
      choices: [16, 8],
      words: {
        label: "Precision",
        choice: (bits) => (bits === 8 ? "8 bits – half the size" : "16 bits"),
      },
    }),
    split_channels: option({
      kinds: ["waveform"],
      schema: z.boolean("must be true or false.").optional().meta({
        description: "Writes the peaks of each channel, instead of those of their mean.",
        default: false,
      }),
      default: false,
      placed: true,
      choices: [false, true],
      words: {
        label: "Channels",
        choice: (isSplit = false) => (isSplit ? "Each by itself" : "Mixed to one"),
      },
    }),
  },
});

/** How a waveform is drawn. */
export const waveformPicture = optionGroup({
  options: {
    width: option({
      kinds: ["waveform"],
      schema: pixels.optional().meta({
        description: "Width of a PNG in pixels; each pixel is a point.",
        default: WAVEFORM_DEFAULTS.width,
      }),
      control: "number",
      placed: true,
      words: { label: "Width", unit: "pixels", empty: String(WAVEFORM_DEFAULTS.width) },
    }),
    height: option({
      kinds: ["waveform"],
      schema: pixels
        .optional()
        .meta({ description: "Height of a PNG in pixels.", default: WAVEFORM_DEFAULTS.height }),
      control: "number",
      placed: true,
      words: { label: "Height", unit: "pixels", empty: String(WAVEFORM_DEFAULTS.height) },
    }),
    waveform_color: option({
      kinds: ["waveform"],
      schema: hexColor
        .optional()
        .meta({ description: "Hex color of a PNG's waveform.", default: WAVEFORM_DEFAULTS.waveform_color }),
      default: WAVEFORM_DEFAULTS.waveform_color,
      placed: true,
      words: { label: "Color" },
    }),
    background_color: option({
      kinds: ["waveform"],
      schema: hexColor.optional().meta({
        description: 'Hex color behind it; "#0000" is transparent.',
        default: WAVEFORM_DEFAULTS.background_color,
      }),
      default: WAVEFORM_DEFAULTS.background_color,
      placed: true,
      words: { label: "Background" },
    }),
  },
});

type WaveformOptions = OptionValues<typeof peaks.options & typeof waveformPicture.options> & {
  format?: WaveformFormat | undefined;
};

const ZOOMS = ["samples_per_pixel", "pixels_per_second", "points"] as const;
const OF_PICTURE = ["width", "height", "waveform_color", "background_color"] as const;
const OF_DATA = ["bits", "points"] as const;

/** Checks that at most one option sets the zoom, and that the others suit the format. */
export function checkWaveform(options: WaveformOptions, report: Report): void {
  const [first, second] = ZOOMS.filter((name) => options[name] !== undefined);
  if (first !== undefined && second !== undefined) {
    const whole = `options.${first} and options.${second} cannot both be given.`;
    report.addIssue(issue(second, `cannot be given together with ${first}.`, whole));
  }
  const { format = DEFAULT_FORMAT.waveform } = options;
  const isDrawn = isDrawnWaveform(format);
  const others = isDrawn ? OF_DATA : OF_PICTURE;
  const rule = isDrawn ? 'needs format "json" or "dat".' : 'needs format "png".';
  for (const name of others) if (options[name] !== undefined) report.addIssue(issue(name, rule));
}

const side = z
  .int()
  .min(0)
  .max(1 << 16);
const color = z.string().regex(/^0x([0-9a-f]{6}|[0-9a-f]{8})$/i);
/** How the peaks of a waveform are measured and written. */
export const WaveformPlan = z.strictObject({
  zoom: z.union([
    z.strictObject({ samples_per_pixel: z.int().min(1).max(1e9) }),
    z.strictObject({ pixels_per_second: z.int().min(1).max(1e6) }),
    z.strictObject({ points: z.int().min(1).max(MAX_POINTS), seconds: z.number().min(0).max(1e7) }),
  ]),
  split: z.boolean(),
  bits: z.literal([8, 16]),
  picture: z.strictObject({ width: side, height: side, color, background: color }).nullable(),
});
/** How the peaks of a waveform are measured and written. */
export type WaveformPlan = z.infer<typeof WaveformPlan>;
/** How a waveform is drawn. */
export type WaveformPicture = NonNullable<WaveformPlan["picture"]>;

/**
 * Plans the peaks of a source's audio.
 *
 * @throws `invalid_options` for more points than samples, or than fit into memory, and for points of an unknown duration.
 */
export function planWaveform(
  source: SourceFacts,
  options: WaveformOptions,
  duration: number | null,
): WaveformPlan {
  const { format = DEFAULT_FORMAT.waveform, split_channels: split = false } = options;
  const { channels = 2, sample_rate = 48_000 } = source.audio ?? {};
  const zoom = zoomOf(options, duration);
  const samples = samplesPerPixel(zoom, sample_rate);
  if ("pixels_per_second" in zoom && samples < MIN_SAMPLES) {
    throw errors.zoomTooClose({ max: Math.floor(sample_rate / MIN_SAMPLES), sampleRate: sample_rate });
  }
  const points = ((duration ?? 0) * sample_rate * (split ? channels : 1)) / samples;
  if (!isDrawnWaveform(format) && points > MAX_POINTS) {
    const [name = ""] = Object.keys(zoom);
    throw errors.tooManyPoints({ name, points: Math.ceil(points), max: MAX_POINTS });
  }
  return { zoom, split, bits: options.bits ?? WAVEFORM_DEFAULTS.bits, picture: planPicture(options) };
}

function zoomOf(options: WaveformOptions, duration: number | null): WaveformPlan["zoom"] {
  const { samples_per_pixel, pixels_per_second, format, width = WAVEFORM_DEFAULTS.width } = options;
  if (samples_per_pixel !== undefined) return { samples_per_pixel };
  if (pixels_per_second !== undefined) return { pixels_per_second };
  const isDrawn = isDrawnWaveform(format);
  const points = isDrawn ? width : options.points;
  if (points === undefined) return { samples_per_pixel: WAVEFORM_DEFAULTS.samples_per_pixel };
  if (duration !== null) return { points, seconds: duration };
  throw errors.pointsDurationUnknown({ name: isDrawn ? "width" : "points" });
}

function planPicture(options: WaveformOptions): WaveformPlan["picture"] {
  if (!isDrawnWaveform(options.format)) return null;
  const {
    width = WAVEFORM_DEFAULTS.width,
    height = WAVEFORM_DEFAULTS.height,
    waveform_color = WAVEFORM_DEFAULTS.waveform_color,
    background_color = WAVEFORM_DEFAULTS.background_color,
  } = options;
  return {
    width,
    height,
    color: parseColor(waveform_color, true),
    background: parseColor(background_color, true),
  };
}
