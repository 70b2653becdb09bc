import type { Chapter } from "../media/chapters.ts";
import { findMovieIndex } from "../probe/mp4.ts";
import { findBox, listBoxes, readBoxHeader, readTimescale } from "../probe/mp4-boxes.ts";
import type { ByteReader } from "../runs/ports.ts";
import { flattenCues } from "../subtitles/cue.ts";
import { writeTimedText } from "../subtitles/timed-text.ts";
import type { SubtitleTrack } from "../subtitles/track.ts";
import { concatBytes, viewOf } from "../util/bytes.ts";
import { threeLetters } from "../util/text.ts";
import * as errors from "./errors.ts";
import type { Edit } from "./file-edit.ts";
import {
  type Bytes,
  box,
  cutText,
  fullBox,
  handlerBox,
  lengthOf,
  letters,
  MATRIX,
  MAX_UINT32,
  u16,
  u32,
  u64,
} from "./mp4-boxes.ts";

const TICKS = 1000;
const MAX_NAME = 255;
const GROUP = 3;
const FLAGS = { visible: 3, hidden: 2 } as const;
// 3GPP TS 26.245, 5.16, and QuickTime: the bits for "some samples forced" and "all samples forced".
const FORCED = 0xc0000000;

/** The samples of a text track, with their sizes and durations. */
export interface TextSamples {
  /** Milliseconds before the first is shown; the duration of the last includes them too. */
  delay: number;
  bytes: Bytes;
  sizes: number[];
  /** Duration of each in milliseconds. */
  durations: number[];
}

/** Writes cues as consecutive samples; empty samples fill the gaps. */
export function textSamples({ cues }: SubtitleTrack, until: number): TextSamples {
  const samples: TextSamples = { delay: 0, bytes: [], sizes: [], durations: [] };
  const bytes: Uint8Array[] = [];
  let at = 0;
  const add = (sample: Uint8Array, end: number) => {
    if (end <= at) return;
    bytes.push(sample);
    samples.sizes.push(sample.length);
    samples.durations.push(end - at);
    at = end;
  };
  const empty = new Uint8Array(2);
  for (const cue of flattenCues(cues)) {
    if (cue.start >= until) break;
    add(empty, cue.start);
    add(writeTimedText(cue.text), Math.min(cue.end, until));
  }
  add(empty, Math.max(until, 1));
  return { ...samples, bytes: [concatBytes(bytes)] };
}

const UTF8 = box("encd", [u32(0x100)]);

/** Writes chapter titles as samples, each up to the next; null when none begins before `until`. */
function titleSamples(chapters: readonly Chapter[], until: number): TextSamples | null {
  const edges: number[] = [];
  // No sample may have a duration of 0.
  const add = (seconds: number) =>
    edges.push(Math.max(Math.round(seconds * TICKS), (edges.at(-1) ?? -1) + 1));
  for (const { start } of chapters) add(start);
  const visible = chapters.slice(0, edges.filter((edge) => edge < until).length);
  edges.length = visible.length;
  add(visible.at(-1)?.end ?? 0);
  const samples = visible.map(({ title }) => {
    const text = new TextEncoder().encode(title);
    return concatBytes([u16(text.length), text, ...UTF8]);
  });
  if (samples.length === 0) return null;
  const [delay = 0] = edges;
  const durations = samples.map((_, index) => Math.min(edges[index + 1] ?? 0, until) - (edges[index] ?? 0));
  // ffmpeg (5.1) takes the total duration for the end of the last sample; the edit trims it.
  durations[durations.length - 1] = (durations.at(-1) ?? 0) + delay;
  return {
    delay,
    durations,
    bytes: [concatBytes(samples)],
    sizes: samples.map(({ length }) => length),
  };
}

export interface TextTrak {
  id: number;
  /** The subtitle track; null for chapter titles. */
  track: SubtitleTrack | null;
  samples: TextSamples;
  /** Offset of the first sample in the file. */
  offset: number;
  /** Timescale of the movie. */
  movie: number;
  quicktime: boolean;
}

