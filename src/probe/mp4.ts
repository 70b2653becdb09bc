import { CHAPTER_LIMITS, type FileChapter } from "../media/chapters.ts";
import { roundTime } from "../media/clock.ts";
import type { SourceStream } from "../media/source.ts";
import { CREATION_TIME } from "../media/tags.ts";
import type { ByteRange, ByteReader } from "../runs/ports.ts";
import { bytesOf, latinText, viewOf } from "../util/bytes.ts";
import { timestamp } from "./durations.ts";
import * as errors from "./errors.ts";
import { ID3_GENRES } from "./mp3.ts";
import {
  type Box,
  findBox,
  listBoxes,
  MAX_INDEX,
  MAX_TOP_BOXES,
  readBoxHeader,
  readEdits,
  readHandler,
  readShift,
  readTimescale,
  readTrackId,
  readTracks,
  type TrackIndex,
} from "./mp4-boxes.ts";

// mediabunny (1.61) creates an object per packet, and may loop forever over tables that contradict each other (test/probe/hostile).

/** The index of an MP4 or MOV, which describes its packets without reading them. */
export interface MovieIndex {
  tracks: ReadonlyMap<number, TrackIndex>;
  /** Time in seconds at which pictures or sound begin; 0 when the edits leave that open. */
  start: number;
  /** Whether the file has fragments, so that the index is incomplete. */
  fragmented: boolean;
  /** Whether the segment index after it, if there is one, states the length of a tick of its times. */
  timed: boolean;
  /** The index itself, including its header. */
  moov: DataView;
  /** The file, with its index in memory. */
  reader: ByteReader;
}

const STILLS = /^(avif|avis|heic|heix|heim|heis|mif1|msf1|jpeg)$/;

// ISO/IEC 14496-12, 8.11.1 and 8.4.3: the handler's type in a meta box whose header has 8 bytes.
const META_HANDLER = 28;

/**
 * Finds the index (moov) of an MP4 or MOV by its box headers; null for a picture or sequence in HEIF, except an animated AVIF
 * when `animated` is true. Throws `input_unsupported` when the index is missing or incomplete, as after an interrupted upload or download.
 */
export async function findMovieIndex(reader: ByteReader, animated = false): Promise<ByteRange | null> {
  let at = 0;
  let isPicture = false;
  for (let count = 0; count < MAX_TOP_BOXES && at + 8 <= reader.size; count++) {
    const bytes = await reader.read({ start: at, end: at + META_HANDLER + 4 });
    const view = viewOf(bytes);
    const { kind, size, header } = readBoxHeader(view, 0, reader.size - at);
    const brand = String.fromCharCode(...bytes.subarray(8, 12));
    if (kind === "ftyp" && STILLS.test(brand) && !(animated && brand === "avis")) return null;
    if (size < header) break;
    isPicture ||=
      kind === "meta" && bytes.length > META_HANDLER + 3 && latinText(view, META_HANDLER, 4) === "pict";
    if (kind === "moov" && at + size > reader.size) break;
    if (kind === "moov") return { start: at, end: at + size };
    at += size;
  }
  if (isPicture) return null;
  if (at > reader.size) throw errors.indexCutOff({ bytes: reader.size, minBytes: at });
  throw errors.indexMissing();
}

/** Reads the index that {@link findMovieIndex} finds; null when there is none, or it is larger than 24 MiB. */
export async function readMovieIndex(reader: ByteReader, animated = false): Promise<MovieIndex | null> {
  const range = await findMovieIndex(reader, animated);
  return range && range.end - range.start <= MAX_INDEX ? readMoov(reader, range) : null;
}

