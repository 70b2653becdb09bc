import { roundTime } from "../media/clock.ts";
import { FFMPEG_FPS } from "../media/features/fps.ts";
import { matrixOrientation, type Orientation } from "../media/picture-geometry.ts";
import { bytesOf, MIB } from "../util/bytes.ts";

/** Maximum boxes to examine for the index of a file. */
export const MAX_TOP_BOXES = 64;
/** Maximum bytes of an index to read. */
export const MAX_INDEX = 24 * MIB;

/** One box of an ISO base media file (ISO/IEC 14496-12, 4.2) within bytes in memory. */
export interface Box {
  kind: string;
  /** Start and end of its content in the bytes. */
  start: number;
  end: number;
}

/** Lists the boxes in a range; truncates a last box that extends beyond the end. */
export function listBoxes(view: DataView, start: number, end: number): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end; ) {
    const { kind, size, header } = readBoxHeader(view, at, end - at);
    if (size < header) break;
    boxes.push({ kind, start: at + header, end: Math.min(at + size, end) });
    at += size;
  }
  return boxes;
}

/** Finds the first box on a path of nested types; null when there is none. */
export function findBox(view: DataView, within: Box, ...path: string[]): Box | null {
  let current: Box | undefined = within;
  for (const kind of path) {
    current = current && listBoxes(view, current.start, current.end).find((box) => box.kind === kind);
  }
  return current ?? null;
}

/** Parses the header of a box that has `left` bytes up to the end of the file; a size of 0 extends to the end. */
export function readBoxHeader(
  view: DataView,
  at: number,
  remaining: number,
): { kind: string; size: number; header: number } {
  const short = view.getUint32(at);
  const kind = String.fromCharCode(...[4, 5, 6, 7].map((offset) => view.getUint8(at + offset)));
  if (short === 0) return { kind, size: remaining, header: 8 };
  if (short !== 1) return { kind, size: short, header: 8 };
  if (at + 16 > view.byteLength) return { kind, size: 0, header: 16 };
  return { kind, size: Number(view.getBigUint64(at + 8)), header: 16 };
}

/**
 * Returns the timescale, in ticks per second, of an mvhd or mdhd (ISO/IEC 14496-12, 8.2.2 and 8.4.2); 0 when the box is
 * absent or truncated.
 */
export function readTimescale(view: DataView, box: Box | null): number {
  if (!box || box.end - box.start < 24) return 0;
  return view.getUint32(box.start + (view.getUint8(box.start) === 1 ? 20 : 12));
}

/**
 * Reads the optional fields of a box, in their order, `offset` bytes after its start; each call names the flag of the next field and
 * returns undefined when that is absent.
 */
export function readFields(view: DataView, box: Box, offset: number) {
  const flags = view.getUint32(box.start) & 0xffffff;
  let next = box.start + offset;
  return (flag: number, size = 4): number | undefined => {
    if ((flags & flag) === 0 || next + size > box.end) return undefined;
    next += size;
    return size === 8 ? Number(view.getBigUint64(next - 8)) : view.getUint32(next - 4);
  };
}

/** Returns a track's id, from its tkhd (8.3.2); 0 when that is absent or truncated. */
export function readTrackId(view: DataView, trak: Box): number {
  const tkhd = findBox(view, trak, "tkhd");
  if (!tkhd || tkhd.end - tkhd.start < 24) return 0;
  return view.getUint32(tkhd.start + (view.getUint8(tkhd.start) === 1 ? 20 : 12));
}

/** Returns a track's handler type, such as `vide` or `soun` (8.4.3); null when it is missing. */
export function readHandler(view: DataView, trak: Box): string | null {
  const hdlr = findBox(view, trak, "mdia", "hdlr");
  if (!hdlr || hdlr.end - hdlr.start < 12) return null;
  const at = hdlr.start + 8;
  return String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));
}

export interface Edit {
  /** Ticks of the whole file. */
  length: number;
  /** Start in ticks of the track; below 0 for an empty edit. */
  from: number;
  /** Whether it plays at normal speed. */
  plain: boolean;
  /** Whether it is the last in the list. */
  last: boolean;
}

/** Parses an edit list (8.6.6) one entry at a time, because a damaged one may be long. */
export function* readEdits(view: DataView, elst: Box): Generator<Edit, void> {
  const wide = view.getUint8(elst.start) === 1;
  const size = wide ? 20 : 12;
  for (let at = elst.start + 8; at + size <= elst.end; at += size) {
    yield {
      length: wide ? Number(view.getBigUint64(at)) : view.getUint32(at),
      from: wide ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4),
      plain: view.getUint32(at + size - 4) === 0x10000,
      last: at + size >= elst.end,
    };
  }
}

