import { z } from "zod";
import { containerOf } from "../containers.ts";
import { feature, option } from "../feature.ts";
import type { SourceFacts } from "../source-facts.ts";
import { SOUND_KINDS } from "./audio-format.ts";

/** Converts a truncated file whose container lists its packets in advance. */
export const partial = feature({
  options: {
    partial: option({
      kinds: SOUND_KINDS,
      schema: z.boolean("must be true or false.").optional().meta({
        description:
          "Converts the intact part of an MP4 or MOV that is cut off; dropped then says cut_off. Other containers do not need it.",
        default: false,
      }),
      default: false,
      encodes: () => false,
      copyable: true,
      choices: [false, true],
      words: {
        label: "Files that are cut off",
        choice: (converts = false) => (converts ? "Convert what is left" : "Report an error"),
      },
    }),
  },
  summary: (options) => (options.partial ? "as far as the file goes" : null),
  fields: { partial: z.literal(true).exactOptional() },
  needed: (plan) => plan.partial === true,
  doneBy: { native: true, stock: true, fast: true },
  refusal: { code: "partial", clause: () => "it reads complete files only" },
});

/** Returns whether a source is truncated in a way that requires the option `partial`. */
export function needsPartial(source: SourceFacts): boolean {
  return source.truncated === true && containerOf(source).whole;
}
