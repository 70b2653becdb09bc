import { z } from "zod";
import { containerOf } from "../containers.ts";
import { feature, option } from "../feature.ts";
import { ENCODE_KINDS, type EncodeKind } from "../formats.ts";
import { mainStream } from "../main-tracks.ts";
import type { Plan } from "../plan.ts";
import type { SourceFacts } from "../source-facts.ts";
import { findTrack } from "./track.ts";

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

function needsPartial(source: SourceFacts): boolean {
  return source.truncated === true && containerOf(source).indexed;
}

// The last packet of a truncated file may be incomplete.
const CUT_EDGE = 0.001;

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

/** Returns options with which a plan of a kind reads only whole packets of a truncated file. */
export function intactOptions<O extends object>(kind: EncodeKind, options: O, source: SourceFacts): O {
  const whole = needsPartial(source) ? intactEnd(kind, options, source) : null;
  if (whole === null || ("concat" in options && options.concat)) return options;
  if ("parts" in options && Array.isArray(options.parts)) {
    const within = ({ end = whole, ...range }) => ({ ...range, end: Math.min(end, whole) });
    return { ...options, parts: options.parts.map(within) };
  }
  const end = "end" in options && typeof options.end === "number" ? options.end : Number.POSITIVE_INFINITY;
  return { ...options, end: Math.min(end, whole) };
}

function intactEnd(kind: EncodeKind, options: object, source: SourceFacts): number | null {
  const isMute = "mute" in options && options.mute === true;
  const track = "track" in options ? (options.track as Parameters<typeof findTrack>[1]) : undefined;
  const pictures = kind === "audio" || kind === "waveform" ? undefined : wholeEnd(source, "video");
  const hasSound = pictures === undefined || (kind === "video" && !isMute) || kind === "adaptive_video";
  const sound = hasSound ? wholeEnd(source, "audio", findTrack(source, track)) : undefined;
  const ends = [pictures, sound].filter((end) => end !== undefined);
  if (ends.length === 0) return source.duration === undefined ? null : source.duration - CUT_EDGE;
  // The tracks of a stream end together.
  return kind === "adaptive_video" ? Math.min(...ends) : Math.max(...ends);
}

function wholeEnd(source: SourceFacts, kind: "video" | "audio", track?: number): number | undefined {
  if (source.codecs?.[kind] === null) return undefined;
  const streams = source.streams?.filter((stream) => stream.kind === kind) ?? [];
  const stream = track === undefined ? mainStream(source, kind) : streams[track];
  const end = stream?.end ?? stream?.duration;
  return end === undefined ? undefined : Math.max(0, end - CUT_EDGE);
}

/**
 * Returns where the whole packets of a truncated video's pictures and sound end, in seconds, so that each is read that far; null for
 * other plans.
 */
export function planTrackEnds(
  {
    kind,
    video,
    audio,
    concat,
    sound_track = 0,
  }: Pick<Plan, "kind" | "video" | "audio" | "concat" | "sound_track">,
  source: SourceFacts,
): NonNullable<Plan["track_ends"]> | null {
  if (!needsPartial(source) || kind !== "video" || !video || !audio || concat) return null;
  const pictures = wholeEnd(source, "video");
  const sound = wholeEnd(source, "audio", sound_track);
  return pictures === undefined || sound === undefined ? null : { pictures, sound };
}

/** Returns the seconds of a joined video: of a truncated one, those that all its tracks have. */
export function joinableSeconds(source: SourceFacts): number | undefined {
  if (!needsPartial(source)) return source.duration;
  const ends = [wholeEnd(source, "video"), wholeEnd(source, "audio", source.sound_track ?? 0)];
  return Math.min(source.duration ?? Number.POSITIVE_INFINITY, ...ends.filter((end) => end !== undefined));
}