export function writeTextTrak({ id, track, samples, offset, movie, quicktime }: TextTrak): Bytes {
  const ms = samples.durations.reduce((sum, each) => sum + each, 0);
  const toMovieTicks = (each: number) => Math.round((each / TICKS) * movie);
  const [delay, length] = [toMovieTicks(samples.delay), toMovieTicks(ms)];
  const flags = track?.default ? FLAGS.visible : FLAGS.hidden;
  const group = track ? GROUP : 0;
  const tkhd = fullBox("tkhd", 1, flags, [
    u64(0, 0),
    u32(id, 0),
    u64(length),
    u32(0, 0),
    u16(0, group, 0, 0),
    MATRIX,
    u32(0, 0),
  ]);
  const edits = [u32(2), u64(delay, -1), u32(0x10000), u64(length - delay, 0), u32(0x10000)];
  const edts = delay > 0 ? box("edts", fullBox("elst", 1, 0, edits)) : [];
  const language = packLanguage(threeLetters(track?.language));
  const mdhd = fullBox("mdhd", 1, 0, [u64(0, 0), u32(TICKS), u64(ms), u16(language, 0)]);
  const label = track ? (track.title ?? "SubtitleHandler") : "ChapterHandler";
  const general = fullBox("gmin", 0, 0, [u16(0x40, 0x8000, 0x8000, 0x8000), u16(0, 0)]);
  const plain = quicktime ? box("gmhd", general) : fullBox("nmhd", 0, 0);
  const header = track ? plain : box("gmhd", general, box("text", [MATRIX]));
  const data = quicktime ? handlerBox(true, "dhlr", "url ", letters("DataHandler")) : [];
  const dinf = box("dinf", fullBox("dref", 0, 0, [u32(1)], fullBox("url ", 0, 1)));
  const entry = track ? timedEntry(track) : TITLE_ENTRY;
  const minf = box("minf", header, data, dinf, writeTables(entry, samples, offset));
  const title = track?.title ? box("udta", box("name", [new TextEncoder().encode(track.title)])) : [];
  const hdlr = handlerBox(quicktime, "mhlr", track ? "sbtl" : "text", cutText(label, MAX_NAME));
  return box("trak", tkhd, edts, box("mdia", mdhd, hdlr, minf), title);
}

// QuickTime text: no flags, centered, black background, an empty box, reserved bytes, default font, white, no font name.
const TITLE_ENTRY = box("text", [
  u32(0),
  u16(0, 1),
  u32(0, 1),
  u16(0, 0, 0),
  u16(0, 0, 0, 0),
  u32(0, 0),
  u16(0, 0),
  new Uint8Array(3),
  u16(0xffff, 0xffff, 0xffff),
  Uint8Array.of(0),
]);

function timedEntry({ forced }: SubtitleTrack): Bytes {
  const white = 0xffffffff;
  const style = [u16(0, 0, 1), Uint8Array.of(0, 16), u32(white)];
  const fonts = box("ftab", [u16(1, 1), Uint8Array.of(5), letters("Arial")]);
  return box("tx3g", [
    u32(0),
    u16(0, 1),
    u32(forced ? FORCED : 0),
    Uint8Array.of(1, 255),
    u32(0),
    u16(0, 0, 0, 0),
    ...style,
    ...fonts,
  ]);
}

function writeTables(entry: Bytes, { sizes, durations }: TextSamples, offset: number): Bytes {
  return box(
    "stbl",
    fullBox("stsd", 0, 0, [u32(1), ...entry]),
    fullBox("stts", 0, 0, [u32(durations.length), table(durations.flatMap((each) => [1, each]))]),
    fullBox("stsc", 0, 0, [u32(1, 1, sizes.length, 1)]),
    fullBox("stsz", 0, 0, [u32(0, sizes.length), table(sizes)]),
    fullBox("co64", 0, 0, [u32(1), u64(offset)]),
  );
}

// u32 would spread more arguments than a call can take.
function table(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = viewOf(bytes);
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value);
  return bytes;
}

// ISO/IEC 14496-12, 8.4.2: three letters of five bits each.
function packLanguage(language: string): number {
  return [...language].reduce((sum, letter) => sum * 32 + (letter.charCodeAt(0) - 0x60), 0);
}

const CONTAINERS: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl"]);

/**
 * Plans text tracks and chapters for a finished MP4 or MOV: a new index and the samples replace the old index; everything else
 * stays. Chapters become Nero's list, and a title track for Apple's players.
 */
