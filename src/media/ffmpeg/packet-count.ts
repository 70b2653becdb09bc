import { EPSILON_SECONDS, roundTime } from "../clock.ts";
import { endsInFrame, isTimedByFirst } from "../containers.ts";
import { type PlacedPart, placedParts } from "../features/concat-plan.ts";
import { DEFAULT_FPS } from "../features/fps.ts";
import { type RunInput, runInputs } from "../features/parts-graph.ts";
import { partRuns } from "../features/parts-plan.ts";
import { videoStream } from "../main-tracks.ts";
import { type Chunk, constantFps, type Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { checkPartEnd } from "./run-log.ts";
import {
  createTrim,
  formatSeconds,
  isMisnumbered,
  rangeEntry,
  soundStream,
  type Trim,
  withinEdit,
} from "./trim.ts";

/** Packets of a chunk's span compared with what the decoder returned; a part is absent when the chunk has no such track. */
export interface PacketCounts {
  pictures?: PictureCounts;
  /** Seconds of sound in the source's packets. */
  sound?: number;
  /** Seconds that the decoder did not return and the output replaces with silence; absent when the output is shorter instead. */
  silenced?: number;
  /** Seconds from the start of the span to its first audio packet, and to the end of its last; absent without audio packets. */
  heard?: { from: number; until: number };
}

/** Seconds by which audio may differ because of edges, priming and another codec's frame size. */
export const SOUND_TOLERANCE = 0.1;

/** The pictures of a span: the source's packets compared with the decoder's output. */
export interface PictureCounts {
  decoded: number;
  /** Pictures in the source that the decoder did not return. */
  missing: number;
  /** Time of the first missing picture, in seconds relative to the span; null when none is missing or times are unknown. */
  missing_at: number | null;
  /**
   * Whether the missing pictures precede the first decoded one, as when decoding starts at a picture that references earlier
   * ones.
   */
  late_start: boolean;
  /** Pictures before the source's first entry point, which no decoder can return. */
  unreadable: number;
  /** Decoded pictures of bursts that the output's constant rate cannot show; absent for none. */
  crowded?: number;
}

interface ListedPackets {
  /** Presentation times in seconds relative to the span; decoding times when `timed` is false. */
  times: readonly number[];
  /** Whether the container stores presentation times; without them (AVI), packets can be counted but not matched. */
  timed: boolean;
}

/** Parameters of the comparison. */
export interface CountRules {
  /** Seconds of the span; null for up to the end. */
  length: number | null;
  /** Start of the picture visible at the beginning, in seconds relative to the span: 0 or less. */
  firstPicture: number;
  /** Whether a packet may contain a single field. */
  fields: boolean;
  /** Whether decoding started at the beginning of the source. */
  from_start: boolean;
  /** Whether the last packet may be cut off; absent for false. */
  truncated?: true;
  /** Tolerance of a count without times, in pictures: reordering blurs the edges of the span. */
  slack: number;
}

const SAME = 0.002;
// Share of the frame distance within which a second field may follow; nominally it is half.
const FIELD = 0.75;
const PAIRED = 1.5;

/** Compares the packets of a span with the pictures decoded from them. */
export function countPictures(
  list: ListedPackets,
  decodedTimes: readonly number[],
  rules: CountRules,
): PictureCounts {
  const packets = inSpan(list.times, rules);
  const listedTimes = distinct(packets);
  const decoded = distinct(inSpan(decodedTimes, rules));
  const none = { decoded: decoded.length, missing: 0, missing_at: null, late_start: false, unreadable: 0 };
  // ffmpeg gives a second field without a time the time of its picture or of the next one.
  const paired = rules.fields && packets.length > PAIRED * listedTimes.length;
  const pictures = paired ? Math.floor(packets.length / 2) : listedTimes.length;
  const cut = rules.truncated ? 1 : 0;
  // After hidden pictures out of order, a decoder may give all later ones a time that is too early.
  const absent = until(list.times, rules).length - until(decodedTimes, rules).length;
  const short = Math.min(absent, pictures - decoded.length) - cut - (list.timed ? 0 : rules.slack);
  if (short <= 0) return none;
  if (!list.timed) return { ...none, missing: short, late_start: true };

  const reach = rules.fields ? FIELD * medianGap(decoded) : 0;
  const missing = unmatched(listedTimes, decoded, reach);
  const first = decoded[0] ?? Number.POSITIVE_INFINITY;
  const missingTimes =
    rules.from_start && decoded.length > 0 ? missing.filter((time) => time > first) : missing;
  const unreadable = missing.length - missingTimes.length;
  const [missing_at = null] = missingTimes;
  return {
    decoded: decoded.length,
    // A picture whose time the decoder gets wrong looks unmatched but is not missing.
    missing: Math.min(missingTimes.length, short),
    missing_at,
    unreadable,
    late_start: missing_at !== null && missing_at < first,
  };
}

// Two measurements of the same rate differ by less than 1 %.
const SAME_RATE = 0.99;

/**
 * Counts the pictures of bursts that the constant rate of an output cannot show, from their times in seconds. Counts none if the rate is
 * below the average, because it then omits pictures everywhere. The output plays at `speed`.
 */
export function countCrowded(
  times: readonly number[],
  { fps = DEFAULT_FPS }: Pick<Source, "fps">,
  rate: number | null,
  speed = 1,
): { crowded?: number } {
  if (rate === null || rate < fps * speed * SAME_RATE) return {};
  let [crowded, next] = [0, Number.NEGATIVE_INFINITY];
  for (const time of times.toSorted((one, other) => one - other)) {
    const place = (time * rate) / speed;
    if (place <= next - 1) crowded++;
    else next = Math.max(next, place) + 1;
  }
  return crowded > 0 ? { crowded } : {};
}

/** Returns the rules for comparing the pictures of a chunk. */
export function countRules(chunk: Chunk, source: Source): CountRules {
  const edges = Number(chunk.start > 0) + Number(chunk.end !== null);
  return {
    length: chunk.end === null ? null : chunk.end - chunk.start,
    firstPicture: (chunk.shown_from ?? chunk.start) - chunk.start,
    fields: source.interlaced === true,
    from_start: (chunk.decode_from ?? chunk.start) === 0,
    ...(source.truncated && { truncated: true as const }),
    slack: 2 * edges,
  };
}

function until(times: readonly number[], { length }: CountRules): number[] {
  return length === null ? [...times] : times.filter((time) => time < length - EPSILON_SECONDS);
}

function inSpan(times: readonly number[], rules: CountRules): number[] {
  const inside = until(times, rules).filter((time) => time >= rules.firstPicture - EPSILON_SECONDS);
  return inside.map((time) => Math.max(0, time)).sort((a, b) => a - b);
}

function distinct(sorted: readonly number[]): number[] {
  return sorted.filter((time, index) => index === 0 || time - (sorted[index - 1] ?? 0) > 1e-5);
}

function unmatched(times: readonly number[], decoded: readonly number[], reach: number): number[] {
  let next = 0;
  return times.filter((time) => {
    while (next < decoded.length && (decoded[next] ?? 0) < time - SAME - reach) next++;
    return !((decoded[next] ?? Number.POSITIVE_INFINITY) <= time + SAME);
  });
}

function medianGap(times: readonly number[]): number {
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
}

/** Names of the lists that ffmpeg writes of the packets it reads and the pictures it decodes; they follow the path prefix. */
export const LISTS = {
  packets: "packets.txt",
  decoded: "decoded.txt",
  sound: "sound.txt",
  decodedSound: "heard.txt",
} as const;

/** Returns the prefix of the list names of one part of a joined video. */
export function listPrefix({ input }: Pick<PlacedPart, "input">): string {
  return input === 0 ? "" : `${input}-`;
}

/** Returns the names of all lists that a plan may have. */
export function listNames({ concat, parts }: Plan): string[] {
  return (concat ?? (parts ? partRuns({ parts }) : [{ input: 0 }])).flatMap((part) =>
    Object.values(LISTS).map((name) => listPrefix(part) + name),
  );
}

/** Returns a filter chain that lists every picture passing through it; `folder` is the path prefix of the lists. */
export function listPictures(folder: string): string {
  // Only the counting branch gets the microsecond time base: the other must keep its exact times.
  return (
    "split[counted][kept];[counted]settb=AVTB,metadata=add:key=n:value=1," +
    `metadata=print:file=${folder}${LISTS.decoded},nullsink;[kept]null`
  );
}

export function listPackets(plan: Plan, chunk: Chunk, source: Source, trim: Trim, folder: string): string[] {
  const hasVideo = hasPictures(plan) && chunk.track !== "audio" && !chunk.keyframes_only;
  const streams = {
    pictures: hasVideo ? videoStream(source) : null,
    sound: plan.audio && chunk.track !== "video" ? soundStream(plan) : null,
  };
  return listInput(source, folder, streams, chunk.end === null ? null : trim.lead + chunk.end - chunk.start);
}

/** Returns the arguments that list the packets of an input's streams, up to `until` seconds; `folder` is the path prefix of the lists. */
export function listInput(
  source: Source,
  folder: string,
  { pictures, sound }: { pictures: string | null; sound: string | null },
  until: number | null = null,
): string[] {
  const list = (map: string, name: string, ...more: string[]) => [
    ...["-map", map, "-c", "copy", ...more],
    ...["-copyinkf", "-copypriorss", "1", "-avoid_negative_ts", "disabled"],
    ...(until === null || isMisnumbered(source) ? [] : ["-t", formatSeconds(until)]),
    ...["-f", "framecrc", folder + name],
  ];
  const unpack = source.codecs?.video === "mpeg4" ? ["-bsf:v", "mpeg4_unpack_bframes"] : [];
  return [
    ...(pictures === null ? [] : list(pictures, LISTS.packets, ...unpack)),
    ...(sound === null ? [] : list(sound, LISTS.sound)),
  ];
}

/** Returns the arguments that list the decoded audio of a part; the output fills its gaps with silence. */
export function listDecodedSound(
  { input, source, sound }: Pick<PlacedPart, "input" | "source" | "sound">,
  folder: string,
  until: number | null,
): string[] {
  if (sound === null) return [];
  // For decoded sound, ffmpeg counts -t from the first packet, which may precede time 0.
  const limit =
    until === null || isMisnumbered(source) ? [] : ["-filter:a", `atrim=end=${formatSeconds(until)}`];
  const decoded = ["-map", `${input}:a:${sound}`, "-c:a", "pcm_s16le", "-avoid_negative_ts", "disabled"];
  return [...decoded, ...limit, "-f", "framecrc", folder + LISTS.decodedSound];
}

/** Returns the arguments that list the packets and the decoded audio of the inputs that read the parts of a plan. */
export function listParts(plan: Plan, runs: readonly RunInput[], source: Source, folder: string): string[] {
  const { sound_track = 0 } = plan;
  return runs.flatMap(({ input, end, origin }) => {
    const own = folder + listPrefix({ input });
    const until = end + origin;
    const streams = {
      pictures: plan.image ? videoStream(source, input) : null,
      sound: plan.audio ? `${input}:a:${sound_track}` : null,
    };
    const packets = listInput(source, own, streams, until);
    if (!plan.audio) return packets;
    return [...packets, ...listDecodedSound({ input, source, sound: sound_track }, own, until)];
  });
}

/** Compares the lists that ffmpeg wrote; `read` returns the text of one, or null when it does not exist. */
export function readLists(
  plan: Plan,
  part: Chunk,
  source: Source,
  read: (name: string) => string | null,
): PacketCounts {
  const chunk = withinEdit(plan, part, source);
  if (plan.concat) return readParts(plan, read);
  if (plan.parts && chunk.track !== "video") {
    return plan.image
      ? { pictures: readPartPictures(plan, chunk, source, read) }
      : readPartSounds(plan, chunk, source, read);
  }
  const packets = read(LISTS.packets);
  const sound = read(LISTS.sound);
  const counts: PacketCounts = {};
  const { lead } = createTrim(plan, chunk, source);
  if (packets !== null && hasPictures(plan)) {
    const list = parsePackets(packets, lead, source);
    const copied = plan.video?.mode === "copy";
    const decoded = copied ? list.times : parseDecoded(read(LISTS.decoded) ?? "");
    const rules = countRules(chunk, source);
    const rate = copied ? null : constantFps({ ...plan, image: null });
    counts.pictures = {
      ...countPictures(list, decoded, rules),
      ...countCrowded(distinct(inSpan(decoded, rules)), source, rate, plan.speed),
    };
  }
  if (sound !== null) {
    const soundSpan = soundOf(packetsOf(sound), lead, playable(chunk, source), isMisnumbered(source));
    Object.assign(counts, withRates(soundSpan, chunk, source));
  }
  return counts;
}

function withRates(soundSpan: ListedSound, { start, end }: Chunk, source: Source): ListedSound {
  const { duration } = source;
  const isWhole = start === 0 && end === null;
  if (!isTimedByFirst(source) || duration === undefined || !isWhole || !soundSpan.heard) return soundSpan;
  return { sound: duration, heard: { ...soundSpan.heard, until: soundSpan.heard.from + duration } };
}

function playable(chunk: Chunk, source: Source): Chunk {
  if (!endsInFrame(source) || source.duration === undefined) return chunk;
  return { ...chunk, end: Math.min(chunk.end ?? source.duration, source.duration) };
}

function readParts(plan: Plan, read: (name: string) => string | null): PacketCounts {
  const parts = placedParts(plan);
  const whole: PictureCounts = { ...NO_PICTURES };
  let [soundSeconds, silenced]: [number | null, number] = [null, 0];
  const hasVideo = parts.some(({ video }) => video !== null);
  for (const part of parts) {
    const { source, seconds, start = 0, end = null } = part;
    const text = (name: string) => read(listPrefix(part) + name) ?? "";
    const entry = rangeEntry(plan, part);
    const at = entry ? start + entry.origin : part.at;
    const list = parsePackets(text(LISTS.packets), at, source);
    const decoded = parseDecoded(text(LISTS.decoded)).map((time) => time - at);
    const own = countRange({ ...WHOLE, start, end }, source, list, decoded);
    addCounts(whole, { ...own, late_start: false }, part.at);
    const shown = decoded.filter((time) => time > -EPSILON_SECONDS && time < seconds);
    const { crowded = 0 } = countCrowded(distinct(shown), source, constantFps({ ...plan, image: null }));
    if (crowded > 0) whole.crowded = (whole.crowded ?? 0) + crowded;
    if (part.sound === null) continue;
    const span = { ...WHOLE, end: seconds };
    const { sound: packetSeconds } = soundOf(packetsOf(text(LISTS.sound)), at, span);
    const loss = packetSeconds - soundOf(packetsOf(text(LISTS.decodedSound)), at, span).sound;
    soundSeconds = (soundSeconds ?? 0) + packetSeconds;
    if (loss > SOUND_TOLERANCE + PRIMING) silenced += loss;
  }
  return {
    ...(hasVideo && { pictures: whole }),
    ...(soundSeconds !== null && { sound: soundSeconds }),
    ...(silenced > 0 && { silenced }),
  };
}

function readPartPictures(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  read: (name: string) => string | null,
): PictureCounts {
  const whole = { ...NO_PICTURES };
  for (const { input, origin, parts } of runInputs(plan, chunk, source)) {
    const text = (name: string) => read(listPrefix({ input }) + name) ?? "";
    const list = parsePackets(text(LISTS.packets), origin, source);
    const decoded = parseDecoded(text(LISTS.decoded)).map((time) => time - origin);
    for (const { start, end } of parts) {
      const since = (times: readonly number[]) => times.map((time) => time - start);
      const packets = { ...list, times: since(list.times) };
      const own = countRange({ ...chunk, start, end }, source, packets, since(decoded));
      addCounts(whole, own, start - chunk.start);
    }
  }
  return whole;
}

function countRange(range: Chunk, source: Source, packets: ListedPackets, decoded: readonly number[]) {
  const earlier = packets.times.filter((time) => time <= EPSILON_SECONDS);
  const first = range.start > 0 && earlier.length > 0 ? Math.min(0, Math.max(...earlier)) : 0;
  const shown_from = Math.max(0, range.start + first);
  return countPictures(packets, decoded, countRules({ ...range, shown_from }, source));
}

const NO_PICTURES: PictureCounts = {
  decoded: 0,
  missing: 0,
  missing_at: null,
  late_start: false,
  unreadable: 0,
};

function addCounts(whole: PictureCounts, own: PictureCounts, at: number): void {
  whole.decoded += own.decoded;
  whole.missing += own.missing;
  whole.unreadable += own.unreadable;
  whole.late_start ||= own.late_start;
  if (own.missing_at !== null) whole.missing_at ??= at + own.missing_at;
}

function readPartSounds(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  read: (name: string) => string | null,
): PacketCounts {
  let [sound, silenced] = [0, 0];
  const timeless = isMisnumbered(source);
  const runs = runInputs(plan, chunk, source).map((run) => {
    const packets = (name: string) => [...packetsOf(read(listPrefix(run) + name) ?? "")];
    const [packetList, decoded] = [packets(LISTS.sound), packets(LISTS.decodedSound)];
    // ffmpeg does not list the packet that contains the limit of its input, but the decoded sound reaches that limit.
    const last = Math.max(lastSound(packetList, timeless), lastSound(decoded, timeless)) - run.origin;
    return { ...run, packetList, decoded, last };
  });
  // If sound follows a part, the source is not truncated there: the part precedes the track or lies in one of its gaps.
  const last = Math.max(...runs.map((run) => run.last));
  const isHeard = runs.some(({ packetList, decoded }) => packetList.length > 0 || decoded.length > 0);
  const precedesSound = !isHeard && plan.kind !== "audio";
  for (const { origin, parts, packetList, decoded } of runs) {
    for (const part of parts) {
      if (!precedesSound) checkPartEnd(part, last, plan, source);
      const lead = part.start + (timeless ? 0 : origin);
      const [own, heard] = [packetList, decoded].map((all) => soundOf(all, lead, part, timeless).sound);
      sound += own ?? 0;
      const loss = (own ?? 0) - (heard ?? 0);
      // Decoders drop packets only at the start of the source, so a short part elsewhere may lose at most half of its sound.
      const edge = SOUND_TOLERANCE + PRIMING;
      if (loss > (part.start < PRIMING ? edge : Math.min(edge, (part.end - part.start) / 2)))
        silenced += loss;
    }
  }
  return { sound: roundTime(sound), ...(silenced > 0 && { silenced: roundTime(silenced) }) };
}

function lastSound(packets: readonly Packet[], timeless: boolean): number {
  if (timeless) return packets.reduce((sum, { duration }) => sum + duration, 0);
  return packets.reduce((last, { dts, pts, duration }) => Math.max(last, (pts ?? dts) + duration), 0);
}

const PRIMING = 0.05;

const WHOLE: Chunk = { index: 0, track: "all", start: 0, end: null };

function hasPictures({ video, image }: Plan): boolean {
  return video !== null || image?.animated === true;
}

interface Packet {
  dts: number;
  /** Presentation time in ticks; null if the container stores none. */
  pts: number | null;
  duration: number;
  size: number;
  /** The resolution of the clock, in seconds. */
  tick: number;
}

const NO_TIME = -9e18;
// AV_PKT_FLAG_DISCARD: needed for decoding, but not presented (edit lists).
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
    yield { dts: dts * tick, pts: pts < NO_TIME ? null : pts * tick, duration: duration * tick, size, tick };
  }
}