/**
 * Returns the seconds to add to a track's media times: its leading empty edits, minus the start of the first real one. `ticks` is the
 * track's timescale.
 */
export function readShift(moov: DataView, trak: Box, ticks: number): number {
  const elst = findBox(moov, trak, "edts", "elst");
  const movieTicks = readTimescale(
    moov,
    findBox(moov, { kind: "moov", start: 8, end: moov.byteLength }, "mvhd"),
  );
  let shift = 0;
  if (!elst || movieTicks === 0) return shift;
  for (const { length, from } of readEdits(moov, elst)) {
    if (from >= 0) return shift - from / ticks;
    shift += length / movieTicks;
  }
  return shift;
}

/** The packets of one track, summed up from the index of an MP4 or MOV. */
export interface TrackIndex {
  packets: number;
  bytes: number;
  /** Duration of all packets in seconds. */
  seconds: number;
  /** Seconds that a player shows, with edits applied, without an empty edit at the start of all pictures and sound. */
  visibleSeconds: number;
  /** Seconds from the first picture or sound of the file to the end of this track; null when edits leave that open. */
  end: number | null;
  /** Whether all its pictures have the same time, so that they count as {@link FFMPEG_FPS} a second; null for a track without pictures. */
  untimed: boolean | null;
  /** Whether its packets are evenly spaced, up to the rounding of a tick; the last one may have any duration. */
  even: boolean;
  /** How players rotate and mirror the track's pictures. */
  orientation: Orientation;
  /** Whether its edit list shows several parts of its pictures or sound, one at another rate than 1, or only parts without a length. */
  edits: "none" | "parts" | "gap" | "rate" | "empty";
  /** Seconds at its start that its only edit hides, the priming of a decoder included; 0 for several edits. */
  hidden: number;
  /** Whether its only edit hides more at its start than decoders need: any picture, or sound beyond their priming. */
  preroll: boolean;
  /** Seconds at its end that its only edit hides; 0 for several edits, and for less than a few pictures. */
  postroll: number;
  /** Packets that start, and seconds that play, within its only edit if that hides any; otherwise all. */
  visible: { packets: number; seconds: number };
  /**
   * Sample descriptions in use: `several` if the size, the channels or another setting changes midway, `codecs` if the codec does,
   * `unused` if the index also lists descriptions that no packet uses, and `encrypted` if one needs a key (ISO/IEC 23001-7).
   */
  descriptions: "one" | "unused" | "several" | "codecs" | "encrypted";
  /** Whether the index states the length of a tick in which its times and edits are counted. */
  timed: boolean;
  /** Whether its tables are consistent; processing inconsistent ones may never end. */
  consistent: boolean;
}

// The priming of a decoder, which every edit list hides, is shorter.
const MIN_PREROLL = 0.15;

const MAX_EXCESS = 60;

/**
 * Parses the sample tables of every track (ISO/IEC 14496-12, 8.6 and 8.7), by track id, and the time in seconds at which pictures
 * or sound begin; 0 when the edits leave that open.
 */
