import type { ByteReader } from "../runs/ports.ts";
import { MIB, viewOf } from "../util/bytes.ts";
import { type MovieIndex, walkRuns } from "./mp4.ts";
import {
  type Box,
  findBox,
  listBoxes,
  readBoxHeader,
  readHandler,
  readShift,
  readTimescale,
} from "./mp4-boxes.ts";

/**
 * Returns the intact seconds of an unfragmented MP4 or MOV that is cut off after its index, up to the first incomplete packet; null
 * when all packets are complete.
 */
export function wholeSeconds({ moov, start }: MovieIndex, fileSize: number): number | null {
  const movie: Box = { kind: "moov", start: 8, end: moov.byteLength };
  const ends = listBoxes(moov, movie.start, movie.end)
    .filter((box) => box.kind === "trak" && /^(vide|soun)$/.test(readHandler(moov, box) ?? ""))
    .flatMap((trak) => firstMissing(moov, trak, fileSize) ?? []);
  return ends.length > 0 ? Math.max(0, Math.min(...ends) - start) : null;
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
      const skipped = Math.min(remaining, count - sample, intact);
      sample += skipped;
      remaining -= skipped;
      offset += skipped * shared;
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

// Each row: the first chunk of a run, and the packets in each of its chunks.
function runsOfChunks(moov: DataView, stsc: Box): (chunk: number) => number {
  let at = stsc.start + 8;
  return (chunk) => {
    while (at + 24 <= stsc.end && moov.getUint32(at + 12) <= chunk) at += 12;
    return at + 12 <= stsc.end ? moov.getUint32(at + 4) : 0;
  };
}

const TAILS = [MIB, 16 * MIB] as const;
const MOOF = 0x6d6f6f66;
// The last fragment is near the end, and few boxes follow it; pictures and sound may contain its name by chance.
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
