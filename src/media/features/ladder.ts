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
          "How the renditions are chosen. fixed: one for each usual size, all of the same quality. auto: measures samples of the video at each size and at qualities from quality down to low, and keeps the renditions that are worth their bytes, so that simple pictures get fewer and smaller ones. Each has a score.",
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
