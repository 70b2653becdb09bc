import { type Box, findBox, listBoxes } from "../../probe/isobmff/boxes.ts";
import { readMovieIndex } from "../../probe/isobmff/isobmff.ts";
import { readMovieExtras } from "../../probe/isobmff/movie-extras.ts";
import { readEdits, readTimescale } from "../../probe/isobmff/track-boxes.ts";
import type { Cue } from "../../subtitles/cue.ts";
import { readTimedText } from "../../subtitles/timed-text.ts";
import { type CueReader, createCueList, MOST, type Room } from "./subtitle-track.ts";

// A sample has its text, of 64 KiB at most, and its styles.
const MOST_SAMPLE = 2 ** 18;
const WAIT_SAMPLES = 500;

/** Reads the cues of timed text in an MP4 or MOV. */
export const readMp4Cues: CueReader = async (reader, streams, { signal, onWait, until }) => {
  const found = new Map<number, readonly Cue[]>();
  const index = await readMovieIndex(reader);
  if (!index) return found;
  const { moov } = index;
  const { places } = readMovieExtras(index);
  const room: Room = { ...MOST };
  for (const trak of listBoxes(moov, 8, moov.byteLength)) {
    if (trak.kind !== "trak") continue;
    const stream = places.get(trackId(moov, trak));
    if (stream === undefined || !streams.includes(stream)) continue;
    const list = createCueList(room);
    let [read, whole] = [0, true];
    for (const { start, end, at, size } of samplesOf(moov, trak)) {
      whole &&= size <= MOST_SAMPLE && read < MOST.cues * 2 && list.whole;
      if (start >= until || !whole) break;
      if (size > 2 && end > start) {
        const bytes = await reader.read({ start: at, end: at + size }, signal);
        list.add({ start, end }, readTimedText(bytes), size);
      }
      if (++read % WAIT_SAMPLES === 0) onWait();
    }
    if (whole && list.whole) found.set(stream, list.cues);
  }
  return found;
};

function trackId(moov: DataView, trak: Box): number {
  const tkhd = findBox(moov, trak, "tkhd");
  if (!tkhd || tkhd.end - tkhd.start < 24) return 0;
  return moov.getUint32(tkhd.start + (moov.getUint8(tkhd.start) === 1 ? 20 : 12));
}

interface Sample {
  /** Milliseconds. */
  start: number;
  end: number;
  /** Offset in the file, and bytes. */
  at: number;
  size: number;
}

// ISO/IEC 14496-12, 8.6.1 (stts) and 8.7 (stsz, stsc, stco, co64).
function* samplesOf(moov: DataView, trak: Box): Generator<Sample, void> {
  const stbl = findBox(moov, trak, "mdia", "minf", "stbl");
  const ticks = readTimescale(moov, findBox(moov, trak, "mdia", "mdhd"));
  const boxOf = (kind: string) => stbl && findBox(moov, stbl, kind);
  const [stts, stsz, stsc] = [boxOf("stts"), boxOf("stsz"), boxOf("stsc")];
  const places = boxOf("stco") ?? boxOf("co64");
  if (!stts || !stsz || !stsc || !places || ticks === 0 || stsz.end - stsz.start < 12) return;
  const shift = readShift(moov, trak, ticks);
  const wide = places.kind === "co64";
  const [shared, count] = [moov.getUint32(stsz.start + 4), moov.getUint32(stsz.start + 8)];
  let [time, left, run] = [0, 0, stts.start + 8];
  let [sample, entry] = [0, stsc.start + 8];
  const chunks = Math.floor((places.end - places.start - 8) / (wide ? 8 : 4));
  for (let chunk = 1; chunk <= chunks && sample < count; chunk++) {
    while (entry + 24 <= stsc.end && moov.getUint32(entry + 12) <= chunk) entry += 12;
    if (entry + 12 > stsc.end) return;
    const place = places.start + 8 + (chunk - 1) * (wide ? 8 : 4);
    let at = wide ? Number(moov.getBigUint64(place)) : moov.getUint32(place);
    for (let index = moov.getUint32(entry + 4); index > 0 && sample < count; index--, sample++) {
      while (left === 0) {
        if (run + 8 > stts.end) return;
        left = moov.getUint32(run);
        run += 8;
      }
      const sizes = stsz.start + 12 + sample * 4;
      if (shared === 0 && sizes + 4 > stsz.end) return;
      const size = shared || moov.getUint32(sizes);
      const lasts = moov.getUint32(run - 4);
      const ms = (value: number) => Math.round((value / ticks + shift) * 1000);
      yield { start: ms(time), end: ms(time + lasts), at, size };
      time += lasts;
      left--;
      at += size;
    }
  }
}

// Seconds by which an edit list moves the samples.
function readShift(moov: DataView, trak: Box, ticks: number): number {
  const elst = findBox(moov, trak, "edts", "elst");
  const movie = readTimescale(moov, findBox(moov, { kind: "moov", start: 8, end: moov.byteLength }, "mvhd"));
  let shift = 0;
  if (!elst || movie === 0) return 0;
  for (const { length, from } of readEdits(moov, elst)) {
    if (from >= 0) return shift - from / ticks;
    shift += length / movie;
  }
  return shift;
}
