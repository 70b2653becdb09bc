import type { Source } from "../core/source.ts";
import type { Chunk } from "../plan/plan.ts";

/** What an encoder found in the span of a chunk while it encoded it; each part is absent where the chunk has no such track. */
export interface Tally {
  pictures?: PictureTally;
  /** Seconds of sound that the source's packets hold. */
  sound?: number;
}

/** The pictures of a span: what the source's packets hold, against what came out of the decoder. */
export interface PictureTally {
  /** Pictures that could be decoded. */
  decoded: number;
  /** Pictures that the source holds and the decoder did not return. */
  missing: number;
  /** Seconds from the start of the span to the first missing picture; null when none is missing or times are unknown. */
  missing_at: number | null;
  /** True when the pictures before the first decoded one are missing, as when decoding began at a picture that refers to earlier ones. */
  late_start: boolean;
  /** Pictures before the source's first entry point, which no decoder can return. */
  unreadable: number;
}

/** Packets of a span as a demuxer lists them. */
export interface ListedPackets {
  /** Presentation times in seconds from the start of the span; decoding times when `timed` is false. */
  times: readonly number[];
  /** False when the container stores no presentation times (AVI), so that packets can be counted but not matched. */
  timed: boolean;
}

/** What the comparison depends on beside the two lists. */
export interface TallyRules {
  /** Seconds of the span; null for to the end. */
  length: number | null;
  /** Seconds from the start of the span to where its first picture begins, which is on screen at the start: 0 or less. */
  shown: number;
  /** True when a packet may hold one field of a picture. */
  fields: boolean;
  /** True when decoding began at the very start of the source. */
  from_start: boolean;
  /** Pictures by which a count without times may be off, because reordering blurs the edges of the span. */
  slack: number;
}

// A frame on an edge belongs to the span that starts there, as in the filters that cut.
const NUDGE = 0.0005;
// Containers round times to milliseconds, and filters to their own clock.
const SAME = 0.002;
// Of the time between two pictures: the second field follows half a frame after the first.
const FIELD = 0.75;
// Packets for each time, above which they are taken for fields.
const PAIRED = 1.5;

/** Compares the packets of a span with the pictures that were decoded from them. */
export function tallyPictures(
  listed: ListedPackets,
  decodedTimes: readonly number[],
  rules: TallyRules,
): PictureTally {
  const packets = inSpan(listed.times, rules);
  const held = distinct(packets);
  const decoded = distinct(inSpan(decodedTimes, rules));
  const none = { decoded: decoded.length, missing: 0, missing_at: null, late_start: false, unreadable: 0 };
  // The time of a second field is a guess where the container has none: that of its picture, or of the next one.
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
    // A time that a decoder has wrong matches none, though its picture is there.
    ...{ decoded: decoded.length, missing: Math.min(lost.length, short), missing_at, unreadable },
    late_start: missing_at !== null && missing_at < first,
  };
}

/** The rules by which the pictures of a chunk are compared. */
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
