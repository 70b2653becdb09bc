import { EPSILON_SECONDS, roundTime } from "../clock.ts";
import { containerOf, hidesEnds } from "../containers.ts";
import { convertedColor, planPictures } from "../features.ts";
import { FORMATS } from "../formats.ts";
import type { EncodeRequest, VideoOptions } from "../options.ts";
import { parsePixelAspect, storedPicture } from "../picture-geometry.ts";
import type { Chunk, PlannedPart, SourceRange } from "../plan.ts";
import type { SpliceFault } from "../plan-errors.ts";
import type { Source } from "../source.ts";
import { createSpan, withRanges } from "../timeline.ts";
import type { ParameterSets } from "./smart.ts";

/** Packets of the source that can be copied: from a keyframe up to a cut that no picture crosses in decoding order. */
export interface CopiedRange extends SourceRange {
  pictures: number;
}

/** The packets to copy for each range of a request, in order. */
export interface Splice {
  /** Null for a range without a whole group of pictures, which is encoded. */
  parts: readonly (CopiedRange | null)[];
  /** The parameter sets of the encoded pieces; absent if there are none. */
  sets?: ParameterSets;
}

/** The reason that packets cannot be copied; `part` is the index of the range at fault, absent for the whole source. */
export interface SpliceRefusal {
  fault: SpliceFault;
  part?: number;
}

/** The ranges that a request copies. */
export interface SpliceRequest {
  mode: "copy" | "smart";
  ranges: readonly SourceRange[];
}

/**
 * Returns the ranges of a source that a request copies, before the packets are read, or the refusal of a source whose packets cannot
 * be copied; null for any other request.
 */
export function spliceRequest(source: Source, request: EncodeRequest): SpliceRequest | SpliceRefusal | null {
  if (request.kind !== "video") return null;
  const { mode } = request.options;
  if (mode !== "copy" && mode !== "smart") return null;
  const ranges = rangesOf(source, request.options);
  if (!ranges || (mode === "copy" && ranges.length === 1)) return null;
  const fault = sourceFault(source) ?? (mode === "smart" ? encodeFault(source, request.options) : null);
  return fault === null ? { mode, ranges } : { fault };
}

/** Returns the ranges of a source that options select; null when they select all of it, or its duration is unknown. */
function rangesOf(source: Source, options: VideoOptions): readonly SourceRange[] | null {
  const { parts, start = 0, end } = withRanges(options, source);
  if (parts) return parts;
  const span = createSpan({ start, end }, source.duration, source.duration_estimated);
  const last = span.end ?? source.duration;
  return last === undefined || (span.start === 0 && span.end === null)
    ? null
    : [{ start: span.start, end: last }];
}

function sourceFault(source: Source): SpliceFault | null {
  const { mediabunny, entries } = containerOf(source);
  if (mediabunny === "none" || entries === null || source.fragmented) return "format";
  if (!entries.test(source.codecs?.video ?? "")) return "codec";
  return hidesEnds(source) ? "hidden" : null;
}

/** The codecs whose streams an encoder can continue. */
const CONTINUED_CODECS = ["h264", "h265", "vp9", "av1"] as const;
const PIXELS: ReadonlySet<string> = new Set(["yuv420p", "yuvj420p"]);
const DEEP_PIXELS = "yuv420p10le";
const DEEP_CODECS: ReadonlySet<string> = new Set([
  "h264",
  "h265",
  "av1",
] satisfies (typeof CONTINUED_CODECS)[number][]);
// PQ comes with metadata about the mastering display, which encoded pieces would lack.
const PQ = "smpte2084";

// Encoded pieces must match the pictures and colors as the source stores them; an encode always has limited range.
function encodeFault(source: Source, { codec, format }: VideoOptions): SpliceFault | null {
  const { codecs, color, pixel_format = "", interlaced, flipped, sample_aspect_ratio: aspect } = source;
  const stored = storedPicture(source);
  const own = CONTINUED_CODECS.find((each) => each === codecs?.video);
  if (!own) return "other_codec";
  if (codec !== undefined && codec !== own) return "new_codec";
  if (format !== undefined && !FORMATS.video[format].codecs.some((each) => each === own)) return "output";
  const isDeep = pixel_format === DEEP_PIXELS && DEEP_CODECS.has(own);
  if (interlaced || !(isDeep || PIXELS.has(pixel_format))) return "pixels";
  if (flipped || parsePixelAspect(aspect) !== 1) return "shape";
  if (!stored || stored.width % 2 !== 0 || stored.height % 2 !== 0) return "shape";
  const isFull = color?.range === "full" || pixel_format === "yuvj420p";
  const isLost = isFull || color?.transfer === PQ;
  return isLost || convertedColor(planPictures({}, source, own, stored), stored) ? "colors" : null;
}

/** Returns the chunks of parts: copied packets, and the encoded pieces around them. */
export function splicedChunks(parts: readonly PlannedPart[], { parts: copies }: Splice): Chunk[] {
  const chunks = parts.flatMap((part, index): Omit<Chunk, "index">[] => {
    const at = (start: number) => roundTime(part.at + start - part.start);
    const piece = (start: number, end: number) => ({ track: "video" as const, start, end, at: at(start) });
    const copied = copies[index];
    if (!copied) return [piece(part.start, part.end)];
    const { start, end, pictures } = copied;
    return [
      ...(isBefore(part.start, start) ? [piece(part.start, start)] : []),
      { ...piece(start, end), copy: { pictures } },
      ...(isBefore(end, part.end) ? [piece(end, part.end)] : []),
    ];
  });
  return chunks.map((chunk, index) => ({ ...chunk, index }));
}

/** Returns whether a time precedes another by enough for a picture to lie between them. */
export function isBefore(time: number, other: number): boolean {
  return other - time > EPSILON_SECONDS;
}
