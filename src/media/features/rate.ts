import { type OptionValues, option, optionGroup } from "../feature.ts";
import { issue, oneOf, type Report, wholeWithin } from "../fields.ts";
import { type AutoQuality, BOUNDS, QUALITIES } from "../formats.ts";
import { isAutoQuality } from "../quality-search.ts";

const BITS = "a whole number of bits per second";

const QUALITY_NAMES = {
  very_low: "Lowest",
  low: "Low",
  medium: "Medium",
  high: "High",
  very_high: "Highest",
  auto: "Automatic",
} as const satisfies Record<AutoQuality, string>;
const QUALITY_HINTS = {
  very_low: "For a quick preview: losses are obvious.",
  low: "Small; fine detail suffers.",
  medium: "Right for most uses: losses are hardly noticeable.",
  high: "Losses show only in a side-by-side comparison.",
  very_high: "Close to the original, and large.",
  auto: "The smallest file that looks the same. Measuring takes a few trials.",
} as const satisfies Record<AutoQuality, string>;

/** The English names and hints of the quality levels. */
export const qualityWords = {
  label: "Quality",
  choice: (step: AutoQuality = "medium") => QUALITY_NAMES[step],
  hint: (step: AutoQuality = "medium") => QUALITY_HINTS[step],
};

const MeasuredQuality = oneOf([...QUALITIES, "auto"])
  .optional()
  .meta({
    description:
      "Trades size for quality: very_low makes the smallest file, very_high the best picture. It does not limit the size; a high quality can make a file larger than its source. auto makes the smallest file that looks the same: it measures trials between very_low and high, and the output has the score and the chosen rate.",
    default: "medium",
  });

const MeasuredVideo = oneOf([...QUALITIES, "auto"])
  .optional()
  .meta({
    description:
      "Trades size for quality: very_low makes the smallest file, very_high the best picture or sound. It does not limit the size; a high quality can make a file larger than its source. auto makes the smallest file that looks the same: it measures samples at rates between very_low and high, and the output has the score and the chosen rate. It applies to the pictures only; sound is copied or encoded as by default.",
    default: "medium",
  });

/** The trade-off between size and quality, which determines the rates. */
export const quality = optionGroup({
  options: {
    quality: option({
      kinds: ["video", "audio", "image", "animation", "storyboard", "adaptive_video"],
      schema: oneOf(QUALITIES).optional().meta({
        description:
          "Trades size for quality: very_low makes the smallest file, very_high the best picture or sound. It does not limit the size; a high quality can make a file larger than its source.",
        default: "medium",
      }),
      schemas: { video: MeasuredVideo, image: MeasuredQuality, animation: MeasuredQuality },
      placed: true,
      words: qualityWords,
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
        .meta({ description: "Bits per second; takes precedence over quality." }),
      schemas: {
        audio: wholeWithin(BOUNDS.audio_bitrate, BITS).optional().meta({
          description: "Bits per second; takes precedence over quality. Lossless formats ignore it.",
        }),
      },
      placed: true,
      words: { label: "Bitrate", unit: "kbit/s" },
    }),
    target_size: option({
      kinds: ["video"],
      schema: wholeWithin(BOUNDS.target_size, "a whole number of bytes").optional().meta({
        description:
          "The maximum size of the file in bytes, in place of bitrate. The bitrate may be lower than the option bitrate allows, and never exceeds the source's. A source that is small enough is copied if no other option changes it; quality then concerns the encoded sound only.",
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
          "The maximum size of the file in bytes: the quality is lowered as far as necessary, down to very_low, then the size in pixels. PNG and GIF have no quality, so only their size in pixels is lowered.",
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

const CONFLICTS = ["max_bytes", "bitrate", "target_size", "concat"] as const;

/** Checks that a measured quality comes without a rate, a size limit and joined videos. */
export function checkAutoQuality(
  options: { quality?: string | undefined } & { [N in (typeof CONFLICTS)[number]]?: unknown },
  report: Report,
): void {
  if (!isAutoQuality(options)) return;
  for (const name of CONFLICTS) {
    if (options[name] === undefined) continue;
    const whole = `options.${name} and options.quality "auto" cannot both be given.`;
    report.addIssue(issue(name, 'cannot be given together with the quality "auto".', whole));
  }
}
