import { roundTime } from "../media/clock.ts";
import type { ByteReader } from "../runs/ports.ts";
import { MIB, viewOf } from "../util/bytes.ts";
import { type MovieIndex, walkRuns } from "./mp4.ts";
import {
  type Box,
  findBox,
  listBoxes,
  readBoxHeader,
  readFields,
  readHandler,
  readShift,
  readTimescale,
  readTrackId,
} from "./mp4-boxes.ts";

/** The seconds up to the first incomplete packet of each track that is cut off, by the track's index in ffmpeg's order. */
export type IntactEnds = ReadonlyMap<number, number>;

/**
 * Returns the intact ends of the tracks of an unfragmented MP4 or MOV that is cut off after its index; null when all packets of pictures
 * and sound are complete.
 */
export function readIntactEnds({ moov, start }: MovieIndex, fileSize: number): IntactEnds | null {
  const ends = new Map<number, number>();
  for (const [index, trak] of listTraks(moov).entries()) {
    const end = isPlayed(moov, trak) ? firstMissing(moov, trak, fileSize) : null;
    if (end !== null) ends.set(index, Math.max(0, end - start));
  }
  return ends.size > 0 ? ends : null;
}

function listTraks(moov: DataView): Box[] {
  return listBoxes(moov, 8, moov.byteLength).filter(({ kind }) => kind === "trak");
}

function isPlayed(moov: DataView, trak: Box): boolean {
  return /^(vide|soun)$/.test(readHandler(moov, trak) ?? "");
}

// Later packets may have earlier presentation times.
const MAX_REORDER = 16;

// ISO/IEC 14496-12, 8.6 and 8.7: the packets of a chunk are contiguous.
function firstMissing(moov: DataView, trak: Box, fileSize: number): number | null {
  const stbl = findBox(moov, trak, "mdia", "minf", "stbl");
  const table = (kind: string) => stbl && findBox(moov, stbl, kind);
  const [stsz, stsc, stts, ctts] = ["stsz", "stsc", "stts", "ctts"].map(table);
  const [stco, co64] = [table("stco"), table("co64")];
  const chunks = stco ?? co64;
  const ticks = readTimescale(moov, findBox(moov, trak, "mdia", "mdhd"));
  if (!stsz || !stsc || !stts || !chunks || ticks === 0) return null;
  const shared = moov.getUint32(stsz.start + 4);
  const rows = shared > 0 ? Number.POSITIVE_INFINITY : Math.floor((stsz.end - stsz.start - 12) / 4);
  const count = Math.min(moov.getUint32(stsz.start + 8), rows);
  const width = stco ? 4 : 8;
  const chunkCount = Math.floor((chunks.end - chunks.start - 8) / width);
  const perChunk = runsOfChunks(moov, stsc);
  for (let chunk = 0, sample = 0; chunk < chunkCount && sample < count; chunk++) {
    const at = chunks.start + 8 + chunk * width;
    let offset = stco ? moov.getUint32(at) : Number(moov.getBigUint64(at));
    let remaining = perChunk(chunk + 1);
    if (shared > 0) {
      // A crafted count may be 2^32, so packets of one size are not walked.
      const intact = Math.max(0, Math.floor((fileSize - offset) / shared));
      const packets = Math.min(remaining, count - sample, intact);
      sample += packets;
      remaining -= packets;
      offset += packets * shared;
    }
    for (; remaining > 0 && sample < count; remaining--, sample++) {
      offset += shared || moov.getUint32(stsz.start + 12 + sample * 4);
      if (offset <= fileSize) continue;
      const time = walkRuns(moov, stts);
      const shift = ctts ? walkRuns(moov, ctts) : null;
      const times = Array.from(
        { length: Math.min(MAX_REORDER, count - sample) },
        (_, next) => time(sample + next).sum + (shift ? shift(sample + next).value : 0),
      );
      return Math.min(...times) / ticks + readShift(moov, trak, ticks);
    }
  }
  return null;
}

// A row states the first chunk of a run, and the number of packets in each of its chunks.
function runsOfChunks(moov: DataView, stsc: Box): (chunk: number) => number {
  let at = stsc.start + 8;
  return (chunk) => {
    while (at + 24 <= stsc.end && moov.getUint32(at + 12) <= chunk) at += 12;
    return at + 12 <= stsc.end ? moov.getUint32(at + 4) : 0;
  };
}

const TAILS = [MIB, 16 * MIB] as const;
const MOOF = 0x6d6f6f66;
// The last fragment is near the end, and few boxes follow it, but pictures and sound may contain its name by chance.
const MAX_CANDIDATES = 64;
const MAX_BOXES = 64;

/** Returns the offset of the last fragment of an MP4 if it is incomplete; null when it is complete, or there is none. */
export async function cutFragment(reader: ByteReader, signal?: AbortSignal): Promise<number | null> {
  for (const length of TAILS) {
    const start = Math.max(0, reader.size - length);
    const view = viewOf(await reader.read({ start, end: reader.size }, signal));
    let candidates = 0;
    for (let at = view.byteLength - 8; at >= 0 && candidates < MAX_CANDIDATES; at--) {
      if (view.getUint32(at + 4) !== MOOF) continue;
      candidates++;
      const end = chainEnd(view, at);
      if (end !== null) return end > view.byteLength ? start + at : null;
    }
    if (start === 0) return null;
  }
  return null;
}

