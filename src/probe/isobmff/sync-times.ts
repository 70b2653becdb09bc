import { type Box, findBox, listBoxes } from "./boxes.ts";
import { readEdits, readHandler, readTimescale } from "./track-boxes.ts";

/**
 * Returns the presentation times in seconds of the first video track's sync samples (ISO/IEC 14496-12, 8.6), with edits
 * applied. Empty when there are more than `most`, or without a table, which means that every sample is one.
 */
export function readSyncTimes(moov: DataView, most: number): number[] {
  const movie: Box = { kind: "moov", start: 8, end: moov.byteLength };
  const trak = listBoxes(moov, movie.start, movie.end).find(
    (box) => box.kind === "trak" && readHandler(moov, box) === "vide",
  );
  const stbl = trak && findBox(moov, trak, "mdia", "minf", "stbl");
  const stss = stbl && findBox(moov, stbl, "stss");
  const stts = stbl && findBox(moov, stbl, "stts");
  const mdhd = trak && findBox(moov, trak, "mdia", "mdhd");
  const mvhd = findBox(moov, movie, "mvhd");
  if (!trak || !stbl || !stss || !stts || !mdhd || !mvhd) return [];
  const [ticks, movieTicks] = [readTimescale(moov, mdhd), readTimescale(moov, mvhd)];
  const count = Math.min(moov.getUint32(stss.start + 4), Math.floor((stss.end - stss.start - 8) / 4));
  if (ticks === 0 || movieTicks === 0 || count > most) return [];

  const shift = readShift(moov, findBox(moov, trak, "edts", "elst"), ticks, movieTicks);
  const decode = walkRuns(moov, stts);
  const ctts = findBox(moov, stbl, "ctts");
  const offset = ctts && walkRuns(moov, ctts);
  const times: number[] = [];
  let before = 0;
  for (let index = 0; index < count; index++) {
    const sample = moov.getUint32(stss.start + 8 + index * 4) - 1;
    // A table that goes backwards would have to be walked from its start again and again.
    if (sample < before) return [];
    before = sample;
    times.push((decode(sample).sum + (offset ? offset(sample).value : 0)) / ticks + shift);
  }
  return times;
}

// Seconds to add to media times: the empty edits at the start, minus the start of the first real one.
function readShift(view: DataView, elst: Box | null, ticks: number, movieTicks: number): number {
  let shift = 0;
  if (!elst) return shift;
  for (const { length, from } of readEdits(view, elst)) {
    if (from >= 0) return shift - from / ticks;
    shift += length / movieTicks;
  }
  return shift;
}

// stts and ctts: pairs of a sample count and the value of each; samples are requested in order.
function walkRuns(view: DataView, box: Box): (sample: number) => { sum: number; value: number } {
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
