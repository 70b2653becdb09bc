import { z } from "zod";
import { feature, type OptionValues, option } from "../feature.ts";
import { closed, issue, oneOf, type Report, within } from "../fields.ts";
import { BOUNDS } from "../formats.ts";

/** Label of the seconds of a transition in a form. */
export const TRANSITION_LABEL = "Cross-fade between the videos";

/** Cross-fades the pictures and the sound of joined videos. */
export const transition = feature({
  options: {
    transition: option({
      kinds: ["video"],
      schema: closed(
        {
          kind: oneOf(["fade"]).meta({ description: "Kind of transition: a cross-fade." }),
          seconds: within(BOUNDS.transition, "a number of seconds").meta({
            description: "Length of the cross-fade in seconds.",
            example: 1,
          }),
        },
        "field",
        " of transition",
      )
        .optional()
        .meta({
          description:
            "Cross-fades pictures and sound between joined videos. They overlap, so each transition shortens the output by its seconds, rounded to whole pictures.",
        }),
      placed: true,
      words: { label: TRANSITION_LABEL },
    }),
  },
  summary: ({ transition: value }) => (value ? `cross-fades of ${value.seconds} s` : null),
  fields: {
    /** The number of pictures in which a joined video and the next overlap. */
    transition: z.strictObject({ kind: z.literal("fade"), frames: z.int().min(1).max(1e6) }).exactOptional(),
  },
  part: "plan",
  doneBy: { native: true, stock: true },
  refusal: { code: "transition", clause: () => "it cannot cross-fade joined videos" },
});

/** Checks that there are videos to cross-fade. */
export function checkTransition(
  options: OptionValues<typeof transition.options> & { concat?: unknown },
  report: Report,
): void {
  if (options.transition !== undefined && options.concat === undefined)
    report.addIssue(issue("transition", "needs concat."));
}
