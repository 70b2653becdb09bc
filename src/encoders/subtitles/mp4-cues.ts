import { type Box, findBox, listBoxes } from "../../probe/isobmff/boxes.ts";
import { readMovieIndex } from "../../probe/isobmff/isobmff.ts";
import { readMovieExtras } from "../../probe/isobmff/movie-extras.ts";
import { readEdits, readTimescale } from "../../probe/isobmff/track-boxes.ts";
import type { Cue } from "../../subtitles/cue.ts";
import { readTimedText } from "../../subtitles/timed-text.ts";
import { type CueReader, createCueList, MOST, type Room } from "./subtitle-track.ts";

// A sample has its text, of 64 KiB at most, and its styles.
const MOST_SAMPLE = 2 ** 18;
// Texts so close to one another are read at once, up to so many bytes: over HTTP each read takes a round trip.
const NEAR = { gap: 65_536, bytes: 1_048_576 } as const;

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
    const wanted = shownUntil(samplesOf(moov, trak, index.start), until);
    for (const group of groupSamples(wanted.samples())) {
      onWait();
      const [first, last] = [group[0] as Sample, group.at(-1) as Sample];
      const bytes = await reader.read({ start: first.at, end: last.at + last.size }, signal);
      for (const { start, end, at, size } of group) {
        const text = bytes.subarray(at - first.at, at - first.at + size);
        list.add({ start, end }, readTimedText(text), size);
      }
      if (!list.whole) break;
    }
    if (wanted.whole() && list.whole) found.set(stream, list.cues);
  }
  return found;
};

// The samples with text that begin before a time; `whole` is false once one of them is more than people read.
function shownUntil(all: Iterable<Sample>, until: number) {
  let whole = true;
  return {
    whole: () => whole,
    *samples(): Generator<Sample, void> {
      let read = 0;
      for (const sample of all) {
        const { start, end, size } = sample;
        whole &&= size <= MOST_SAMPLE && read++ < MOST.cues * 2;
        if (start >= until || !whole) return;
        if (size > 2 && end > start) yield sample;
      }
    },
  };
}

function* groupSamples(samples: Iterable<Sample>): Generator<Sample[], void> {
  let group: Sample[] = [];
  for (const sample of samples) {
    const [first, last] = [group[0], group.at(-1)];
    const gap = last ? sample.at - last.at - last.size : 0;
    const isNear =
      gap >= 0 && gap <= NEAR.gap && sample.at + sample.size - (first ?? sample).at <= NEAR.bytes;
    if (!isNear) {
      yield group;
      group = [];
    }
    group.push(sample);
  }
  if (group.length > 0) yield group;
}

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
function* samplesOf(moov: DataView, trak: Box, from: number): Generator<Sample, void> {
  const stbl = findBox(moov, trak, "mdia", "minf", "stbl");
  const ticks = readTimescale(moov, findBox(moov, trak, "mdia", "mdhd"));
  const boxOf = (kind: string) => stbl && findBox(moov, stbl, kind);
  const [stts, stsz, stsc] = [boxOf("stts"), boxOf("stsz"), boxOf("stsc")];
  const places = boxOf("stco") ?? boxOf("co64");
  if (!stts || !stsz || !stsc || !places || ticks === 0 || stsz.end - stsz.start < 12) return;
  const shift = readShift(moov, trak, ticks) - from;
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