export async function addToMp4(
  reader: ByteReader,
  tracks: readonly SubtitleTrack[],
  chapters: readonly Chapter[],
  quicktime: boolean,
): Promise<Edit[]> {
  const range = await findMovieIndex(reader);
  if (!range) throw errors.indexMissing();
  const moov = await reader.read(range);
  const view = viewOf(moov);
  const { header } = readBoxHeader(view, 0, moov.length);
  const whole = { kind: "moov", start: header, end: moov.length };
  const mvhd = findBox(view, whole, "mvhd");
  const movie = readTimescale(view, mvhd);
  if (!mvhd || movie === 0) throw errors.indexDamaged();
  const wide = view.getUint8(mvhd.start) === 1;
  const length = wide ? Number(view.getBigUint64(mvhd.start + 24)) : view.getUint32(mvhd.start + 16);
  const until = Math.floor((length / movie) * 1000);
  const first = view.getUint32(mvhd.end - 4);
  const titles = titleSamples(chapters, until);
  const texts = [
    ...tracks.map((track) => ({ track, samples: textSamples(track, until) })),
    ...(titles ? [{ track: null, samples: titles }] : []),
  ].map((text, index) => ({ ...text, id: first + index }));
  const chap = titles ? box("chap", [u32(first + tracks.length)]) : [];
  const bytes = texts.flatMap(({ samples }) => samples.bytes);
  const mdat = texts.length > 0 ? [u32(1), letters("mdat"), u64(lengthOf(bytes) + 16)] : [];
  const list = chapters.length > 0 ? writeNeroList(chapters) : [];

  const write = (shift: number, large: boolean): Bytes => {
    let offset = range.end + shift - lengthOf(bytes);
    const traks = texts.map((text) => {
      const trak = writeTextTrak({ ...text, offset, movie, quicktime });
      offset += lengthOf(text.samples.bytes);
      return trak;
    });
    const next = u32(first + texts.length);
    const boxes = listBoxes(view, whole.start, whole.end);
    const user = boxes.find(({ kind }) => kind === "udta");
    const content = boxes.flatMap((each) => {
      // The list comes first, because QuickTime's user data ends with a zero.
      if (each === user) return box("udta", list, [moov.subarray(each.start, each.end)]);
      if (each.kind === "mvhd") {
        return [...box("mvhd", [moov.subarray(each.start, each.end - 4), next])];
      }
      return moveOffsets(moov, each, { after: range.end, shift, large, chap });
    });
    const newUserData = user || list.length === 0 ? [] : box("udta", list);
    return box("moov", [...content, ...traks.flat(), ...newUserData]);
  };
  const size = (large: boolean) => lengthOf(write(0, large)) + lengthOf(mdat) + lengthOf(bytes);
  const large = reader.size + size(true) > MAX_UINT32;
  const shift = size(large) - (range.end - range.start);
  return [{ start: range.start, end: range.end, bytes: [...write(shift, large), ...mdat, ...bytes] }];
}

/** Writes chapters as Nero's list (chpl): starts in units of 100 ns. */
export function writeNeroList(chapters: readonly Chapter[]): Bytes {
  const entries = chapters.flatMap(({ start, title }) => {
    const text = cutText(title, MAX_NAME);
    return [u64(Math.round(start * 1e7)), Uint8Array.of(text.length), text];
  });
  return fullBox("chpl", 1, 0, [u32(0), Uint8Array.of(chapters.length), ...entries]);
}

interface Move {
  /** Offsets at or after this one grow by `shift`. */
  after: number;
  shift: number;
  /** Whether to write them in 64 bits. */
  large: boolean;
  /** Box that refers from each track to the title track. */
  chap: Bytes;
}

function moveOffsets(
  moov: Uint8Array,
  { kind, start, end }: { kind: string; start: number; end: number },
  move: Move,
): Bytes {
  const view = viewOf(moov);
  if (CONTAINERS.has(kind)) {
    const boxes = listBoxes(view, start, end);
    const inside = boxes.flatMap((each) =>
      each.kind === "tref" && move.chap.length > 0 ? [] : moveOffsets(moov, each, move),
    );
    if (kind !== "trak" || move.chap.length === 0) return box(kind, inside);
    const others = boxes.filter((each) => each.kind === "tref");
    const tref = box(
      "tref",
      others.map((each) => moov.subarray(each.start, each.end)),
      move.chap,
    );
    return box(kind, inside, tref);
  }
  if (kind !== "stco" && kind !== "co64") return box(kind, [moov.subarray(start, end)]);
  const wide = kind === "co64";
  const count = Math.min(view.getUint32(start + 4), Math.floor((end - start - 8) / (wide ? 8 : 4)));
  const large = wide || move.large;
  const table = new DataView(new ArrayBuffer(8 + count * (large ? 8 : 4)));
  table.setUint32(4, count);
  for (let index = 0; index < count; index++) {
    const from = start + 8 + index * (wide ? 8 : 4);
    const offset = wide ? Number(view.getBigUint64(from)) : view.getUint32(from);
    const moved = offset >= move.after ? offset + move.shift : offset;
    if (large) table.setBigUint64(8 + index * 8, BigInt(moved));
    else table.setUint32(8 + index * 4, moved);
  }
  return box(large ? "co64" : "stco", [new Uint8Array(table.buffer)]);
}