async function readMoov(reader: ByteReader, { start, end }: ByteRange): Promise<MovieIndex> {
  const bytes = await reader.read({ start, end });
  const view = viewOf(bytes);
  const moov = { kind: "moov", start: 8, end: bytes.length };
  const fragmented = findBox(view, moov, "mvex") !== null;
  return {
    moov: view,
    ...readTracks(view, moov),
    fragmented,
    timed: !fragmented || (await isSegmentIndexTimed(reader, end)),
    reader: {
      size: reader.size,
      read(range, signal) {
        const inIndex = range.start >= start && range.end <= end;
        return inIndex
          ? Promise.resolve(bytes.slice(range.start - start, range.end - start))
          : reader.read(range, signal);
      },
    },
  };
}

// ISO/IEC 14496-12, 8.16.3: in a `sidx` box, the timescale follows the track identifier; ffmpeg rejects a timescale of 0.
async function isSegmentIndexTimed(reader: ByteReader, from: number): Promise<boolean> {
  for (let at = from, count = 0; count < MAX_TOP_BOXES && at + 20 <= reader.size; count++) {
    const view = viewOf(await reader.read({ start: at, end: at + 20 }));
    const { kind, size, header } = readBoxHeader(view, 0, reader.size - at);
    if (kind === "sidx" && header === 8) return view.getUint32(16) > 0;
    if (kind === "moof" || size < header) return true;
    at += size;
  }
  return true;
}

/**
 * Returns the presentation times in seconds of a video track's sync samples (ISO/IEC 14496-12, 8.6), with edits applied;
 * `track` is its index among the video tracks. Empty when there are more than `max`, or no table: all are then sync samples.
 */
export function readSyncTimes(moov: DataView, track: number, max: number): number[] {
  const movie: Box = { kind: "moov", start: 8, end: moov.byteLength };
  const trak = listBoxes(moov, movie.start, movie.end).filter(
    (box) => box.kind === "trak" && readHandler(moov, box) === "vide",
  )[track];
  const stbl = trak && findBox(moov, trak, "mdia", "minf", "stbl");
  const stss = stbl && findBox(moov, stbl, "stss");
  const stts = stbl && findBox(moov, stbl, "stts");
  const mdhd = trak && findBox(moov, trak, "mdia", "mdhd");
  const mvhd = findBox(moov, movie, "mvhd");
  if (!trak || !stbl || !stss || !stts || !mdhd || !mvhd) return [];
  const [ticks, movieTicks] = [readTimescale(moov, mdhd), readTimescale(moov, mvhd)];
  const count = Math.min(moov.getUint32(stss.start + 4), Math.floor((stss.end - stss.start - 8) / 4));
  if (ticks === 0 || movieTicks === 0 || count > max) return [];

  const shift = readShift(moov, trak, ticks);
  const decode = walkRuns(moov, stts);
  const ctts = findBox(moov, stbl, "ctts");
  const offset = ctts && walkRuns(moov, ctts);
  const times: number[] = [];
  let before = 0;
  for (let index = 0; index < count; index++) {
    const sample = moov.getUint32(stss.start + 8 + index * 4) - 1;
    // A table that goes backwards would restart the walk each time.
    if (sample < before) return [];
    before = sample;
    times.push((decode(sample).sum + (offset ? offset(sample).value : 0)) / ticks + shift);
  }
  return times;
}

/** Walks a table of runs (`stts` or `ctts`); callers must request samples in ascending order. */
export function walkRuns(view: DataView, box: Box): (sample: number) => { sum: number; value: number } {
  let [at, first, sum] = [box.start + 8, 0, 0];
  return (sample) => {
    for (; at + 8 <= box.end; at += 8) {
      const packets = view.getUint32(at);
      const value = view.getInt32(at + 4);
      if (sample < first + packets) return { sum: sum + (sample - first) * value, value };
      first += packets;
      sum += packets * value;
    }
    return { sum, value: 0 };
  };
}

/** The contents of an MP4 or MOV besides pictures and sound. */
export interface MovieExtras {
  /** Index of each track in ffmpeg's order, by track id. */
  places: ReadonlyMap<number, number>;
  streams: SourceStream[];
  tags: (readonly [name: string, value: string | readonly string[]])[];
  /** Names of the tags that a track has of its own, by index. */
  trackTags: ReadonlyMap<number, readonly string[]>;
  /** The text tracks with chapter titles. */
  titles: SourceStream[];
  titleBoxes: Box[];
}

