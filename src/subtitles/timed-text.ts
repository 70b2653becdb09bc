import { readMovieExtras, readMovieIndex } from "../probe/mp4.ts";
import { type Box, findBox, listBoxes, readShift, readTimescale, readTrackId } from "../probe/mp4-boxes.ts";
import { concatBytes, viewOf } from "../util/bytes.ts";
import { type Cue, PLAIN, type Run, readMarkup, writeMarkup } from "./cue.ts";
import { CUE_LIMITS, type CueBudget, type CueReader, createCueList } from "./track.ts";

// 3GPP TS 26.245, 5.16: a style record has 12 bytes, one of them for the flags of the face.
const RECORD = 12;
const FLAGS = { bold: 1, italic: 2, underline: 4 } as const;
const FONT = { id: 1, size: 16, color: 0xffffffff } as const;
const MAX_TEXT_BYTES = 0xffff;
const MAX_BYTES_PER_UNIT = 3;

/** Parses a sample of 3GPP timed text, `mov_text` in MP4 and MOV; null when it is empty. */
export function readTimedText(sample: Uint8Array): Pick<Cue, "text" | "settings"> | null {
  if (sample.length < 3) return null;
  const view = viewOf(sample);
  const end = Math.min(sample.length, 2 + view.getUint16(0));
  const text = decode(sample.subarray(2, end));
  const marked = writeMarkup(readStyles(view, end, [...text]));
  return marked === "" ? null : { text: marked, settings: "" };
}

