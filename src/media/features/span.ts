import { type OptionValues, option, optionGroup } from "../feature.ts";
import { issue, type Report, seconds } from "../fields.ts";

/** The range of the source in the output. */
export const span = optionGroup({
  options: {
    start: option({
      kinds: ["video", "audio", "image", "animation", "storyboard", "waveform", "adaptive_video"],
      schema: seconds
        .optional()
        .meta({ description: "Start of the output in the source, in seconds.", default: 0 }),
      schemas: {
        image: seconds
          .optional()
          .meta({ description: "Time of the frame in seconds, for a video input.", default: 0 }),
      },
      default: 0,
      copyable: true,
      placed: true,
      words: { label: "Start" },
    }),
    end: option({
      kinds: ["video", "audio", "animation", "storyboard", "waveform", "adaptive_video"],
      schema: seconds.optional().meta({
        description: "End of the output in the source, in seconds; by default the end of the source.",
      }),
      copyable: true,
      placed: true,
      words: { label: "End" },
    }),
  },
});

/** Checks that the end comes after the start. */
export function checkSpan({ start = 0, end }: OptionValues<typeof span.options>, report: Report): void {
  if (end === undefined || end > start) return;
  const whole = `options.end (${end}) must be after options.start (${start}).`;
  report.addIssue(issue("end", `must be after the start (${start}).`, whole));
}