const SUBTITLES: ReadonlySet<string> = new Set(["sbtl", "subt", "text", "clcp"]);
const CODECS: Readonly<Record<string, string>> = {
  tx3g: "mov_text",
  text: "mov_text",
  wvtt: "webvtt",
  stpp: "ttml",
  c608: "eia_608",
};
/** Seconds from 1904, the QuickTime epoch, to 1970. */
export const MOVIE_EPOCH = 2_082_844_800;
const PICTURES: Readonly<Record<number, string>> = { 13: "mjpeg", 14: "png", 27: "bmp" };

/** Reads subtitles, data and covers from the index of an MP4 or MOV. */
export function readMovieExtras({ moov, tracks }: MovieIndex): MovieExtras {
  const boxes = listBoxes(moov, 8, moov.byteLength);
  const ids = new Map(
    boxes.filter(({ kind }) => kind === "trak").map((trak) => [trak, readTrackId(moov, trak)]),
  );
  const titleIds = new Set([...ids.keys()].flatMap((trak) => chapterTracks(moov, trak)));
  const titles: SourceStream[] = [];
  const titleBoxes: Box[] = [];
  const places = new Map<number, number>();
  const streams: SourceStream[] = [];
  const trackTags = new Map<number, string[]>();
  const tags: MovieExtras["tags"] = [];
  let index = 0;
  for (const each of boxes) {
    if (each.kind === "mvhd") {
      const created = readCreation(moov, each);
      if (created) tags.push([CREATION_TIME, created]);
    } else if (each.kind === "trak") {
      const id = ids.get(each) ?? 0;
      const stream = readStream(moov, each, index, tracks.get(id));
      if (readName(moov, each)) trackTags.set(index, ["title"]);
      places.set(id, index++);
      if (titleIds.has(id) && stream?.kind === "subtitle") {
        titleBoxes.push(each);
        titles.push({ index: stream.index, kind: "data", codec: null });
      } else if (stream && tracks.get(id)?.packets !== 0) streams.push(stream);
    } else if (each.kind === "udta") {
      for (const codec of readCovers(moov, each)) streams.push({ index: index++, kind: "cover", codec });
      tags.push(...readItems(moov, each));
      const location = readLocation(moov, each);
      if (location) tags.push(["location", location]);
    }
  }
  return { places, streams, trackTags, tags, titles, titleBoxes };
}

// Seconds since 1904 (ISO/IEC 14496-12, 8.2.2); some muxers count from 1970.
function readCreation(moov: DataView, { start, end }: Box): string | null {
  if (end - start < 12) return null;
  const seconds =
    moov.getUint8(start) === 1 ? Number(moov.getBigUint64(start + 4)) : moov.getUint32(start + 4);
  return seconds === 0 ? null : timestamp(seconds >= MOVIE_EPOCH ? seconds - MOVIE_EPOCH : seconds);
}

function chapterTracks(moov: DataView, trak: Box): number[] {
  const chap = findBox(moov, trak, "tref", "chap");
  const ids: number[] = [];
  for (let at = chap?.start ?? 0; chap && at + 4 <= chap.end; at += 4) ids.push(moov.getUint32(at));
  return ids;
}