export function readTracks(view: DataView, moov: Box): { tracks: Map<number, TrackIndex>; start: number } {
  const tracks = new Map<number, TrackIndex>();
  const presentations = new Map<number, Presentation | null>();
  const starts: number[] = [];
  const delays = new Map<number, number>();
  const movie = readTimescale(view, findBox(view, moov, "mvhd"));
  for (const trak of listBoxes(view, moov.start, moov.end).filter(({ kind }) => kind === "trak")) {
    const tkhd = findBox(view, trak, "tkhd");
    const stbl = findBox(view, trak, "mdia", "minf", "stbl");
    if (!tkhd || !stbl || tkhd.end - tkhd.start < 36) continue;
    const wide = view.getUint8(tkhd.start) === 1;
    const id = readTrackId(view, trak);
    const ticks = wide ? Number(view.getBigUint64(tkhd.start + 28)) : view.getUint32(tkhd.start + 20);
    const table = (kind: string) => findBox(view, stbl, kind);
    const times = readRuns(view, table("stts"));
    const offsets = readRuns(view, table("ctts"));
    const sizes = readSizes(view, table("stsz"), times.count);
    const timescale = readTimescale(view, findBox(view, trak, "mdia", "mdhd"));
    const handler = readHandler(view, trak) ?? "";
    const untimed = handler === "vide" ? isUntimed(view, table("stts"), table("ctts")) : null;
    const nominal = untimed ? sizes.count / FFMPEG_FPS : null;
    const seconds = nominal ?? toSeconds(times.sum, timescale);
    const first = toSeconds(offsets.first, timescale);
    const last = readLatest(view, table("stts"), table("ctts"));
    const span = nominal ?? Math.max(seconds, toSeconds(last, timescale) - first);
    const edits = sumEdits(view, trak, movie);
    // Editors leave the header's duration as it was.
    const total = edits.parts > 1 ? edits.delay + edits.seconds : toSeconds(ticks, movie);
    const duration = nominal === null ? total : edits.delay + nominal;
    const presentation =
      nominal === null
        ? readPresentation(view, trak, movie, { first, span })
        : { start: edits.delay, end: edits.delay + nominal, hidden: 0, from: 0, rest: nominal };
    presentations.set(id, presentation);
    // Text and time codes may start earlier, with an empty packet.
    const plays = /^(vide|soun)$/.test(handler);
    if (plays) {
      starts.push(presentation?.start ?? Number.NaN);
      delays.set(id, edits.delay);
    }
    const limit = presentation ? Math.max(span, presentation.end) : span + MAX_EXCESS;
    const edited = plays && presentation ? readPlayed(view, trak, presentation, timescale) : null;
    tracks.set(id, {
      packets: sizes.count,
      bytes: sizes.sum,
      seconds,
      end: null,
      untimed,
      even: untimed === true || isEven(view, table("stts")),
      orientation: readOrientation(view, tkhd),
      edits: plays ? editsOf(view, trak) : "none",
      hidden: plays ? (presentation?.hidden ?? 0) : 0,
      ...(edited ?? { preroll: false, postroll: 0, visible: { packets: sizes.count, seconds } }),
      visibleSeconds: duration > 0 && duration <= span + MAX_EXCESS ? Math.min(duration, limit) : seconds,
      descriptions: plays ? descriptionsOf(view, stbl) : "one",
      timed: !plays || (timescale > 0 && (movie > 0 || !placesParts(view, trak))),
      consistent:
        times.count === sizes.count &&
        offsets.count <= sizes.count &&
        largestChunk(view, table("stsc")) <= sizes.count,
    });
  }
  const start = Math.min(...starts);
  for (const [id, track] of tracks) {
    const end = (presentations.get(id)?.end ?? Number.NaN) - start;
    if (end > 0) track.end = roundTime(end);
    const delay = delays.has(id) ? Math.min(...delays.values()) : 0;
    if (track.visibleSeconds > delay) track.visibleSeconds -= delay;
  }
  return { tracks, start: Number.isFinite(start) ? Math.max(0, start) : 0 };
}

/** Sums up a track's edit list: its leading empty edits, and its parts; none when a part states no length. */
function sumEdits(
  view: DataView,
  trak: Box,
  movie: number,
): { delay: number; parts: number; seconds: number } {
  const elst = findBox(view, trak, "edts", "elst");
  let [delay, parts, seconds] = [0, 0, 0];
  for (const { from, length } of elst ? readEdits(view, elst) : []) {
    if (from >= 0 && length === 0) return { delay, parts: 0, seconds: 0 };
    if (from >= 0) {
      parts++;
      seconds += toSeconds(length, movie);
    } else if (parts === 0) {
      delay += toSeconds(length, movie);
    }
  }
  return { delay, parts, seconds };
}

// Every edit but the last ends after a length in ticks of the file, so those edits need its timescale.
function placesParts(view: DataView, trak: Box): boolean {
  const elst = findBox(view, trak, "edts", "elst");
  for (const { length, last } of elst ? readEdits(view, elst) : []) if (!last && length > 0) return true;
  return false;
}

