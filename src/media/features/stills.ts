import { type OptionValues, option, optionGroup } from "../feature.ts";
import { issue, type Report, wholeWithin, within } from "../fields.ts";
import { BOUNDS, FORMATS, type ImageFormat, STILL_FORMATS } from "../formats.ts";
import * as errors from "../plan-errors.ts";
import { countTiles, describeInterval, type Sprite } from "./storyboard.ts";

const MAX_STILLS = BOUNDS.stills.max;

/** A series of stills of a video, each in its own file. */
export const stills = optionGroup({
  options: {
    interval: option({
      kinds: ["image"],
      schema: within(BOUNDS.interval, "a number of seconds").optional().meta({
        description: "Seconds between stills of a video, each a file; the first is at start.",
        example: 10,
      }),
      control: "number",
      placed: true,
      words: {
        label: "Seconds between pictures",
        hint: () => "Each is a file of its own. The first one is at the moment chosen below.",
      },
    }),
    count: option({
      kinds: ["image"],
      schema: wholeWithin(BOUNDS.stills, "a whole number of stills").optional().meta({
        description: "Number of evenly spaced stills of a video, each a file; the first is at start.",
        example: 5,
      }),
      control: "number",
      placed: true,
      words: {
        label: "Number of pictures",
        hint: () => "Each is a file of its own. The first one is at the moment chosen below.",
      },
    }),
  },
  summary({ interval, count }) {
    if (count !== undefined) return count === 1 ? "1 picture" : `${count} pictures`;
    return interval === undefined ? null : describeInterval(interval);
  },
});

type StillOptions = OptionValues<typeof stills.options> & { start?: number | undefined };

/** Checks that only one option makes a series of stills, and that their format and the other options suit it. */
export function checkStills(
  options: StillOptions & { max_bytes?: number | undefined; format?: ImageFormat | undefined },
  report: Report,
): void {
  const { interval, count, max_bytes, format } = options;
  if (!isSeries(options)) return;
  if (interval !== undefined && count !== undefined) {
    const whole = "options.interval and options.count cannot both be given.";
    report.addIssue(issue("count", "cannot be given together with an interval.", whole));
  }
  if (max_bytes !== undefined) {
    report.addIssue(issue("max_bytes", "limits one picture; give neither interval nor count."));
  }
  const formats: readonly string[] = STILL_FORMATS;
  if (format !== undefined && !formats.includes(format)) {
    report.addIssue(issue("format", `must be one of ${formats.join(", ")} for several stills.`));
  }
}

/** Returns whether options make a series of stills. */
export function isSeries({ interval, count }: StillOptions): boolean {
  return interval !== undefined || count !== undefined;
}

/**
 * Plans a series of stills as sprites of one tile each.
 *
 * @throws `invalid_options` for too many, and `input_unsupported` for an unknown duration.
 */
export function planSeries(duration: number | null, options: StillOptions): Sprite {
  const { count } = options;
  if (duration === null) throw errors.stillsDurationUnknown();
  // Rounding down keeps the last of a count within the video.
  const milliseconds =
    options.interval === undefined
      ? Math.floor((duration / (count ?? 1)) * 1000)
      : Math.round(options.interval * 1000);
  const interval = Math.max(1, milliseconds) / 1000;
  const tiles = count ?? countTiles(duration, interval);
  const max = Math.ceil(duration * 1000);
  if (count !== undefined && count > max) throw errors.stillsBeyondDuration({ max, duration });
  if (tiles > MAX_STILLS) throw errors.tooManyStills({ max: MAX_STILLS, interval, stills: tiles });
  return { interval, tiles, columns: 1, rows: 1, sheets: tiles };
}

/** Throws `invalid_options` when options select times in a still image. */
export function checkStillImage(options: StillOptions): void {
  const { start = 0, interval, count } = options;
  if (start === 0 && !isSeries(options)) return;
  const name = interval !== undefined ? "interval" : count !== undefined ? "count" : "start";
  throw errors.noTimeline({ name });
}

/** Returns a source's format if images can be written in it; otherwise undefined. */
export function ownFormat(
  { kind, format }: { kind: string; format: string },
  options: StillOptions,
): ImageFormat | undefined {
  const formats: readonly string[] = isSeries(options) ? STILL_FORMATS : Object.keys(FORMATS.image);
  return kind === "image" && formats.includes(format) ? (format as ImageFormat) : undefined;
}
