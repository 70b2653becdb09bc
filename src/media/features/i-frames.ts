import { z } from "zod";
import { option, optionGroup } from "../feature.ts";
import { issue, type Report } from "../fields.ts";
import { lacksHls } from "../formats.ts";

/** I-frame playlists, from which players show pictures while a viewer seeks. */
export const iFrames = optionGroup({
  options: {
    i_frames: option({
      kinds: ["adaptive_video"],
      schema: z.boolean("must be true or false.").optional().meta({
        description:
          "Adds an I-frame playlist to each rendition of HLS, with a picture every six seconds that players show while a viewer seeks.",
        default: false,
      }),
      default: false,
      placed: true,
      choices: [false, true],
      words: {
        label: "Pictures while seeking",
        choice: (isOn = false) => (isOn ? "Every six seconds" : "None"),
      },
    }),
  },
});

/** Checks that I-frame playlists, which DASH does not have, are requested of HLS. */
export function checkIFrames(
  { format, i_frames }: { format?: string | undefined; i_frames?: boolean | undefined },
  report: Report,
): void {
  if (i_frames && format !== undefined && lacksHls(format))
    report.addIssue(issue("i_frames", 'needs format "hls" or "hls_dash".'));
}