function readStream(
  moov: DataView,
  trak: Box,
  index: number,
  { bytes, seconds }: Pick<TrackIndex, "bytes" | "seconds"> = { bytes: 0, seconds: 0 },
): SourceStream | null {
  const handler = readHandler(moov, trak) ?? "";
  if (handler === "vide" || handler === "soun") return null;
  const stsd = findBox(moov, trak, "mdia", "minf", "stbl", "stsd");
  const entry = stsd && listBoxes(moov, stsd.start + 8, stsd.end)[0]?.kind;
  const language = readLanguage(moov, findBox(moov, trak, "mdia", "mdhd"));
  return {
    index,
    kind: SUBTITLES.has(handler) ? "subtitle" : "data",
    codec: CODECS[entry ?? ""] ?? null,
    ...(bytes > 0 &&
      seconds > 0 && { duration: roundTime(seconds), bitrate: Math.round((bytes * 8) / seconds) }),
    ...(language && { language }),
    ...(SUBTITLES.has(handler) && readSubtitleFlags(moov, trak, stsd)),
  };
}

function readName(moov: DataView, trak: Box): string | null {
  const name = findBox(moov, trak, "udta", "name");
  return name && new TextDecoder().decode(bytesOf(moov).subarray(name.start, name.end));
}

const ENABLED = 1;
// 3GPP TS 26.245, 5.16, and QuickTime: every sample is forced.
const ALL_FORCED = 0x80000000;

function readSubtitleFlags(moov: DataView, trak: Box, stsd: Box | null): Partial<SourceStream> {
  const tkhd = findBox(moov, trak, "tkhd");
  const title = readName(moov, trak);
  const entry = stsd && listBoxes(moov, stsd.start + 8, stsd.end)[0];
  const timed = entry?.kind === "tx3g" && entry.end - entry.start >= 12;
  const flags = timed ? moov.getUint32(entry.start + 8) : 0;
  return {
    ...(title && { title }),
    ...(tkhd && (moov.getUint32(tkhd.start) & ENABLED) !== 0 && { default: true }),
    ...(flags >= ALL_FORCED && { forced: true }),
  };
}

// Three letters of five bits each (ISO/IEC 14496-12, 8.4.2); smaller numbers are old QuickTime language codes.
function readLanguage(moov: DataView, mdhd: Box | null): string | null {
  const at = mdhd && mdhd.start + (moov.getUint8(mdhd.start) === 1 ? 32 : 20);
  const packed = at !== null && mdhd && at + 2 <= mdhd.end ? moov.getUint16(at) : 0;
  const language = String.fromCharCode(...[10, 5, 0].map((shift) => ((packed >> shift) & 31) + 0x60));
  return packed >= 0x400 && language !== "und" ? language : null;
}

function findItems(moov: DataView, udta: Box): Box | null {
  const meta = findBox(moov, udta, "meta");
  // `meta` is a full box in MP4 and a plain one in MOV.
  const inside = [meta && { ...meta, start: meta.start + 4 }, meta];
  return inside.map((box) => box && findBox(moov, box, "ilst")).find((box) => box) ?? null;
}

const MAX_ITEMS = 256;
// The type of an item's data that is text.
const UTF8 = 1;

function readItems(moov: DataView, udta: Box): MovieExtras["tags"] {
  const list = findItems(moov, udta);
  const items = list ? listBoxes(moov, list.start, list.end).slice(0, MAX_ITEMS) : [];
  return items.flatMap((item): MovieExtras["tags"] => {
    const parts = listBoxes(moov, item.start, item.end);
    const textsOf = (kind: string, skip: number) =>
      parts
        .filter((part) => part.kind === kind)
        .map((part) => new TextDecoder().decode(bytesOf(moov).subarray(part.start + skip, part.end)));
    if (item.kind === "----") {
      const [name] = textsOf("name", 4);
      const values = textsOf("data", 8);
      return name && values.length > 0 ? [[name, values]] : [];
    }
    if (parts.some(({ kind, start }) => kind === "data" && moov.getUint32(start) === UTF8))
      return /^[\x20-\x7e\xa9]{4}$/.test(item.kind) ? [[item.kind, textsOf("data", 8)]] : [];
    const data = parts.find((each) => each.kind === "data");
    const bytes = bytesOf(moov).subarray((data?.start ?? 0) + 8, data?.end ?? 0);
    if (!data || bytes.length === 0 || bytes.length > 4 || !NUMBERS.has(item.kind)) return [];
    const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    // Genres count from 1 here, and from 0 in ID3.
    const value = item.kind === "gnre" ? ID3_GENRES[number - 1] : number > 0 ? String(number) : undefined;
    return value ? [[item.kind, value]] : [];
  });
}