function decode(bytes: Uint8Array): string {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  const encoding = mark === 0xfeff ? "utf-16be" : mark === 0xfffe ? "utf-16le" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

function readStyles(view: DataView, start: number, letters: readonly string[]): Run[] {
  const runs: Run[] = [];
  let at = 0;
  const add = (end: number, flags: number) => {
    const text = letters.slice(at, Math.max(at, end)).join("");
    at = Math.max(at, end);
    const face = Object.entries(FLAGS).map(([name, flag]) => [name, (flags & flag) !== 0]);
    if (text !== "") runs.push({ text, ...PLAIN, ...Object.fromEntries(face) });
  };
  for (let box = start; box + 10 <= view.byteLength; ) {
    const size = view.getUint32(box);
    if (size < 8) break;
    const records = view.getUint32(box + 4) === STYL ? view.getUint16(box + 8) : 0;
    for (let index = 0; index < records; index++) {
      const record = box + 10 + index * RECORD;
      if (record + RECORD > view.byteLength) break;
      add(Math.min(letters.length, view.getUint16(record)), 0);
      add(Math.min(letters.length, view.getUint16(record + 2)), view.getUint8(record + 6));
    }
    box += size;
  }
  add(letters.length, 0);
  return runs;
}

const STYL = 0x7374796c;

/** Returns whether a text fits into a sample, whose length has 16 bits. */
export function fitsTimedText(marked: string): boolean {
  return (
    marked.length * MAX_BYTES_PER_UNIT <= MAX_TEXT_BYTES ||
    plainBytes(readMarkup(marked)).length <= MAX_TEXT_BYTES
  );
}

function plainBytes(runs: readonly Run[]): Uint8Array {
  return new TextEncoder().encode(runs.map((run) => run.text).join(""));
}

/** Writes a sample of 3GPP timed text. */
export function writeTimedText(marked: string): Uint8Array {
  const runs = readMarkup(marked);
  const text = plainBytes(runs).subarray(0, MAX_TEXT_BYTES);
  const length = new Uint8Array(2);
  viewOf(length).setUint16(0, text.length);
  let at = 0;
  const styled = runs.flatMap((run) => {
    const start = at;
    at += [...run.text].length;
    const flags = Object.entries(FLAGS).reduce(
      (sum, [name, flag]) => (run[name as keyof typeof FLAGS] ? sum + flag : sum),
      0,
    );
    return flags > 0 && at <= MAX_TEXT_BYTES ? [{ start, end: at, flags }] : [];
  });
  if (styled.length === 0) return concatBytes([length, text]);
  const box = new Uint8Array(10 + styled.length * RECORD);
  const view = viewOf(box);
  view.setUint32(0, box.length);
  view.setUint32(4, STYL);
  view.setUint16(8, styled.length);
  for (const [index, { start, end, flags }] of styled.entries()) {
    const record = 10 + index * RECORD;
    for (const [offset, value] of [start, end, FONT.id].entries()) view.setUint16(record + offset * 2, value);
    view.setUint8(record + 6, flags);
    view.setUint8(record + 7, FONT.size);
    view.setUint32(record + 8, FONT.color);
  }
  return concatBytes([length, text, box]);
}

const MAX_SAMPLE = 2 ** 18;
// Over HTTP each read takes a round trip, so samples no further apart than `gap` are read at once, up to `bytes`.
const NEAR = { gap: 65_536, bytes: 1_048_576 } as const;

/** Reads the cues of timed text in an MP4 or MOV. */
export const readMp4Cues: CueReader = async (reader, streams, { signal, onWait, until }) => {
  const cues = new Map<number, readonly Cue[]>();
  const index = await readMovieIndex(reader);
  if (!index) return cues;
  const { moov } = index;
  const { places } = readMovieExtras(index);
  const budget: CueBudget = { ...CUE_LIMITS };
  for (const trak of listBoxes(moov, 8, moov.byteLength)) {
    if (trak.kind !== "trak") continue;
    const stream = places.get(readTrackId(moov, trak));
    if (stream === undefined || !streams.includes(stream)) continue;
    const list = createCueList(budget);
    const selection = selectSamples(samplesOf(moov, trak, index.start), until);
    for (const group of groupSamples(selection.samples())) {
      onWait();
      const [first, last] = [group[0] as TextSample, group.at(-1) as TextSample];
      const bytes = await reader.read({ start: first.at, end: last.at + last.size }, signal);
      for (const { start, end, at, size } of group) {
        const text = bytes.subarray(at - first.at, at - first.at + size);
        list.add({ start, end }, readTimedText(text), size);
      }
      if (!list.whole) break;
    }
    if (selection.whole() && list.whole) cues.set(stream, list.cues);
  }
  return cues;
};

function selectSamples(all: Iterable<TextSample>, until: number) {
  let whole = true;
  return {
    whole: () => whole,
    *samples(): Generator<TextSample, void> {
      let read = 0;
      for (const sample of all) {
        const { start, end, size } = sample;
        whole &&= size <= MAX_SAMPLE && read++ < CUE_LIMITS.cues * 2;
        if (start >= until || !whole) return;
        if (size > 2 && end > start) yield sample;
      }
    },
  };
}

function* groupSamples(samples: Iterable<TextSample>): Generator<TextSample[], void> {
  let group: TextSample[] = [];
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

interface TextSample {
  /** Milliseconds. */
  start: number;
  end: number;
  /** Offset and size in bytes. */
  at: number;
  size: number;
}

// ISO/IEC 14496-12, 8.6.1 (stts) and 8.7 (stsz, stsc, stco, co64).
function* samplesOf(moov: DataView, trak: Box, from: number): Generator<TextSample, void> {
  const stbl = findBox(moov, trak, "mdia", "minf", "stbl");
  const ticks = readTimescale(moov, findBox(moov, trak, "mdia", "mdhd"));
  const boxOf = (kind: string) => stbl && findBox(moov, stbl, kind);
  const [stts, stsz, stsc] = [boxOf("stts"), boxOf("stsz"), boxOf("stsc")];
  const chunkOffsets = boxOf("stco") ?? boxOf("co64");
  if (!stts || !stsz || !stsc || !chunkOffsets || ticks === 0 || stsz.end - stsz.start < 12) return;
  const shift = readShift(moov, trak, ticks) - from;
  const wide = chunkOffsets.kind === "co64";
  const [shared, count] = [moov.getUint32(stsz.start + 4), moov.getUint32(stsz.start + 8)];
  let [time, remaining, run] = [0, 0, stts.start + 8];
  let [sample, entry] = [0, stsc.start + 8];
  const chunks = Math.floor((chunkOffsets.end - chunkOffsets.start - 8) / (wide ? 8 : 4));
  for (let chunk = 1; chunk <= chunks && sample < count; chunk++) {
    while (entry + 24 <= stsc.end && moov.getUint32(entry + 12) <= chunk) entry += 12;
    if (entry + 12 > stsc.end) return;
    const entryAt = chunkOffsets.start + 8 + (chunk - 1) * (wide ? 8 : 4);
    let at = wide ? Number(moov.getBigUint64(entryAt)) : moov.getUint32(entryAt);
    for (let index = moov.getUint32(entry + 4); index > 0 && sample < count; index--, sample++) {
      while (remaining === 0) {
        if (run + 8 > stts.end) return;
        remaining = moov.getUint32(run);
        run += 8;
      }
      const sizes = stsz.start + 12 + sample * 4;
      if (shared === 0 && sizes + 4 > stsz.end) return;
      const size = shared || moov.getUint32(sizes);
      const duration = moov.getUint32(run - 4);
      const ms = (value: number) => Math.round((value / ticks + shift) * 1000);
      yield { start: ms(time), end: ms(time + duration), at, size };
      time += duration;
      remaining--;
      at += size;
    }
  }
}
