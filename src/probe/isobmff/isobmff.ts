import type { ByteRange, ByteReader } from "../../core/ports.ts";
import { MIB, viewOf } from "../../util/bytes.ts";
import { unsupported } from "../sniff.ts";
import { findBox, readBoxHeader } from "./boxes.ts";
import { readTracks, type TrackIndex } from "./sample-index.ts";

// mediabunny (1.61) makes objects of all packets to add them up, and may loop forever over tables that contradict each other
// (test/probe/hostile). Here the tables are added up in place, and refused when they disagree.

/** The index of an MP4 or MOV, which describes its packets without reading them. */
export interface MovieIndex {
  tracks: ReadonlyMap<number, TrackIndex>;
  /** Second of the file at which pictures or sound begin; 0 when edits leave that open. */
  start: number;
  /** Whether fragments describe further packets, so that the index is incomplete. */
  fragmented: boolean;
  /** The index itself, including its header. */
  moov: DataView;
  /** The file, with its index in memory. */
  reader: ByteReader;
}

const TOP_BOXES = 64;
const MAX_INDEX = 24 * MIB;
const STILLS = /^(avif|avis|heic|heix|heim|heis|mif1|msf1|jpeg)$/;

/**
 * Finds the index (moov) of an MP4 or MOV by the headers of its boxes; null for pictures in such a file, still or animated unless
 * `animated` is true. Throws `input_unsupported` when the index is missing or incomplete, as after an interrupted upload or download.
 */
export async function findMovieIndex(reader: ByteReader, animated = false): Promise<ByteRange | null> {
  let at = 0;
  for (let count = 0; count < TOP_BOXES && at + 8 <= reader.size; count++) {
    const bytes = await reader.read({ start: at, end: at + 16 });
    const view = viewOf(bytes);
    const { kind, size, header } = readBoxHeader(view, 0, reader.size - at);
    const brand = String.fromCharCode(...bytes.subarray(8, 12));
    if (kind === "ftyp" && STILLS.test(brand) && !(animated && brand === "avis")) return null;
    if (size < header) break;
    if (kind === "moov" && at + size > reader.size) break;
    if (kind === "moov") return { start: at, end: at + size };
    at += size;
  }
  const cut = at > reader.size ? `: it has ${reader.size} bytes and should have more than ${at}` : "";
  throw unsupported(`The file is incomplete; its index (moov) is missing or cut off${cut}.`);
}

/** Reads the index that {@link findMovieIndex} finds; null where it finds none, or one too large to hold. */
export async function readMovieIndex(reader: ByteReader, animated = false): Promise<MovieIndex | null> {
  const range = await findMovieIndex(reader, animated);
  return range && range.end - range.start <= MAX_INDEX ? readMoov(reader, range) : null;
}

async function readMoov(reader: ByteReader, { start, end }: ByteRange): Promise<MovieIndex> {
  const bytes = await reader.read({ start, end });
  const view = viewOf(bytes);
  const moov = { kind: "moov", start: 8, end: bytes.length };
  return {
    moov: view,
    ...readTracks(view, moov),
    fragmented: findBox(view, moov, "mvex") !== null,
    reader: {
      size: reader.size,
      read(range, signal) {
        const held = range.start >= start && range.end <= end;
        return held
          ? Promise.resolve(bytes.slice(range.start - start, range.end - start))
          : reader.read(range, signal);
      },
    },
  };
}
