import { z } from "zod";
import { containerOf } from "../containers.ts";
import { feature, option } from "../feature.ts";
import type { EncodeKind } from "../formats.ts";
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
  part: "plan",
  planWhole: ({ kind }, source) => (needsPartial(source, kind) ? { partial: true } : {}),
  doneBy: { native: true, stock: true, fast: true },
  refusal: { code: "partial", clause: () => "it reads complete files only" },
});

const KINDS: ReadonlySet<EncodeKind> = new Set(SOUND_KINDS);

function needsPartial(source: SourceFacts, kind: EncodeKind): boolean {
  return source.truncated === true && containerOf(source).indexed && KINDS.has(kind);
}

// The packet at the end of what is left may be cut.
const CUT_EDGE = 0.001;

/** Returns options with which a plan reads only whole packets; null for a truncated file without the option `partial`. */
export function intactOptions<O extends object>(source: SourceFacts, kind: EncodeKind, options: O): O | null {
  if (!needsPartial(source, kind)) return options;
  if (!("partial" in options && options.partial)) return null;
  const { duration } = source;
  if (duration === undefined || ("concat" in options && options.concat)) return options;
  if ("parts" in options && Array.isArray(options.parts)) {
    const whole = duration - CUT_EDGE;
    const within = ({ end = whole, ...range }) => ({ ...range, end: Math.min(end, whole) });
    return { ...options, parts: options.parts.map(within) };
  }
  const end = "end" in options && typeof options.end === "number" ? options.end : Number.POSITIVE_INFINITY;
  return { ...options, end: Math.min(end, duration - CUT_EDGE) };
}
