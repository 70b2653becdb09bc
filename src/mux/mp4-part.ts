import { MediaError } from "../media/errors.ts";
import { readMovieIndex } from "../probe/mp4.ts";
import {
  type Box,
  type Edit,
  findBox,
  listBoxes,
  readEdits,
  readHandler,
  readTimescale,
  readTrackId,
} from "../probe/mp4-boxes.ts";
import type { ByteReader } from "../runs/ports.ts";
import { KIB } from "../util/bytes.ts";
import { type Bytes, box, fullBox, u32, u64 } from "./mp4-boxes.ts";

/** A track of an MP4 or MOV, from its index. */
export interface Mp4Track {
  input: ByteReader;
  /** The index, and its tables of samples. */
  moov: DataView;
  stbl: Box;
  quicktime: boolean;
  kind: "vide" | "soun";
  /** Timescale: ticks per second. */
  ticks: number;
  /** Language as packed in mdhd. */
  language: number;
  /** Display width and height, as stored in tkhd. */
  displaySize: Uint8Array;
  /** The only sample entry, including its header. */
  entry: Uint8Array;
  edit: Mp4Edit;
  /** Sample groups, such as the pre-roll of sound; copied unchanged. */
  groups: Bytes;
  packets: number;
  /** Seconds from the start of the file to the end of its last sample; null when the edits leave that open. */
  end: number | null;
}

const HEAD = 128 * KIB;
const KINDS = { vide: "vide", soun: "soun" } as const;
const IDENTITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

/**
 * Parses the index of an MP4 or MOV with one track, or with one track of the kind `only`. Returns "empty" when there are no
 * packets, and null for any other file: fragmented, with more tracks, rotated, with two sample entries, or malformed.
 */
export async function openMp4Part(
  input: ByteReader,
  signal: AbortSignal | undefined,
  only?: Mp4Track["kind"],
): Promise<Mp4Track | "empty" | null> {
  const head = await input.read({ start: 0, end: Math.min(HEAD, input.size) }, signal);
  if (String.fromCharCode(...head.subarray(4, 8)) !== "ftyp") return null;
  const reader: ByteReader = {
    size: input.size,
    read: (range) =>
      range.end <= head.length
        ? Promise.resolve(head.subarray(range.start, range.end))
        : input.read(range, signal),
  };
  const index = await readMovieIndex(reader).catch((thrown: unknown) => {
    if (thrown instanceof MediaError && thrown.kind === "input_unsupported") return null;
    throw thrown;
  });
  if (!index || index.fragmented) return null;
  const { moov } = index;
  const [trak, ...more] = listBoxes(moov, 8, moov.byteLength).filter(
    (box) => box.kind === "trak" && (only === undefined || readHandler(moov, box) === only),
  );
  if (!trak) return "empty";
  const facts = index.tracks.get(readTrackId(moov, trak));
  if (more.length > 0 || !facts?.consistent || facts.bytes > input.size) return null;
  if (facts.packets === 0) return "empty";
  const track = readTrack(moov, trak);
  const quicktime = String.fromCharCode(...head.subarray(8, 12)) === "qt  ";
  return track && { ...track, input, quicktime, packets: facts.packets, end: facts.end };
}

function readTrack(
  moov: DataView,
  trak: Box,
): Omit<Mp4Track, "input" | "quicktime" | "packets" | "end"> | null {
  const [mvhd, tkhd, mdhd, stbl, elst] = [
    findBox(moov, { kind: "moov", start: 8, end: moov.byteLength }, "mvhd"),
    findBox(moov, trak, "tkhd"),
    findBox(moov, trak, "mdia", "mdhd"),
    findBox(moov, trak, "mdia", "minf", "stbl"),
    findBox(moov, trak, "edts", "elst"),
  ];
  const stsd = stbl && findBox(moov, stbl, "stsd");
  if (!mvhd || !tkhd || !mdhd || !stbl || !stsd) return null;
  const kind = KINDS[readHandler(moov, trak) as keyof typeof KINDS];
  const [entry, ...others] = listBoxes(moov, stsd.start + 8, stsd.end);
  if (!kind || !entry || others.length > 0 || !isUpright(moov, tkhd)) return null;
  const wide = moov.getUint8(mdhd.start) === 1;
  const ticks = readTimescale(moov, mdhd);
  const edit = readEdit(moov, elst, ticks, readTimescale(moov, mvhd));
  return (
    edit && {
      moov,
      stbl,
      kind,
      ticks,
      edit,
      language: moov.getUint16(mdhd.start + (wide ? 32 : 20)),
      displaySize: bytesAt(moov, tkhd.end - 8, tkhd.end),
      entry: bytesAt(moov, entry.start - 8, entry.end),
      groups: kind === "soun" ? readGroups(moov, stbl) : [],
    }
  );
}

