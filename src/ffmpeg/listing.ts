import { type PlacedPart, placedParts } from "../media/features/concat-plan.ts";
import type { Chunk, Plan } from "../media/plan.ts";
import type { Source } from "../media/source.ts";
import { type Cut, createCut, soundStream } from "./span.ts";
import {
  type ListedPackets,
  type PictureTally,
  SOUND_TOLERANCE,
  type Tally,
  tallyPictures,
  tallyRules,
} from "./tally.ts";

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
