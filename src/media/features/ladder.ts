import { option, optionGroup } from "../feature.ts";
import { oneOf } from "../fields.ts";

const NAMES = { fixed: "Fixed", auto: "Automatic" } as const;

/** How the renditions of adaptive video are chosen. */
export const ladder = optionGroup({
  options: {
    ladder: option({
      kinds: ["adaptive_video"],
      schema: oneOf(["fixed", "auto"]).optional().meta({
        description:
          "How the renditions are chosen. fixed makes one for each usual size, all of the same quality. auto encodes samples of the video in each size, at quality and at each level below it down to low, and keeps the renditions that are worth their bytes, so that simple pictures get fewer and smaller ones. Each then has a score.",
        default: "fixed",
      }),
      default: "fixed",
      words: {
        label: "Renditions",
        choice: (name = "fixed") => NAMES[name],
        hint: (name) =>
          name === "auto"
            ? "Simple pictures get fewer and smaller renditions. Measuring takes a few trials."
            : undefined,
      },
    }),
  },
  summary: (options) => (options.ladder === "auto" ? "measured renditions" : null),
});