function readGroups(moov: DataView, stbl: Box): Bytes {
  const boxes = listBoxes(moov, stbl.start, stbl.end).filter(
    ({ kind }) => kind === "sgpd" || kind === "sbgp",
  );
  return boxes.map(({ start, end }) => bytesAt(moov, start - 8, end));
}

/** Returns a range of an index without copying. */
export function bytesAt(view: DataView, start: number, end: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + start, end - start);
}

function isUpright(view: DataView, { start, end }: Box): boolean {
  return (
    end - start >= 84 && IDENTITY.every((value, index) => view.getUint32(end - 44 + index * 4) === value)
  );
}

/** The samples of a track, in decoding order. */
export interface Mp4Samples {
  /** Size of each in bytes. */
  sizes: Uint32Array;
  /** Decoding time of each in ticks from 0, and the end of the last. */
  decoded: Float64Array;
  end: number;
  /** Ticks from decoding to presentation of each; null when they coincide. */
  offsets: Int32Array | null;
  /** 1 for each sync sample; null when all are. */
  sync: Uint8Array | null;
  /** Ranges of the file that contain their bytes, in order. */
  extents: [start: number, end: number][];
}

/** Expands a track's sample tables (ISO/IEC 14496-12, 8.6 and 8.7); null when they are inconsistent. */
export function readSamples(track: Mp4Track): Mp4Samples | null {
  const { moov, stbl, packets } = track;
  const [stsz, stts, ctts, stss] = ["stsz", "stts", "ctts", "stss"].map((kind) => findBox(moov, stbl, kind));
  const sizes = stsz && readSizes(moov, stsz, packets);
  if (!sizes || !stts) return null;
  const extents = readExtents(track, sizes);
  if (!extents) return null;
  const decoded = new Float64Array(packets);
  let end = 0;
  forRuns(moov, stts, packets, (sample, value) => {
    decoded[sample] = end;
    end += value;
  });
  const offsets = ctts ? new Int32Array(packets) : null;
  if (ctts && offsets) {
    forRuns(moov, ctts, packets, (sample, value) => {
      offsets[sample] = value;
    });
  }
  return { sizes, decoded, end, offsets, sync: stss ? readSync(moov, stss, packets) : null, extents };
}

function readSizes(view: DataView, { start, end }: Box, packets: number): Uint32Array | null {
  const shared = view.getUint32(start + 4);
  if (shared > 0) return new Uint32Array(packets).fill(shared);
  if (start + 12 + packets * 4 > end) return null;
  const sizes = new Uint32Array(packets);
  for (let sample = 0; sample < packets; sample++) sizes[sample] = view.getUint32(start + 12 + sample * 4);
  return sizes;
}

// Muxers store negative values even in version 0, so values are signed.
function forRuns(view: DataView, box: Box, packets: number, each: (sample: number, value: number) => void) {
  let sample = 0;
  for (let at = box.start + 8; at + 8 <= box.end; at += 8) {
    const last = Math.min(packets, sample + view.getUint32(at));
    const value = view.getInt32(at + 4);
    for (; sample < last; sample++) each(sample, value);
  }
}

function readSync(view: DataView, { start, end }: Box, packets: number): Uint8Array {
  const sync = new Uint8Array(packets);
  for (let at = start + 8; at + 4 <= end; at += 4) {
    const sample = view.getUint32(at) - 1;
    if (sample < packets) sync[sample] = 1;
  }
  return sync;
}