const NUMBERS: ReadonlySet<string> = new Set(["gnre", "tmpo", "cpil"]);

function readCovers(moov: DataView, udta: Box): (string | null)[] {
  const list = findItems(moov, udta);
  const covr = list && findBox(moov, list, "covr");
  return listBoxes(moov, covr?.start ?? 0, covr?.end ?? 0)
    .filter(({ kind, start, end }) => kind === "data" && end - start > 8)
    .map(({ start }) => PICTURES[moov.getUint32(start)] ?? null);
}

// 3GPP TS 26.244, 8.10: language, name, role, and degrees in 16.16 bits; returns ISO 6709 as ffmpeg does.
function readLocation(moov: DataView, udta: Box): string | null {
  const loci = findBox(moov, udta, "loci");
  let at = (loci?.start ?? 0) + 6;
  while (loci && at < loci.end && moov.getUint8(at) !== 0) at++;
  if (!loci || at + 10 > loci.end) return null;
  const [longitude, latitude] = [at + 2, at + 6].map((place) => moov.getInt32(place) / 0x10000);
  return `${degrees(latitude ?? 0, 2)}${degrees(longitude ?? 0, 3)}/`;
}

function degrees(value: number, digits: number): string {
  const sign = value < 0 ? "-" : "+";
  return (
    sign +
    Math.abs(value)
      .toFixed(4)
      .padStart(digits + 5, "0")
  );
}

const MAX_TITLES_RANGE = 262_144;
const MAX_TITLE = 2048;

/**
 * Reads the chapters of an MP4 or MOV from the first readable one of `tracks`, the text tracks with titles, or otherwise from
 * Nero's list (chpl), as ffmpeg does. Damaged ones count as absent.
 */
export async function readMovieChapters(
  { moov, reader }: MovieIndex,
  tracks: readonly Box[],
): Promise<FileChapter[]> {
  for (const trak of tracks) {
    const samples = listSamples(moov, trak);
    const [start, end] = [Math.min(...samples.map(({ at }) => at)), Math.max(...samples.map(endOf))];
    if (samples.length === 0 || end > reader.size) continue;
    const whole = end - start <= MAX_TITLES_RANGE ? await reader.read({ start, end }) : null;
    const chapters: FileChapter[] = [];
    for (const { at, size, time, length } of samples) {
      const to = at + Math.min(size, MAX_TITLE);
      const bytes = whole?.subarray(at - start, to - start) ?? (await reader.read({ start: at, end: to }));
      chapters.push({ start: time, end: time + length, title: readTitle(bytes) });
    }
    return chapters;
  }
  return listBoxes(moov, 8, moov.byteLength)
    .filter(({ kind }) => kind === "udta")
    .flatMap((udta) => readNeroList(moov, findBox(moov, udta, "chpl")));
}

interface ChapterSample {
  /** Offset and size in bytes. */
  at: number;
  size: number;
  /** Seconds. */
  time: number;
  length: number;
}

function endOf({ at, size }: ChapterSample): number {
  return at + size;
}