// Bytes of the largest MPEG-4 Visual picture that is not coded (vop_coded = 0) and repeats the previous one.
const NOT_CODED = 8;

function parsePackets(text: string, lead: number, { codecs, untimed, fps = 1 }: Source): ListedPackets {
  const empty_size = codecs?.video === "mpeg4" ? NOT_CODED : 0;
  const packets = [...packetsOf(text)].filter(({ size }) => size > empty_size);
  if (untimed) {
    const start = packets[0] ? (packets[0].pts ?? packets[0].dts) : 0;
    return { timed: true, times: packets.map((_, index) => start + index / fps - lead) };
  }
  const timed = packets.every(({ pts }) => pts !== null);
  return { timed, times: packets.map(({ dts, pts }) => (timed ? (pts ?? dts) : dts) - lead) };
}

function parseDecoded(text: string): number[] {
  return Array.from(text.matchAll(/^frame:\d+\s+pts:(-?\d+)/gm), ([, pts]) => Number(pts) / 1e6);
}

// The longest packet of Opus or AAC, in seconds; what follows it is a gap.
const MAX_SOUND_PACKET = 0.13;

// Chrome's recorder writes MP4 without durations of Opus: such a packet lasts until the next, and the last one as long as the one before.
function* withDurations(packets: Iterable<Packet>): Generator<Packet> {
  let [previous, duration]: [Packet | null, number] = [null, 0];
  for (const packet of packets) {
    if (previous) {
      const distance = (packet.pts ?? packet.dts) - (previous.pts ?? previous.dts);
      duration = previous.duration || Math.max(0, Math.min(distance, MAX_SOUND_PACKET));
      yield { ...previous, duration };
    }
    previous = packet;
  }
  if (previous) yield { ...previous, duration: previous.duration || duration };
}

type ListedSound = Pick<PacketCounts, "heard"> & { sound: number };

function soundOf(
  packets: Iterable<Packet>,
  lead: number,
  { start, end }: Pick<Chunk, "start" | "end">,
  timeless = false,
): ListedSound {
  const length = end === null ? Number.POSITIVE_INFINITY : end - start;
  let [seconds, from, until, clock] = [0, Number.POSITIVE_INFINITY, 0, 0];
  for (const { dts, pts, duration, tick } of withDurations(packets)) {
    const time = (timeless ? clock : (pts ?? dts)) - lead;
    clock += duration;
    const edges = [Math.max(time, 0), Math.min(time + duration, length)] as const;
    if (edges[1] <= edges[0]) continue;
    // A coarse clock rounds durations: packets overlap (TrueHD in Matroska, some AVIs) or are a tick apart (DTS in Matroska).
    const follows = edges[0] - until < 1.5 * tick;
    seconds += Math.max(0, edges[1] - (follows ? until : edges[0]));
    from = Math.min(from, edges[0]);
    until = Math.max(until, edges[1]);
  }
  const heard = { from: roundTime(from), until: roundTime(until) };
  return { sound: roundTime(seconds), ...(seconds > 0 && { heard }) };
}