function readExtents({ moov, stbl, input }: Mp4Track, sizes: Uint32Array): [number, number][] | null {
  const stsc = findBox(moov, stbl, "stsc");
  const wide = findBox(moov, stbl, "co64");
  const chunkOffsets = wide ?? findBox(moov, stbl, "stco");
  if (!stsc || !chunkOffsets) return null;
  const each = wide ? 8 : 4;
  const extents: [number, number][] = [];
  let [sample, entry, run] = [0, stsc.start + 8, 0];
  for (let chunk = 1, at = chunkOffsets.start + 8; at + each <= chunkOffsets.end; chunk++, at += each) {
    for (; entry + 12 <= stsc.end && moov.getUint32(entry) <= chunk; entry += 12) {
      run = moov.getUint32(entry + 4);
      if (moov.getUint32(entry + 8) !== 1) return null;
    }
    const start = wide ? Number(moov.getBigUint64(at)) : moov.getUint32(at);
    let end = start;
    for (const last = Math.min(sizes.length, sample + run); sample < last; sample++)
      end += sizes[sample] ?? 0;
    if (end > input.size) return null;
    const before = extents[extents.length - 1];
    if (before?.[1] === start) before[1] = end;
    else if (end > start) extents.push([start, end]);
  }
  return sample === sizes.length ? extents : null;
}

/** The part of a track that is shown, and its start (ISO/IEC 14496-12, 8.6.6). */
interface Mp4Edit {
  /** Seconds of empty time before it. */
  delay: number;
  /** Start in ticks of the track, for example after the priming of sound. */
  from: number;
  /** Seconds shown; null when no edit list states them. */
  length: number | null;
  /** Tolerance of the length in seconds, because it is stored in ticks of the whole file. */
  grain: number;
}

/** Parses an edit list of empty edits followed by one real edit; null for any other. */
function readEdit(view: DataView, elst: Box | null, ticks: number, movieTicks: number): Mp4Edit | null {
  if (ticks === 0 || movieTicks === 0) return null;
  const grain = 1 / movieTicks;
  let delay = 0;
  if (!elst) return { delay, from: 0, length: null, grain };
  for (const { length, from, plain, last } of readEdits(view, elst)) {
    if (from >= 0) {
      const only = plain && last;
      return only ? { delay, from, length: length === 0 ? null : length / movieTicks, grain } : null;
    }
    delay += length / movieTicks;
  }
  return null;
}

export type WrittenEdit = Pick<Edit, "length" | "from">;

interface ShownTrack {
  first: { kind: "vide" | "soun"; ticks: number; edit: Mp4Edit };
  /** Tick at which the first sample is shown. */
  start: number;
  /** Ticks from the start to the end of the last sample. */
  duration: number;
}

/** Returns the edits that show all pictures of a track, or sound as in its only part. */
export function editsOf({ first, start, duration }: ShownTrack, movieTicks: number): WrittenEdit[] {
  const { kind, ticks, edit } = first;
  const pictures = kind === "vide";
  const from = pictures ? Math.max(0, -start) : edit.from;
  const delay = pictures ? Math.max(0, start) / ticks : edit.delay;
  const rest = Math.max(0, duration - from) / ticks;
  // A coarse length close to the remaining duration means all of it.
  const cut = !pictures && edit.length !== null && Math.abs(edit.length - rest) > 2 * edit.grain;
  const mediaEdit = { length: Math.round((cut ? (edit.length ?? rest) : rest) * movieTicks), from };
  return delay > 0 ? [{ length: Math.round(delay * movieTicks), from: -1 }, mediaEdit] : [mediaEdit];
}

/** Writes the edits of a track; empty when it needs none. */
export function writeEdits(edits: readonly WrittenEdit[]): Bytes {
  if (edits.length === 1 && edits[0]?.from === 0) return [];
  const wide = edits.some(({ length, from }) => length > 0xffffffff || from > 0x7fffffff);
  const number = wide ? u64 : u32;
  const entries = edits.flatMap(({ length, from }) => [number(length, from), u32(0x10000)]);
  return box("edts", fullBox("elst", wide ? 1 : 0, 0, [u32(edits.length), ...entries]));
}
