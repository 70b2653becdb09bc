import type { Chunk } from "../media/plan.ts";
import type { Source } from "../media/source.ts";

/** What an encoder found in a chunk's span of the source; a part is absent when the chunk has no such track. */
export interface Tally {
  pictures?: PictureTally;
  /** Seconds of sound in the source's packets. */
  sound?: number;
  /** Seconds of them that no decoder returned and that are silent in the output; absent where the output is that much shorter. */
  silenced?: number;
  /** Seconds from the start of the span to its first packet of sound, and to the end of its last; absent without any. */
  heard?: { from: number; until: number };
}

/** Seconds of sound that may differ because of edges, priming and another codec's frame size. */
export const SOUND_TOLERANCE = 0.1;

/** The pictures of a span: packets of the source compared with what the decoder returned. */
export interface PictureTally {
  decoded: number;
  /** Pictures that the source holds and the decoder did not return. */
  missing: number;
  /** Time of the first missing picture in seconds relative to the span; null when none is missing or times are unknown. */
  missing_at: number | null;
  /**
   * Whether the pictures missing precede the first decoded one, as when decoding starts at a picture that refers to earlier
   * ones.
   */
  late_start: boolean;
  /** Pictures before the source's first entry point, which no decoder can return. */
  unreadable: number;
}

/** Packets of a span as a demuxer lists them. */
export interface ListedPackets {
  /** Presentation times in seconds relative to the span; decoding times when `timed` is false. */
  times: readonly number[];
  /** False when the container stores no presentation times (AVI), so that packets can be counted but not matched. */
  timed: boolean;
}

/** What the comparison depends on, besides the two lists. */
export interface TallyRules {
  /** Seconds of the span; null up to the end. */
  length: number | null;
  /** Start of the picture visible at the beginning, in seconds relative to the span: 0 or less. */
  shown: number;
  /** Whether a packet may hold one field of a picture. */
  fields: boolean;
  /** Whether decoding started at the very beginning of the source. */
  from_start: boolean;
  /** Tolerance, in pictures, of a count without times, because reordering blurs the edges of the span. */
  slack: number;
}

// A frame on an edge belongs to the span that starts there, as in the filters that cut.
const NUDGE = 0.0005;
// Containers round times to milliseconds, and filters to their own clock.
const SAME = 0.002;
// As a share of the distance between two pictures: the second field follows half a frame after the first.
const FIELD = 0.75;
// More packets than this per time count as fields.
const PAIRED = 1.5;

/** Compares the packets of a span with the pictures decoded from them. */
export function tallyPictures(
  listed: ListedPackets,
  decodedTimes: readonly number[],
  rules: TallyRules,
): PictureTally {
  const packets = inSpan(listed.times, rules);
  const held = distinct(packets);
  const decoded = distinct(inSpan(decodedTimes, rules));
  const none = { decoded: decoded.length, missing: 0, missing_at: null, late_start: false, unreadable: 0 };
  // A second field without a time of its own gets that of its picture or of the next.
  const paired = rules.fields && packets.length > PAIRED * held.length;
  const pictures = paired ? Math.floor(packets.length / 2) : held.length;
  const short = pictures - decoded.length - (listed.timed ? 0 : rules.slack);
  if (short <= 0) return none;
  if (!listed.timed) return { ...none, missing: short, late_start: true };

  const reach = rules.fields ? FIELD * medianGap(decoded) : 0;
  const missing = unmatched(held, decoded, reach);
  const first = decoded[0] ?? Number.POSITIVE_INFINITY;
  const lost = rules.from_start && decoded.length > 0 ? missing.filter((time) => time > first) : missing;
  const unreadable = missing.length - lost.length;
  const [missing_at = null] = lost;
  return {
    // A time that the decoder gets wrong matches none, though its picture exists.
    ...{ decoded: decoded.length, missing: Math.min(lost.length, short), missing_at, unreadable },
    late_start: missing_at !== null && missing_at < first,
  };
}

/** Returns the rules for comparing the pictures of a chunk. */
export function tallyRules(chunk: Chunk, source: Source): TallyRules {
  const edges = Number(chunk.start > 0) + Number(chunk.end !== null);
  return {
    length: chunk.end === null ? null : chunk.end - chunk.start,
    shown: (chunk.shown_from ?? chunk.start) - chunk.start,
    fields: source.interlaced === true,
    from_start: (chunk.decode_from ?? chunk.start) === 0,
    slack: 2 * edges,
  };
}

function inSpan(times: readonly number[], { length, shown }: TallyRules): number[] {
  const end = length === null ? Number.POSITIVE_INFINITY : length - NUDGE;
  const inside = times.filter((time) => time >= shown - NUDGE && time < end);
  return inside.map((time) => Math.max(0, time)).sort((a, b) => a - b);
}

// Two pictures at the same time cannot both be shown.
function distinct(sorted: readonly number[]): number[] {
  return sorted.filter((time, index) => index === 0 || time - (sorted[index - 1] ?? 0) > 1e-5);
}

function unmatched(held: readonly number[], decoded: readonly number[], reach: number): number[] {
  let next = 0;
  return held.filter((time) => {
    while (next < decoded.length && (decoded[next] ?? 0) < time - SAME - reach) next++;
    return !((decoded[next] ?? Number.POSITIVE_INFINITY) <= time + SAME);
  });
}

function medianGap(times: readonly number[]): number {
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
}
