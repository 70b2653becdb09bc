import { type OptionValues, option, optionGroup } from "../feature.ts";
import { issue, oneOf, type Report, wholeWithin } from "../fields.ts";
import { BOUNDS, QUALITIES, type Quality } from "../formats.ts";

const BITS = "a whole number of bits per second";

const QUALITY_NAMES = {
  very_low: "Lowest",
  low: "Low",
  medium: "Medium",
  high: "High",
  very_high: "Highest",
} as const satisfies Record<Quality, string>;
const QUALITY_HINTS = {
  very_low: "For a quick preview: losses are obvious.",
  low: "Small; fine detail suffers.",
  medium: "Right for most uses: losses are hardly noticeable.",
  high: "Losses show only in a side-by-side comparison.",
  very_high: "Close to the original, and large.",
} as const satisfies Record<Quality, string>;

/** The trade-off between size and quality, which determines the rates. */
export const quality = optionGroup({
  options: {
    quality: option({
      kinds: ["video", "audio", "image", "animation", "storyboard", "adaptive_video"],
      schema: oneOf(QUALITIES).optional().meta({
        description: "From the smallest file to the best picture or sound.",
        default: "medium",
      }),
      placed: true,
      words: {
        label: "Quality",
        choice: (step = "medium") => QUALITY_NAMES[step],
        hint: (step = "medium") => QUALITY_HINTS[step],
      },
    }),
  },
});

/** Rates and sizes as numbers. */
export const rate = optionGroup({
  options: {
    bitrate: option({
      kinds: ["video", "audio"],
      schema: wholeWithin(BOUNDS.video_bitrate, BITS)
        .optional()
        .meta({ description: "Bits per second; wins over quality." }),
      schemas: {
        audio: wholeWithin(BOUNDS.audio_bitrate, BITS)
          .optional()
          .meta({ description: "Bits per second; wins over quality; lossless formats ignore it." }),
      },
      placed: true,
      words: { label: "Bitrate", unit: "kbit/s" },
    }),
    target_size: option({
      kinds: ["video"],
      schema: wholeWithin(BOUNDS.target_size, "a whole number of bytes").optional().meta({
        description:
          "The most bytes that the file has, in place of bitrate, and with bitrates below its least, but never above the source's. A source that is small enough is copied where no other option changes it; quality is that of encoded sound.",
      }),
      placed: true,
      words: { label: "File size" },
    }),
  },
});

/** The size limit of an image. */
export const byteLimit = optionGroup({
  options: {
    max_bytes: option({
      kinds: ["image"],
      schema: wholeWithin(BOUNDS.image_bytes, "a whole number of bytes").optional().meta({
        description:
          "Bytes that the file never exceeds: quality is lowered as far as it takes, down to very_low, then the size. PNG and GIF become smaller alone.",
        example: 100_000,
      }),
      placed: true,
      words: {
        label: "Maximum file size",
        unit: "kB",
        hint: () => "Quality is lowered first, then the size. Empty for any.",
      },
    }),
  },
});

/** Checks that at most one option sets the rate. */
export function checkRate({ bitrate, target_size }: OptionValues<typeof rate.options>, report: Report): void {
  if (bitrate === undefined || target_size === undefined) return;
  const whole = "options.target_size and options.bitrate cannot both be given.";
  report.addIssue(issue("target_size", "cannot be given together with a bitrate.", whole));
}
