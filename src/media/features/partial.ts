import { z } from "zod";
import { containerOf } from "../containers.ts";
import { feature, option } from "../feature.ts";
import { ENCODE_KINDS } from "../formats.ts";
import type { SourceFacts } from "../source-facts.ts";

/** Converts a truncated file whose container lists its packets in advance. */
export const partial = feature({
  options: {
    partial: option({
      kinds: ENCODE_KINDS,
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
  summary: (options) => (options.partial ? "intact part only" : null),
  fields: { partial: z.literal(true).exactOptional() },
  part: "plan",
  planWhole: (_, source) => (needsPartial(source) ? { partial: true } : {}),
  doneBy: { native: true, stock: true, fast: true },
  refusal: { code: "partial", clause: () => "it reads complete files only" },
});

/** Returns whether only the option `partial` converts a source. */
export function needsPartial(source: SourceFacts): boolean {
  return source.truncated === true && containerOf(source).indexed;
}

/** A file that is cut off: its intact seconds, and its number among the joined videos, absent for the input. */
export interface TruncatedFile {
  seconds: number;
  part?: number;
}

/** Returns the first file, the input or a joined video, that needs the option `partial`; null if there is none or the option is set. */
export function findTruncatedFile(
  source: SourceFacts,
  options: object,
  parts: readonly { input: number; source: SourceFacts }[],
): TruncatedFile | null {
  const cut = [{ input: 0, source }, ...parts].find((each) => needsPartial(each.source));
  if (!cut || ("partial" in options && options.partial)) return null;
  const seconds = Number((cut.source.duration ?? 0).toFixed(3));
  return cut.input > 0 ? { seconds, part: cut.input } : { seconds };
}
