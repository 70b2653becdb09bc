import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";
import { readMovieIndex } from "../../probe/mp4.ts";
import {
  type Box,
  findBox,
  listBoxes,
  readHandler,
  readTimescale,
  readTrackId,
} from "../../probe/mp4-boxes.ts";
import { KIB } from "../../util/bytes.ts";
import type { Bytes } from "./mp4-boxes.ts";
import { type Mp4Edit, readEdit } from "./mp4-edit.ts";

/** A track of an MP4 or MOV, as its index describes it. */
export interface Mp4Track {
  input: ByteReader;
  /** The index, and its tables of samples. */
  moov: DataView;
  stbl: Box;
  quicktime: boolean;
  kind: "vide" | "soun";
  /** Timescale: ticks per second. */
  ticks: number;
  /** As packed in mdhd. */
  language: number;
  /** Display width and height, as stored in tkhd. */
  shown: Uint8Array;
  /** Its only sample entry, including the header. */
  entry: Uint8Array;
  edit: Mp4Edit;
  /** Boxes on relations between samples other than times, such as pre-roll of sound; copied unchanged. */
  groups: Bytes;
  packets: number;
  /** Seconds from the start of the file to the end of its last sample; null when its edits leave that open. */
  end: number | null;
}

// Usually enough for ftyp and the index of a stretch of pictures.
const HEAD = 128 * KIB;
const KINDS = { vide: "vide", soun: "soun" } as const;
const IDENTITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

/**
 * Parses the index of an MP4 or MOV with one track, as the encoders write them, or with one of a kind. Returns "empty" when there
 * are no packets, and null for any other file: fragmented, with more tracks, rotated, with two sample entries, or malformed.
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
  const tkhd = findBox(moov, trak, "tkhd");
  const facts = tkhd && index.tracks.get(readTrackId(moov, tkhd));
  if (more.length > 0 || !facts?.sound || facts.bytes > input.size) return null;
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
      ...{ moov, stbl, kind, ticks, edit },
      language: moov.getUint16(mdhd.start + (wide ? 32 : 20)),
      shown: bytesAt(moov, tkhd.end - 8, tkhd.end),
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

// Width and height follow the matrix.
function isUpright(view: DataView, { start, end }: Box): boolean {
  return (
    end - start >= 84 && IDENTITY.every((value, index) => view.getUint32(end - 44 + index * 4) === value)
  );
}
