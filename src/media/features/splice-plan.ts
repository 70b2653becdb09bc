import { EPSILON_SECONDS, roundTime } from "../clock.ts";
import { containerOf, hidesEnds } from "../containers.ts";
import type { EncodeRequest } from "../options.ts";
import type { Chunk, PlannedPart } from "../plan.ts";
import type { SpliceFault } from "../plan-errors.ts";
import type { Source } from "../source.ts";
import { withRanges } from "../timeline.ts";

/** A range of the source in seconds. */
export interface SourceRange {
  start: number;
  end: number;
}

/** Packets of the source that can be copied: from a keyframe up to a picture to which no earlier packet belongs. */
export interface CopiedRange extends SourceRange {
  pictures: number;
}

/** The packets to copy for each range of a request, in order. */
export interface Splice {
  parts: readonly CopiedRange[];
}

/** Why packets cannot be copied; `part` is the index of the range at fault, absent for the whole source. */
export interface SpliceRefusal {
  fault: SpliceFault;
  part?: number;
}

/** The ranges that a request copies. */
export interface SpliceRequest {
  ranges: readonly SourceRange[];
}

/**
 * Returns the ranges of a source that a request copies, before the packets are read; null when it is another request. Returns the
 * refusal of a source whose packets cannot be copied.
 */
export function spliceRequest(source: Source, request: EncodeRequest): SpliceRequest | SpliceRefusal | null {
  if (request.kind !== "video" || request.options.mode !== "copy" || !request.options.parts) return null;
  const { parts: ranges } = withRanges(request.options, source);
  if (!ranges) return null;
  const fault = sourceFault(source);
  return fault === null ? { ranges } : { fault };
}

function sourceFault(source: Source): SpliceFault | null {
  const { mediabunny, entries } = containerOf(source);
  if (mediabunny === "none" || entries === null || source.fragmented) return "format";
  if (!entries.test(source.codecs?.video ?? "")) return "codec";
  return hidesEnds(source) ? "hidden" : null;
}

/** Returns the chunks of parts of which every packet is copied. */
export function copiedChunks(parts: readonly PlannedPart[], { parts: copies }: Splice): Chunk[] {
  return parts.flatMap((part, index): Chunk[] => {
    const copied = copies[index];
    return copied ? [copiedChunk(index, part, copied)] : [];
  });
}

function copiedChunk(index: number, part: PlannedPart, { start, end, pictures }: CopiedRange): Chunk {
  const at = roundTime(part.at + start - part.start);
  return { index, track: "video", start, end, at, copy: { pictures } };
}

/** Returns whether a time belongs to the start of a picture. */
export function isAt(time: number, picture: number): boolean {
  return Math.abs(time - picture) <= EPSILON_SECONDS;
}
