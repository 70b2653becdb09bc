import type { Chapter } from "../media/chapters.ts";
import { MAX_TAG_TEXT, type TagValues } from "../media/tags.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes } from "../util/bytes.ts";
import type { Edit } from "./file-edit.ts";
import { type Bytes, cutText, lengthOf, letters, u32 } from "./mp4-boxes.ts";

const ID3 = { header: 10, version: 4, utf8: 3 } as const;
// `frame`: ffmpeg 5.1 misreads the size of a subframe of 128 bytes or more and skips the chapter.
const LIMITS = { frame: 127, time: 0xffffffff } as const;
const NO_OFFSET = 0xffffffff;
const MAX_TEXT = 4 * MAX_TAG_TEXT;

/** Changes to a file's ID3 tag that ffmpeg cannot write. */
export interface Id3Edits {
  chapters: readonly Chapter[];
  /** The values of tags that ffmpeg joins with semicolons. */
  values: TagValues;
}

/** Plans edits to the ID3v2.4 tag of a finished file, or a new one with the chapters at its start. */
export async function editId3(reader: ByteReader, { chapters, values }: Id3Edits): Promise<Edit[]> {
  const head = await reader.read({ start: 0, end: ID3.header });
  const own = latin(head.subarray(0, 3)) === "ID3" && head[3] === ID3.version && head[5] === 0;
  const size = own ? readSevenBits(head, 6) : 0;
  const texts = Object.keys(values).length > 0 ? await splitTexts(reader, ID3.header + size, values) : [];
  if (chapters.length === 0) return texts;
  const frames = writeChapters(chapters);
  const bytes = [letters("ID3"), Uint8Array.of(ID3.version, 0, 0), sevenBits(size + lengthOf(frames))];
  return [{ start: 0, end: own ? ID3.header : 0, bytes: [concatBytes([...bytes, ...frames])] }, ...texts];
}

function writeChapters(chapters: readonly Chapter[]): Bytes {
  const frames = chapters.flatMap(({ start, end, title }, index) => {
    const [from, to] = [start, end].map((time) => Math.min(Math.round(time * 1000), LIMITS.time));
    const times = u32(from ?? 0, to ?? 0, NO_OFFSET, NO_OFFSET);
    const text = frame("TIT2", [Uint8Array.of(ID3.utf8), cutText(title, LIMITS.frame - 1)]);
    return frame("CHAP", [letters(`ch${index}\0`), times, ...text]);
  });
  // Some players show no chapters without a table; flags 3 mean top-level and ordered.
  const names = chapters.map((_, index) => letters(`ch${index}\0`));
  const table = frame("CTOC", [letters("toc\0"), Uint8Array.of(3, names.length), ...names]);
  return [...table, ...frames];
}

// id3.org, 2.4.0-structure, 4.2: a zero separates the values of a text, which ffmpeg writes in Latin-1 or UTF-8.
async function splitTexts(reader: ByteReader, end: number, values: TagValues): Promise<Edit[]> {
  const edits: Edit[] = [];
  for (let at = ID3.header; at + ID3.header < end; ) {
    const head = await reader.read({ start: at, end: at + ID3.header });
    const [start, size] = [at + ID3.header, readSevenBits(head, 4)];
    const name = latin(head.subarray(0, 4));
    at = start + size;
    if (!/^T[A-Z\d]{3}$/.test(name) || size > MAX_TEXT) continue;
    const bytes = await reader.read({ start, end: at });
    const from = name === "TXXX" ? bytes.indexOf(0, 1) + 1 : 1;
    const text = new TextDecoder().decode(bytes.subarray(from)).replace(/\0+$/, "");
    const own = Object.values(values).find((each) => each.join(";") === text);
    if (own) {
      const split = new TextEncoder().encode(own.join("\0"));
      edits.push({ start: start + from, end: start + from + split.length, bytes: [split] });
    }
  }
  return edits;
}

function latin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function readSevenBits(bytes: Uint8Array, at: number): number {
  return bytes.subarray(at, at + 4).reduce((sum, byte) => sum * 128 + byte, 0);
}

function frame(name: string, content: Bytes): Bytes {
  return [letters(name), sevenBits(lengthOf(content)), new Uint8Array(2), ...content];
}

function sevenBits(value: number): Uint8Array {
  return Uint8Array.from([21, 14, 7, 0], (shift) => (value >> shift) & 0x7f);
}
