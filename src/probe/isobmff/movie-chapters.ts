import type { FoundChapter } from "../../core/chapters/chapters.ts";
import { CHAPTER_LIMITS } from "../../core/chapters/chapters.ts";
import { bytesOf, viewOf } from "../../util/bytes.ts";
import { type Box, findBox, listBoxes } from "./boxes.ts";
import type { MovieIndex } from "./isobmff.ts";
import { readEdits, readTimescale } from "./track-boxes.ts";

// Titles are read at once where they lie this close together; some programs lay them among pictures and sound.
const MOST_BYTES = 262_144;
// Of one title: more than is kept of it.
const TITLE = 2048;

/**
 * Reads the chapters of an MP4 or MOV: those of the first of `tracks`, text tracks that other tracks refer to, or else of Nero's
 * list (chpl), as ffmpeg does. Damaged ones count as absent.
 */
export async function readMovieChapters(
  { moov, reader }: MovieIndex,
  tracks: readonly Box[],
): Promise<FoundChapter[]> {
  for (const trak of tracks) {
    const samples = listSamples(moov, trak);
    const [start, end] = [Math.min(...samples.map(({ at }) => at)), Math.max(...samples.map(endOf))];
    if (samples.length === 0 || end > reader.size) continue;
    const whole = end - start <= MOST_BYTES ? await reader.read({ start, end }) : null;
    const found: FoundChapter[] = [];
    for (const { at, size, time, length } of samples) {
      const to = at + Math.min(size, TITLE);
      const bytes = whole?.subarray(at - start, to - start) ?? (await reader.read({ start: at, end: to }));
      found.push({ start: time, end: time + length, title: readTitle(bytes) });
    }
    return found;
  }
  return listBoxes(moov, 8, moov.byteLength)
    .filter(({ kind }) => kind === "udta")
    .flatMap((udta) => readNeroList(moov, findBox(moov, udta, "chpl")));
}

interface Sample {
  /** Offset and size in bytes. */
  at: number;
  size: number;
  /** Seconds. */
  time: number;
  length: number;
}

function endOf({ at, size }: Sample): number {
  return at + size;
}

// ISO/IEC 14496-12, 8.6.1.2 and 8.7.3 to 8.7.5; every loop ends with the limit or its box.
function listSamples(moov: DataView, trak: Box): Sample[] {
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
  const [times, runs, listed] = [table("stts", 8), table("stsc", 12), table("stsz", 4, 12)];
  // One size may be that of all samples, which then are not listed.
  const alike = table("stsz", 12, 0).rows > 0 ? table("stsz", 12, 4).value(0) : 0;
  const sizes = alike > 0 ? { rows: table("stsz", 12, 8).value(0), value: () => alike } : listed;
  const wide = stbl && findBox(moov, stbl, "co64");
  const places = wide ? table("co64", 8) : table("stco", 4);
  const samples: Sample[] = [];
  const { delay, until } = readDelay(moov, trak);
  let [time, row, left] = [0, 0, times.rows > 0 ? times.value(0) : 0];
  for (let chunk = 0, run = 0; chunk < places.rows && scale > 0; chunk++) {
    while (run + 1 < runs.rows && runs.value(run + 1) <= chunk + 1) run++;
    let at = wide ? places.value(chunk) * 2 ** 32 + places.value(chunk, 4) : places.value(chunk);
    const inside = runs.rows > 0 ? runs.value(run, 4) : 0;
    for (let count = 0; count < inside; count++) {
      while (left === 0 && row + 1 < times.rows) left = times.value(++row);
      const done = samples.length >= CHAPTER_LIMITS.chapters;
      if (left === 0 || samples.length >= sizes.rows || done) return samples;
      const [size, ticks] = [sizes.value(samples.length), times.value(row, 4)];
      const start = delay + time / scale;
      samples.push({ ...{ at, size }, time: start, length: Math.min(ticks / scale, until - start) });
      at += size;
      time += ticks;
      left--;
    }
  }
  return samples;
}

// Seconds of an empty edit at the start, and at which the one after it ends.
function readDelay(moov: DataView, trak: Box): { delay: number; until: number } {
  const elst = findBox(moov, trak, "edts", "elst");
  const mvhd = listBoxes(moov, 8, moov.byteLength).find(({ kind }) => kind === "mvhd");
  const scale = readTimescale(moov, mvhd ?? null);
  const [empty, shown] = elst && scale > 0 ? readEdits(moov, elst) : [];
  if (!empty || !shown || empty.from >= 0 || shown.from < 0)
    return { delay: 0, until: Number.POSITIVE_INFINITY };
  const delay = empty.length / scale;
  return { delay, until: shown.length > 0 ? delay + shown.length / scale : Number.POSITIVE_INFINITY };
}

// A length of two bytes and the text, in UTF-16 where it has a byte order mark.
function readTitle(bytes: Uint8Array): string {
  if (bytes.length < 2) return "";
  const text = bytes.subarray(2, 2 + viewOf(bytes).getUint16(0));
  const mark = text.length < 2 ? 0 : viewOf(text).getUint16(0);
  if (mark === 0xfeff) return new TextDecoder("utf-16be").decode(text);
  return new TextDecoder(mark === 0xfffe ? "utf-16le" : "utf-8").decode(text);
}

// Starts in units of 100 ns, each with a title after its length.
function readNeroList(moov: DataView, chpl: Box | null): FoundChapter[] {
  if (!chpl || chpl.end - chpl.start < 5) return [];
  let at = chpl.start + (moov.getUint8(chpl.start) === 0 ? 4 : 8);
  const count = at < chpl.end ? moov.getUint8(at++) : 0;
  const found: FoundChapter[] = [];
  while (found.length < count && at + 9 <= chpl.end) {
    const start = Number(moov.getBigUint64(at)) / 1e7;
    const length = moov.getUint8(at + 8);
    if (at + 9 + length > chpl.end) break;
    const title = bytesOf(moov).subarray(at + 9, at + 9 + length);
    found.push({ start, title: new TextDecoder().decode(title) });
    at += 9 + length;
  }
  return found;
}
