import { concatBytes, viewOf } from "../util/bytes.ts";
import type { Cue } from "./cue.ts";
import { PLAIN, type Run, readMarkup, writeMarkup } from "./markup.ts";

// 3GPP TS 26.245, 5.16: styles are records of 12 bytes, in which a byte of flags sets the face.
const RECORD = 12;
const FLAGS = { bold: 1, italic: 2, underline: 4 } as const;
const FONT = { id: 1, size: 16, color: 0xffffffff } as const;
const MOST_TEXT = 0xffff;
// Bytes of UTF-8 that a unit of UTF-16 becomes at most.
const MOST_BYTES = 3;

/** Parses a sample of 3GPP timed text, the `mov_text` of MP4 and MOV; null when it shows nothing. */
export function readTimedText(sample: Uint8Array): Pick<Cue, "text" | "settings"> | null {
  if (sample.length < 3) return null;
  const view = viewOf(sample);
  const end = Math.min(sample.length, 2 + view.getUint16(0));
  const text = decode(sample.subarray(2, end));
  const marked = writeMarkup(readStyles(view, end, [...text]));
  return marked === "" ? null : { text: marked, settings: "" };
}

// Without a mark of UTF-16 it is UTF-8.
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

/** Whether a sample has room for all of a text: its length is a number of 16 bits. */
export function fitsTimedText(marked: string): boolean {
  return marked.length * MOST_BYTES <= MOST_TEXT || plainBytes(readMarkup(marked)).length <= MOST_TEXT;
}

function plainBytes(runs: readonly Run[]): Uint8Array {
  return new TextEncoder().encode(runs.map((run) => run.text).join(""));
}

/** Writes such a sample. */
export function writeTimedText(marked: string): Uint8Array {
  const runs = readMarkup(marked);
  const text = plainBytes(runs).subarray(0, MOST_TEXT);
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
    return flags > 0 && at <= MOST_TEXT ? [{ start, end: at, flags }] : [];
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
