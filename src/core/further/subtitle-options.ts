import { z } from "zod";
import { closed, fileUrl, issue, type Report } from "../fields.ts";
import { BOUNDS } from "../formats.ts";

const LANGUAGE = `must be a language as in BCP 47, such as "en" or "pt-BR".`;
const LABEL = `must be a text of 1 to ${BOUNDS.label.max} characters, without control characters.`;
const FILES = `must be a list of at most ${BOUNDS.subtitles.max} files.`;

const file = closed(
  {
    url: fileUrl("of the subtitles").meta({
      description: "URL of the file, which is read as the input is: http://, https:// or s3://.",
      example: "https://example.com/en.srt",
    }),
    language: z
      .string(LANGUAGE)
      .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, LANGUAGE)
      .optional()
      .meta({ description: "Language of the text, as in BCP 47.", example: "en" }),
    label: z
      .string(LABEL)
      .regex(/^\P{Cc}+$/u, LABEL)
      .max(BOUNDS.label.max, LABEL)
      .refine((text) => text.isWellFormed(), LABEL)
      .optional()
      .meta({ description: "Name of the track in a player's menu.", example: "English" }),
    default: z.boolean("must be true or false.").optional().meta({
      description: "Whether players show it by default; then no track of the source is shown.",
      default: false,
    }),
    burn: z.boolean("must be true or false.").optional().meta({
      description: "Whether it is drawn into the pictures in place of becoming a track; one file can be.",
      default: false,
    }),
  },
  "field",
  " of subtitles",
);

/** Schema of files of subtitles that become text tracks of an output, or are drawn into its pictures. */
export const subtitles = z.array(file, FILES).max(BOUNDS.subtitles.max, FILES).optional().meta({
  description:
    "Files of subtitles that become text tracks after those of the source, or of which one is drawn into the pictures: SRT, WebVTT, ASS or SSA, in UTF-8, or in UTF-16 with a byte order mark. Their times count from the start of the source.",
});

/** Checks that at most one file of subtitles is shown by default, and one burnt in, which has nothing of a track. */
export function checkSubtitles(
  options: { subtitles?: z.infer<typeof subtitles>; mode?: string | undefined },
  report: Report,
): void {
  const { subtitles: files = [], mode } = options;
  const burnt = files.filter((each) => each.burn);
  if (files.filter((each) => each.default).length > 1)
    report.addIssue(issue("subtitles", "can have one default track."));
  if (burnt.length > 1) report.addIssue(issue("subtitles", "can have one file with burn."));
  if (burnt.some((each) => each.default || each.label !== undefined))
    report.addIssue(issue("subtitles", "cannot have a label or default together with burn."));
  if (burnt.length > 0 && mode === "copy") {
    const whole = 'options.subtitles with burn needs an encode, which options.mode "copy" rules out.';
    report.addIssue(issue("subtitles", "cannot be burnt into a copy.", whole));
  }
}
