import { type PlacedPart, placedParts } from "../features/concat-plan.ts";
import type { Chunk, Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { type Cut, createCut, soundStream } from "./trim.ts";

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
interface ListedPackets {
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

// ffmpeg lists the packets that it reads and the pictures that it decodes, so that the two can be compared.

/** Names of the lists, to follow the encoder's path prefix. */
export const LISTS = {
  packets: "packets.txt",
  decoded: "decoded.txt",
  sound: "sound.txt",
  heard: "heard.txt",
} as const;

/** Returns the path prefix of the lists of a part of a joined video, within that of all. */
export function listPrefix({ input }: Pick<PlacedPart, "input">): string {
  return input === 0 ? "" : `${input}-`;
}

/** Returns the names of all lists that a plan may have. */
export function listNames({ concat }: Plan): string[] {
  return (concat ?? [{ input: 0 }]).flatMap((part) =>
    Object.values(LISTS).map((name) => listPrefix(part) + name),
  );
}

/** Returns filters, as one link of a chain, that list every passing picture; `folder` is the path prefix of the lists. */
export function listPictures(folder: string): string {
  // Only the listing branch gets the microsecond clock: the kept branch retains its exact times.
  return (
    "split[counted][kept];[counted]settb=AVTB,metadata=add:key=n:value=1," +
    `metadata=print:file=${folder}${LISTS.decoded},nullsink;[kept]null`
  );
}

export function listPackets(plan: Plan, chunk: Chunk, source: Source, cut: Cut, folder: string): string[] {
  const pictured = hasPictures(plan) && chunk.track !== "audio" && !chunk.keyframes_only;
  const streams = {
    pictures: pictured ? "0:V:0" : null,
    sound: plan.audio && chunk.track !== "video" ? soundStream(plan) : null,
  };
  return listInput(source, folder, streams, chunk.end === null ? null : cut.lead + chunk.end - chunk.start);
}

/** Returns the arguments that list the packets of an input's streams, up to a number of seconds; `folder` is the path prefix of the lists. */
export function listInput(
  source: Source,
  folder: string,
  { pictures, sound }: { pictures: string | null; sound: string | null },
  until: number | null = null,
): string[] {
  const list = (map: string, name: string, ...more: string[]) => [
    ...["-map", map, "-c", "copy", ...more],
    // All packets, including those before the span.
    ...["-copyinkf", "-copypriorss", "1", "-avoid_negative_ts", "disabled"],
    ...(until === null ? [] : ["-t", String(Number(until.toFixed(6)))]),
    ...["-f", "framecrc", folder + name],
  ];
  // Packed B-frames put two pictures into one packet, followed by a dummy.
  const unpack = source.codecs?.video === "mpeg4" ? ["-bsf:v", "mpeg4_unpack_bframes"] : [];
  return [
    ...(pictures === null ? [] : list(pictures, LISTS.packets, ...unpack)),
    ...(sound === null ? [] : list(sound, LISTS.sound)),
  ];
}

/** Returns the arguments that list the decoded sound of a part, whose gaps the output fills. */
export function listHeard({ input, sound }: PlacedPart, folder: string): string[] {
  if (sound === null) return [];
  const decoded = ["-map", `${input}:a:${sound}`, "-c:a", "pcm_s16le", "-avoid_negative_ts", "disabled"];
  return [...decoded, "-f", "framecrc", folder + LISTS.heard];
}

/** Compares the lists that ffmpeg wrote; `read` returns the text of one, or null when it does not exist. */
export function readLists(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  read: (name: string) => string | null,
): Tally {
  if (plan.concat) return readParts(placedParts(plan), read);
  const packets = read(LISTS.packets);
  const sound = read(LISTS.sound);
  const tally: Tally = {};
  const { lead } = createCut(plan, chunk, source);
  if (packets !== null && hasPictures(plan)) {
    const listed = parsePackets(packets, lead, source);
    const copied = plan.video?.mode === "copy";
    const decoded = copied ? listed.times : parseDecoded(read(LISTS.decoded) ?? "");
    tally.pictures = tallyPictures(listed, decoded, tallyRules(chunk, source));
  }
  if (sound !== null) Object.assign(tally, soundOf(sound, lead, chunk));
  return tally;
}

// What is missing of any part is missing of the whole.
function readParts(parts: readonly PlacedPart[], read: (name: string) => string | null): Tally {
  const whole: PictureTally = { decoded: 0, missing: 0, missing_at: null, late_start: false, unreadable: 0 };
  let [heard, silenced]: [number | null, number] = [null, 0];
  const pictured = parts.some(({ video }) => video !== null);
  for (const part of parts) {
    const { source, at, seconds } = part;
    const text = (name: string) => read(listPrefix(part) + name) ?? "";
    const listed = parsePackets(text(LISTS.packets), at, source);
    const decoded = parseDecoded(text(LISTS.decoded)).map((time) => time - at);
    const own = tallyPictures(listed, decoded, tallyRules(WHOLE, source));
    whole.decoded += own.decoded;
    whole.missing += own.missing;
    whole.unreadable += own.unreadable;
    if (own.missing_at !== null) whole.missing_at ??= at + own.missing_at;
    if (part.sound === null) continue;
    const span = { ...WHOLE, end: seconds };
    const { sound: held } = soundOf(text(LISTS.sound), at, span);
    const lost = held - soundOf(text(LISTS.heard), at, span).sound;
    heard = (heard ?? 0) + held;
    // Beside what an output may lack, what an encoder adds for its own priming.
    if (lost > SOUND_TOLERANCE + PRIMING) silenced += lost;
  }
  return {
    ...(pictured && { pictures: whole }),
    ...(heard !== null && { sound: heard }),
    ...(silenced > 0 && { silenced }),
  };
}

// Seconds.
const PRIMING = 0.05;

const WHOLE: Chunk = { index: 0, track: "all", start: 0, end: null };

// Of a still there is one, which is there or not.
function hasPictures({ video, image }: Plan): boolean {
  return video !== null || image?.animated === true;
}

interface Packet {
  dts: number;
  /** Null when the container stores none. */
  pts: number | null;
  duration: number;
  size: number;
}

// ffmpeg writes this for an unknown time.
const NO_TIME = -9e18;
// AV_PKT_FLAG_DISCARD: needed to decode others, but outside what the file presents.
const DISCARD = 4;

// Lines of `stream, dts, pts, duration, size, checksum[, F=flags…]` after a header with `#tb 0: 1/90000`.
function* packetsOf(text: string): Generator<Packet> {
  const [, over = "1", under = "1"] = /^#tb 0: (\d+)\/(\d+)/m.exec(text) ?? [];
  const tick = Number(over) / Number(under);
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, dts = 0, pts = 0, duration = 0, size = 0] = line.split(",", 5).map(Number);
    const flags = Number(/, F=(0x[0-9A-F]+)/.exec(line)?.[1] ?? 1);
    if (flags & DISCARD) continue;
    yield { dts: dts * tick, pts: pts < NO_TIME ? null : pts * tick, duration: duration * tick, size };
  }
}