// Fragments may use descriptions that the index lists without packets.
function descriptionsOf(view: DataView, stbl: Box): TrackIndex["descriptions"] {
  const [stsd, stsc] = [findBox(view, stbl, "stsd"), findBox(view, stbl, "stsc")];
  const entries = stsd ? listBoxes(view, stsd.start + 8, stsd.end) : [];
  if (entries.some(({ kind }) => kind === "encv" || kind === "enca")) return "encrypted";
  if (entries.length <= 1) return "one";
  const numbers = new Set<number>();
  for (let at = (stsc?.start ?? 0) + 8; stsc && at + 12 <= stsc.end; at += 12)
    numbers.add(view.getUint32(at + 8));
  const descriptions = entries.filter((_, index) => numbers.size === 0 || numbers.has(index + 1));
  const textOf = ({ start, end }: Box) => bytesOf(view).subarray(start, end).join();
  if (new Set(descriptions.map(({ kind }) => kind)).size > 1) return "codecs";
  return new Set(descriptions.map(textOf)).size > 1 ? "several" : "unused";
}

function editsOf(view: DataView, trak: Box): TrackIndex["edits"] {
  const elst = findBox(view, trak, "edts", "elst");
  let [parts, longest] = [0, 0];
  for (const { from, length, plain, last } of elst ? readEdits(view, elst) : []) {
    if (from >= 0 && !plain) return "rate";
    if (from >= 0) {
      parts++;
      longest = Math.max(longest, length);
    }
    // ffmpeg (5.1) fills a gap between two parts with the start of the media.
    else if (parts > 0 && !last) return "gap";
  }
  if (parts > 0 && longest === 0) return "empty";
  return parts > 1 ? "parts" : "none";
}

// The matrix precedes width and height; its first two columns are in fixed point of 16 bits.
function readOrientation(view: DataView, tkhd: Box): Orientation {
  const at = tkhd.end - 44;
  if (at < tkhd.start) return matrixOrientation([1, 0, 0, 1]);
  const [a, b, c, d] = [0, 4, 12, 16].map((offset) => view.getInt32(at + offset)) as [
    number,
    number,
    number,
    number,
  ];
  return matrixOrientation([a, b, c, d]);
}

/** Start and end of a track's presentation, in seconds of the file. */
interface Presentation {
  start: number;
  end: number;
  hidden: number;
  /** Start of its edit in seconds of the track. */
  from: number;
  /** Seconds from the start to the end of the last packet. */
  rest: number;
}

// Null for an edit list other than empty edits followed by one real edit (8.6.6); `span` ends with the last packet shown.
function readPresentation(
  view: DataView,
  trak: Box,
  movie: number,
  { first, span }: { first: number; span: number },
): Presentation | null {
  const elst = findBox(view, trak, "edts", "elst");
  if (!elst) return { start: first, end: first + span, hidden: 0, from: 0, rest: span };
  const mdhd = findBox(view, trak, "mdia", "mdhd");
  let delay = 0;
  for (const { length, from, plain, last } of readEdits(view, elst)) {
    const seconds = toSeconds(length, movie);
    if (from < 0) {
      delay += seconds;
      continue;
    }
    if (!plain || !last) return null;
    const shownFrom = toSeconds(from, readTimescale(view, mdhd));
    const skipped = shownFrom - first;
    const rest = span - Math.max(0, skipped);
    // The edit's length is in coarse ticks of the file; if it covers everything, use the track's finer ones.
    const whole = length === 0 || Math.abs(seconds - rest) <= 2 / movie;
    const start = delay + Math.max(0, -skipped);
    const end = whole ? start + rest : Math.min(delay + seconds, start + rest);
    return { start, end, hidden: Math.max(0, skipped), from: shownFrom, rest };
  }
  return null;
}

// stts and ctts: pairs of a packet count and the value of each.
function readRuns(view: DataView, box: Box | null): { count: number; sum: number; first: number } {
  let [count, sum] = [0, 0];
  const first = box && box.end - box.start >= 16 ? view.getInt32(box.start + 12) : 0;
  for (let at = (box?.start ?? 0) + 8; box && at + 8 <= box.end; at += 8) {
    const packets = view.getUint32(at);
    count += packets;
    sum += packets * view.getUint32(at + 4);
  }
  return { count, sum, first };
}

function isEven(view: DataView, stts: Box | null): boolean {
  let [shortest, longest] = [Number.POSITIVE_INFINITY, 0];
  for (let at = (stts?.start ?? 0) + 8; stts && at + 8 <= stts.end; at += 8) {
    const isLast = at + 16 > stts.end && view.getUint32(at) === 1;
    if (isLast || view.getUint32(at) === 0) continue;
    const delta = view.getUint32(at + 4);
    shortest = Math.min(shortest, delta);
    longest = Math.max(longest, delta);
  }
  return longest - shortest <= 1 && shortest >= MIN_TICKS * (longest - shortest) && longest > 0;
}

