import { z } from "zod";
import { aloneNames, changesDefault } from "../../media/option-groups.ts";
import { closed, fileUrl, issue, type Report } from "../fields.ts";

/** Most videos that play after the first one. */
const MOST_CONCAT = 9;

const RULE = `must be a list of 1 to ${MOST_CONCAT} videos, each { url }.`;

/** Schema of the videos that play after the input. */
export const concat = z
  .array(
    closed(
      {
        url: fileUrl("of the video").meta({
          description: "URL of the video, which is read as the input is: http://, https:// or s3://.",
          example: "https://example.com/second.mp4",
        }),
      },
      "field",
      " of concat",
    ),
    RULE,
  )
  .min(1, RULE)
  .max(MOST_CONCAT, RULE)
  .optional()
  .meta({
    description:
      "Up to nine videos to play after the input, in order. Pictures that match the input's are copied; otherwise all are encoded to its shape: its frame with bars, its frame rate, one layout of sound.",
  });

// What each of the videos would need in its own way, or what would read the whole before it is joined.
const ALONE = [
  ...["start", "end", ...aloneNames(), "crop", "rotate", "flip", "track"],
  ...["normalize", "target_lufs"],
];

/** Checks that nothing is asked of joined videos that only one alone can have. */
export function checkConcat(options: { concat?: unknown }, report: Report): void {
  if (options.concat === undefined) return;
  const given = new Map<string, unknown>(Object.entries(options));
  for (const name of ALONE) {
    if (!changesDefault(name, given.get(name))) continue;
    const whole = `options.${name} and options.concat cannot both be given.`;
    report.addIssue(issue(name, "cannot be given together with concat.", whole));
  }
}