// ISO/IEC 14496-12, 8.6.1.2 and 8.7.3 to 8.7.5; every loop is bounded by a limit or its box.
function listSamples(moov: DataView, trak: Box): ChapterSample[] {
  const mdia = findBox(moov, trak, "mdia");
  const stbl = mdia && findBox(moov, mdia, "minf", "stbl");
  const scale = readTimescale(moov, mdia && findBox(moov, mdia, "mdhd"));
  const table = (kind: string, width: number, skip = 8) => {
    const box = stbl && findBox(moov, stbl, kind);
    const start = (box?.start ?? 0) + skip;
    const rows = box ? Math.floor((box.end - start) / width) : 0;
    return {
      rows: Math.max(0, rows),
      value: (row: number, at = 0) => moov.getUint32(start + row * width + at),
    };
  };
  const [times, runs, sizeTable] = [table("stts", 8), table("stsc", 12), table("stsz", 4, 12)];
  const shared = table("stsz", 12, 0).rows > 0 ? table("stsz", 12, 4).value(0) : 0;
  const sizes = shared > 0 ? { rows: table("stsz", 12, 8).value(0), value: () => shared } : sizeTable;
  const wide = stbl && findBox(moov, stbl, "co64");
  const chunkOffsets = wide ? table("co64", 8) : table("stco", 4);
  const samples: ChapterSample[] = [];
  const { delay, until } = readDelay(moov, trak);
  let [time, row, remaining] = [0, 0, times.rows > 0 ? times.value(0) : 0];
  for (let chunk = 0, run = 0; chunk < chunkOffsets.rows && scale > 0; chunk++) {
    while (run + 1 < runs.rows && runs.value(run + 1) <= chunk + 1) run++;
    let at = wide
      ? chunkOffsets.value(chunk) * 2 ** 32 + chunkOffsets.value(chunk, 4)
      : chunkOffsets.value(chunk);
    const inside = runs.rows > 0 ? runs.value(run, 4) : 0;
    for (let count = 0; count < inside; count++) {
      while (remaining === 0 && row + 1 < times.rows) remaining = times.value(++row);
      const isFull = samples.length >= CHAPTER_LIMITS.chapters;
      if (remaining === 0 || samples.length >= sizes.rows || isFull) return samples;
      const [size, ticks] = [sizes.value(samples.length), times.value(row, 4)];
      const start = delay + time / scale;
      samples.push({ at, size, time: start, length: Math.min(ticks / scale, until - start) });
      at += size;
      time += ticks;
      remaining--;
    }
  }
  return samples;
}

function readDelay(moov: DataView, trak: Box): { delay: number; until: number } {
  const elst = findBox(moov, trak, "edts", "elst");
  const mvhd = listBoxes(moov, 8, moov.byteLength).find(({ kind }) => kind === "mvhd");
  const scale = readTimescale(moov, mvhd ?? null);
  const [empty, edit] = elst && scale > 0 ? readEdits(moov, elst) : [];
  if (!empty || !edit || empty.from >= 0 || edit.from < 0)
    return { delay: 0, until: Number.POSITIVE_INFINITY };
  const delay = empty.length / scale;
  return { delay, until: edit.length > 0 ? delay + edit.length / scale : Number.POSITIVE_INFINITY };
}

function readTitle(bytes: Uint8Array): string {
  if (bytes.length < 2) return "";
  const text = bytes.subarray(2, 2 + viewOf(bytes).getUint16(0));
  const mark = text.length < 2 ? 0 : viewOf(text).getUint16(0);
  if (mark === 0xfeff) return new TextDecoder("utf-16be").decode(text);
  return new TextDecoder(mark === 0xfffe ? "utf-16le" : "utf-8").decode(text);
}

// Each entry: the start in units of 100 ns, the title's length, and the title.
function readNeroList(moov: DataView, chpl: Box | null): FileChapter[] {
  if (!chpl || chpl.end - chpl.start < 5) return [];
  let at = chpl.start + (moov.getUint8(chpl.start) === 0 ? 4 : 8);
  const count = at < chpl.end ? moov.getUint8(at++) : 0;
  const chapters: FileChapter[] = [];
  while (chapters.length < count && at + 9 <= chpl.end) {
    const start = Number(moov.getBigUint64(at)) / 1e7;
    const length = moov.getUint8(at + 8);
    if (at + 9 + length > chpl.end) break;
    const title = bytesOf(moov).subarray(at + 9, at + 9 + length);
    chapters.push({ start, title: new TextDecoder().decode(title) });
    at += 9 + length;
  }
  return chapters;
}