// In MPEG-4 Visual a few bytes say that a picture is not coded (vop_coded) and repeats the previous one; a coded picture takes
// more.
const NOT_CODED = 8;

function parsePackets(text: string, lead: number, { codecs }: Source): ListedPackets {
  const least = codecs?.video === "mpeg4" ? NOT_CODED : 0;
  const packets = [...packetsOf(text)].filter(({ size }) => size > least);
  const timed = packets.every(({ pts }) => pts !== null);
  return { timed, times: packets.map(({ dts, pts }) => (timed ? (pts ?? dts) : dts) - lead) };
}

function parseDecoded(text: string): number[] {
  return Array.from(text.matchAll(/^frame:\d+\s+pts:(-?\d+)/gm), ([, pts]) => Number(pts) / 1e6);
}

function soundOf(
  text: string,
  lead: number,
  { start, end }: Chunk,
): Pick<Tally, "heard"> & { sound: number } {
  const length = end === null ? Number.POSITIVE_INFINITY : end - start;
  let [seconds, from, until] = [0, Number.POSITIVE_INFINITY, 0];
  for (const { dts, pts, duration } of packetsOf(text)) {
    const time = (pts ?? dts) - lead;
    // A packet across an edge counts for the part inside.
    const edges = [Math.max(time, 0), Math.min(time + duration, length)] as const;
    if (edges[1] <= edges[0]) continue;
    seconds += edges[1] - edges[0];
    from = Math.min(from, edges[0]);
    until = Math.max(until, edges[1]);
  }
  const heard = { from: micro(from), until: micro(until) };
  return { sound: micro(seconds), ...(seconds > 0 && { heard }) };
}

function micro(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