const MIN_TICKS = 10;

function isUntimed(view: DataView, stts: Box | null, ctts: Box | null): boolean {
  let [packets, first] = [0, 0];
  for (const { time, delta, run, offset } of timeRuns(view, stts, ctts)) {
    if (packets === 0) first = time + offset;
    if (time + offset !== first || (delta > 0 && run > 1)) return false;
    packets += run;
  }
  return packets > 1;
}

function readPlayed(
  view: DataView,
  trak: Box,
  { start, end, hidden, from, rest }: Presentation,
  ticks: number,
): Pick<TrackIndex, "preroll" | "postroll" | "visible"> | null {
  const stbl = findBox(view, trak, "mdia", "minf", "stbl");
  const table = (kind: string) => stbl && findBox(view, stbl, kind);
  const edges = [from - EDGE, from + end - start - EDGE] as const;
  let [before, packets] = [0, 0];
  for (const { time, delta, run, offset } of timeRuns(view, table("stts"), table("ctts"))) {
    const [early, late] = edges.map((edge) => {
      const remaining = edge * ticks - time - offset;
      if (delta === 0) return remaining > 0 ? run : 0;
      return Math.min(run, Math.max(0, Math.ceil(remaining / delta)));
    }) as [number, number];
    before += early;
    packets += late - early;
  }
  const isVideo = readHandler(view, trak) === "vide";
  const preroll = hidden > MIN_PREROLL || (isVideo && before > 0);
  const postroll = rest - (end - start) > MIN_POSTROLL ? rest - (end - start) : 0;
  const visible = { packets, seconds: end - start };
  return preroll || postroll > 0 ? { preroll, postroll, visible } : null;
}

// Encoders fill their last packet, and reordering may delay the last pictures beyond the edit.
const MIN_POSTROLL = 0.15;

// Edits and times are rounded to different ticks.
const EDGE = 0.0005;

// The sum of decoding times may be less, because reordering at the end may exceed that at the start.
function readLatest(view: DataView, stts: Box | null, ctts: Box | null): number {
  let [latest, duration] = [0, 0];
  for (const { time, delta, run, offset } of timeRuns(view, stts, ctts)) {
    latest = Math.max(latest, time + (run - 1) * delta + offset);
    duration = delta;
  }
  return latest + duration;
}

// Runs of packets with the same duration and offset, each with the decoding time of its first.
function* timeRuns(view: DataView, stts: Box | null, ctts: Box | null) {
  const rows = (box: Box | null) => (box ? Math.max(0, Math.floor((box.end - box.start - 8) / 8)) : 0);
  let [time, row, remaining, offset] = [0, 0, 0, 0];
  for (let each = 0; stts && each < rows(stts); each++) {
    const delta = view.getUint32(stts.start + 12 + each * 8);
    for (let count = view.getUint32(stts.start + 8 + each * 8); count > 0; ) {
      while (remaining === 0 && ctts && row < rows(ctts)) {
        remaining = view.getUint32(ctts.start + 8 + row * 8);
        offset = view.getInt32(ctts.start + 12 + row * 8);
        row++;
      }
      if (remaining === 0) [remaining, offset] = [count, 0];
      const run = Math.min(count, remaining);
      yield { time, delta, run, offset };
      time += run * delta;
      count -= run;
      remaining -= run;
    }
  }
}

// If all packets share one size, only the time table bounds their number.
function readSizes(view: DataView, box: Box | null, timed: number): { count: number; sum: number } {
  if (!box || box.end - box.start < 12) return { count: 0, sum: 0 };
  const shared = view.getUint32(box.start + 4);
  const count = view.getUint32(box.start + 8);
  if (shared > 0) return { count: Math.min(count, timed), sum: shared * Math.min(count, timed) };
  let [rows, sum] = [0, 0];
  for (let at = box.start + 12; at + 4 <= box.end && rows < count; at += 4, rows++) {
    sum += view.getUint32(at);
  }
  return { count: rows, sum };
}

function largestChunk(view: DataView, stsc: Box | null): number {
  let largest = 0;
  for (let at = (stsc?.start ?? 0) + 8; stsc && at + 12 <= stsc.end; at += 12) {
    largest = Math.max(largest, view.getUint32(at + 4));
  }
  return largest;
}

function toSeconds(ticks: number, timescale: number): number {
  return timescale > 0 ? ticks / timescale : 0;
}