// A fragment consists of `moof` and `mdat`; other boxes may follow.
function chainEnd(view: DataView, from: number): number | null {
  let at = from;
  for (let count = 0; at + 8 <= view.byteLength; count++) {
    const { kind, size, header } = readBoxHeader(view, at, view.byteLength - at);
    if (count === MAX_BOXES || size < header) return null;
    if (!/^[a-z0-9 ]{4}$/.test(kind) || (count === 1 && kind !== "mdat")) return null;
    at += size;
  }
  return at > view.byteLength || at === view.byteLength ? at : at + 8;
}

/** The packets of a track in a fragment: whole ones end at `end` seconds, and the first incomplete one, if any, begins at `cut`. */
interface TrackFragment {
  end: number;
  cut: number | null;
}

/**
 * Returns the intact ends of the tracks of a fragmented MP4 whose last fragment, at `from`, is incomplete; `ends` are those of the
 * fragments before it, in seconds from the start of the file.
 */
export async function readFragmentCut(
  { moov, start }: MovieIndex,
  ends: IntactEnds,
  reader: ByteReader,
  from: number,
): Promise<IntactEnds> {
  const view = viewOf(await reader.read({ start: from, end: Math.min(reader.size, from + MAX_FRAGMENT) }));
  const moof = listBoxes(view, 0, view.byteLength)[0];
  const { size } = readBoxHeader(view, 0, view.byteLength);
  const isWhole = moof !== undefined && size <= view.byteLength;
  const trafs = isWhole ? listBoxes(view, moof.start, moof.end).filter(({ kind }) => kind === "traf") : [];
  const cuts = new Map(ends);
  for (const [index, trak] of listTraks(moov).entries()) {
    if (!isPlayed(moov, trak)) continue;
    const id = readTrackId(moov, trak);
    const own = trafs.filter((traf) => readFragmentTrack(view, traf) === id);
    for (const traf of own) {
      const fragment = readTrackFragment({ moov, trak, view, traf, from, intact: reader.size - from });
      if (!fragment) break;
      const whole = (fragment.cut ?? fragment.end) - start;
      if (whole > 0) cuts.set(index, roundTime(whole));
      if (fragment.cut !== null) break;
    }
  }
  return cuts;
}

const MAX_FRAGMENT = 16 * MIB;

function readFragmentTrack(view: DataView, traf: Box): number | null {
  const tfhd = findBox(view, traf, "tfhd");
  return tfhd && tfhd.end - tfhd.start >= 8 ? view.getUint32(tfhd.start + 4) : null;
}

interface FragmentBoxes {
  moov: DataView;
  trak: Box;
  view: DataView;
  traf: Box;
  /** Offset of the fragment in the file. */
  from: number;
  /** Bytes of the file from the start of the fragment. */
  intact: number;
}

// ISO/IEC 14496-12, 8.8.7, 8.8.8 and 8.8.12. Null for a fragment without times.
function readTrackFragment({ moov, trak, view, traf, from, intact }: FragmentBoxes): TrackFragment | null {
  const tfhd = findBox(view, traf, "tfhd");
  const tfdt = findBox(view, traf, "tfdt");
  const ticks = readTimescale(moov, findBox(moov, trak, "mdia", "mdhd"));
  if (!tfhd || !tfdt || tfdt.end - tfdt.start < 8 || ticks === 0) return null;
  const header = readFields(view, tfhd, 8);
  const base = header(0x1, 8) ?? from;
  header(0x2);
  const defaults = readTrackDefaults(moov, trak);
  const duration = header(0x8) ?? defaults.duration;
  const size = header(0x10) ?? defaults.size;
  const isWide = view.getUint8(tfdt.start) === 1 && tfdt.end - tfdt.start >= 12;
  let clock = isWide ? Number(view.getBigUint64(tfdt.start + 4)) : view.getUint32(tfdt.start + 4);
  const shift = readShift(moov, trak, ticks);
  let [end, offset] = [0, base - from];
  let cut: number | null = null;
  for (const trun of listBoxes(view, traf.start, traf.end).filter(({ kind }) => kind === "trun")) {
    const count = Math.min(view.getUint32(trun.start + 4), MAX_SAMPLES);
    const run = readFields(view, trun, 8);
    const place = run(0x1);
    if (place !== undefined) offset = base - from + (place | 0);
    run(0x4);
    for (let number = 0, reordered = 0; number < count && reordered < MAX_REORDER; number++) {
      const [length, bytes] = [run(0x100) ?? duration, run(0x200) ?? size];
      run(0x400);
      const time = (clock + ((run(0x800) ?? 0) | 0)) / ticks + shift;
      offset += bytes;
      clock += length;
      if (cut === null && offset <= intact) end = Math.max(end, time + length / ticks);
      else {
        cut = Math.min(cut ?? time, time);
        reordered++;
      }
    }
    if (cut !== null) break;
  }
  return { end, cut };
}

const MAX_SAMPLES = 1_000_000;

// ISO/IEC 14496-12, 8.8.3.
function readTrackDefaults(moov: DataView, trak: Box): { duration: number; size: number } {
  const mvex = findBox(moov, { kind: "moov", start: 8, end: moov.byteLength }, "mvex");
  const trex =
    mvex &&
    listBoxes(moov, mvex.start, mvex.end).find(
      ({ kind, start, end }) =>
        kind === "trex" && end - start >= 20 && moov.getUint32(start + 4) === readTrackId(moov, trak),
    );
  return trex
    ? { duration: moov.getUint32(trex.start + 12), size: moov.getUint32(trex.start + 16) }
    : { duration: 0, size: 0 };
}
