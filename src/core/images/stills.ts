import { issue, type Report, wholeWithin, within } from "../fields.ts";
import { BOUNDS, type ImageFormat, STILL_FORMATS } from "../formats.ts";

/** The options of an image that make several stills of one video. */
export const stills = {
  interval: within(BOUNDS.interval, "a number of seconds").optional().meta({
    description: "Seconds between stills of a video: a file for each, the first one at start.",
    example: 10,
  }),
  count: wholeWithin(BOUNDS.stills, "a whole number of stills").optional().meta({
    description: "How many stills of a video, evenly spaced: a file for each, the first one at start.",
    example: 5,
  }),
};

/** Checks that only one option asks for several stills, and that their format and the other options suit them. */
export function checkStills(
  {
    interval,
    count,
    max_bytes,
    format,
  }: {
    interval?: number | undefined;
    count?: number | undefined;
    max_bytes?: number | undefined;
    format?: ImageFormat | undefined;
  },
  report: Report,
): void {
  if (interval === undefined && count === undefined) return;
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
