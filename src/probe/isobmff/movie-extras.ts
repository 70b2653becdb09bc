import type { SourceStream } from "../../core/source.ts";
import { CREATION_TIME } from "../../core/tags.ts";
import { bytesOf } from "../../util/bytes.ts";
import { timestamp } from "../timestamp.ts";
import { microseconds } from "../whole-file.ts";
import { type Box, findBox, listBoxes } from "./boxes.ts";
import type { MovieIndex } from "./isobmff.ts";
import type { TrackIndex } from "./sample-index.ts";
import { readHandler } from "./track-boxes.ts";

/** What an MP4 or MOV contains besides pictures, sound and tags. */
export interface MovieExtras {
  /** Index of each track in ffmpeg's order, by track id. */
  places: ReadonlyMap<number, number>;
  streams: SourceStream[];
  tags: (readonly [name: string, value: string])[];
  /** The tracks of text that hold the titles of chapters. */
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
// Value types in the iTunes list.
const PICTURES: Readonly<Record<number, string>> = { 13: "mjpeg", 14: "png", 27: "bmp" };

/** Reads subtitles, data and covers from the index of an MP4 or MOV. */
export function readMovieExtras({ moov, tracks }: MovieIndex): MovieExtras {
  const boxes = listBoxes(moov, 8, moov.byteLength);
  const ids = new Map(boxes.filter(({ kind }) => kind === "trak").map((trak) => [trak, trackId(moov, trak)]));
  const named = new Set([...ids.keys()].flatMap((trak) => chapterTracks(moov, trak)));
  const titles: SourceStream[] = [];
  const titleBoxes: Box[] = [];
  const places = new Map<number, number>();
  const streams: SourceStream[] = [];
  const tags: MovieExtras["tags"] = [];
  let index = 0;
  for (const each of boxes) {
    if (each.kind === "mvhd") {
      const made = readCreation(moov, each);
      if (made) tags.push([CREATION_TIME, made]);
    } else if (each.kind === "trak") {
      const id = ids.get(each) ?? 0;
      const stream = readStream(moov, each, index, tracks.get(id));
      places.set(id, index++);
      if (named.has(id) && stream?.kind === "subtitle") {
        titleBoxes.push(each);
        titles.push({ index: stream.index, kind: "data", codec: null });
      } else if (stream && tracks.get(id)?.packets !== 0) streams.push(stream);
    } else if (each.kind === "udta") {
      for (const codec of readCovers(moov, each)) streams.push({ index: index++, kind: "cover", codec });
      const location = readLocation(moov, each);
      if (location) tags.push(["location", location]);
    }
  }
  return { places, streams, tags, titles, titleBoxes };
}

// Seconds since 1904 (ISO/IEC 14496-12, 8.2.2); some programs count from 1970.
function readCreation(moov: DataView, { start, end }: Box): string | null {
  if (end - start < 12) return null;
  const seconds =
    moov.getUint8(start) === 1 ? Number(moov.getBigUint64(start + 4)) : moov.getUint32(start + 4);
  return seconds === 0 ? null : timestamp(seconds >= MOVIE_EPOCH ? seconds - MOVIE_EPOCH : seconds);
}

function trackId(moov: DataView, trak: Box): number {
  const tkhd = findBox(moov, trak, "tkhd");
  if (!tkhd || tkhd.end - tkhd.start < 24) return 0;
  return moov.getUint32(tkhd.start + (moov.getUint8(tkhd.start) === 1 ? 20 : 12));
}

// QuickTime stores chapters as samples of a text track that other tracks refer to.
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
      seconds > 0 && { duration: microseconds(seconds), bitrate: Math.round((bytes * 8) / seconds) }),
    ...(language && { language }),
    ...(SUBTITLES.has(handler) && readSubtitleFlags(moov, trak, stsd)),
  };
}

const ENABLED = 1;
// 3GPP TS 26.245, 5.16, and QuickTime: every sample is forced.
const ALL_FORCED = 0x80000000;

// QuickTime and ffmpeg write the name here.
function readSubtitleFlags(moov: DataView, trak: Box, stsd: Box | null): Partial<SourceStream> {
  const tkhd = findBox(moov, trak, "tkhd");
  const name = findBox(moov, trak, "udta", "name");
  const title = name && new TextDecoder().decode(bytesOf(moov).subarray(name.start, name.end));
  const entry = stsd && listBoxes(moov, stsd.start + 8, stsd.end)[0];
  const timed = entry?.kind === "tx3g" && entry.end - entry.start >= 12;
  const flags = timed ? moov.getUint32(entry.start + 8) : 0;
  return {
    ...(title && { title }),
    ...(tkhd && (moov.getUint32(tkhd.start) & ENABLED) !== 0 && { default: true }),
    ...(flags >= ALL_FORCED && { forced: true }),
  };
}

// Three letters of five bits each (ISO/IEC 14496-12, 8.4.2); old QuickTime language codes are smaller numbers.
function readLanguage(moov: DataView, mdhd: Box | null): string | null {
  const at = mdhd && mdhd.start + (moov.getUint8(mdhd.start) === 1 ? 32 : 20);
  const packed = at !== null && mdhd && at + 2 <= mdhd.end ? moov.getUint16(at) : 0;
  const language = String.fromCharCode(...[10, 5, 0].map((shift) => ((packed >> shift) & 31) + 0x60));
  return packed >= 0x400 && language !== "und" ? language : null;
}

function readCovers(moov: DataView, udta: Box): (string | null)[] {
  const meta = findBox(moov, udta, "meta");
  // A full box in MP4, a plain one in MOV.
  const inside = [meta && { ...meta, start: meta.start + 4 }, meta];
  const covr = inside.map((box) => box && findBox(moov, box, "ilst", "covr")).find((box) => box);
  return listBoxes(moov, covr?.start ?? 0, covr?.end ?? 0)
    .filter(({ kind, start, end }) => kind === "data" && end - start > 8)
    .map(({ start }) => PICTURES[moov.getUint32(start)] ?? null);
}

// 3GPP TS 26.244, 8.10: language, name, role of the place, and degrees in 16.16 bits, which ffmpeg writes as ISO 6709.
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
