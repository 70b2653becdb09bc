import type { Chapter } from "../../core/chapters/chapters.ts";
import type { ByteReader } from "../../core/ports.ts";
import { EBML } from "../../probe/ebml.ts";
import { concatBytes } from "../../util/bytes.ts";
import { type Bytes, fullBox, lengthOf, letters, u32, u64 } from "../mp4/mp4-boxes.ts";
import type { Edit } from "../subtitles/edit-file.ts";
import { element, uint } from "../subtitles/webm-text.ts";

// A title's length takes one byte.
const MOST = 255;

/** Writes chapters as Nero's list (chpl) of an MP4 or MOV: starts in units of 100 ns. */
export function writeNeroList(chapters: readonly Chapter[]): Bytes {
  const entries = chapters.flatMap(({ start, title }) => {
    const text = cutText(title, MOST);
    return [u64(Math.round(start * 1e7)), Uint8Array.of(text.length), text];
  });
  return fullBox("chpl", 1, 0, [u32(0), Uint8Array.of(chapters.length), ...entries]);
}

/** Writes chapters as an element of a WebM, in nanoseconds. */
export function writeWebmChapters(chapters: readonly Chapter[]): Uint8Array {
  const atoms = chapters.map(({ start, end, title }, index) =>
    element(
      EBML.chapter,
      uint(EBML.chapter_uid, index + 1),
      uint(EBML.chapter_start, Math.round(start * 1e9)),
      uint(EBML.chapter_end, Math.round(end * 1e9)),
      element(
        EBML.chapter_display,
        element(EBML.chapter_string, new TextEncoder().encode(title)),
        element(EBML.chapter_language, letters("und")),
      ),
    ),
  );
  return element(EBML.chapters, element(EBML.edition, ...atoms));
}

const ID3 = { header: 10, version: 4, utf8: 3 } as const;
// `frame`: from 128 bytes on, ffmpeg 5.1 misreads the size of a frame within a chapter, and passes over the chapter.
const LIMITS = { frame: 127, time: 0xffffffff } as const;
// No place in the file, only in time.
const NOWHERE = 0xffffffff;

/** Plans chapters for a finished MP3: in its ID3v2.4 tag, or in one before everything else. */
export async function addToMp3(reader: ByteReader, chapters: readonly Chapter[]): Promise<Edit[]> {
  const frames = chapters.flatMap(({ start, end, title }, index) => {
    const [from, to] = [start, end].map((time) => Math.min(Math.round(time * 1000), LIMITS.time));
    const times = u32(from ?? 0, to ?? 0, NOWHERE, NOWHERE);
    const text = frame("TIT2", [Uint8Array.of(ID3.utf8), cutText(title, LIMITS.frame - 1)]);
    return frame("CHAP", [letters(`ch${index}\0`), times, ...text]);
  });
  // Ordered, and the only table: some players show no chapters without one.
  const names = chapters.map((_, index) => letters(`ch${index}\0`));
  const table = frame("CTOC", [letters("toc\0"), Uint8Array.of(3, names.length), ...names]);
  const head = await reader.read({ start: 0, end: ID3.header });
  const own =
    String.fromCharCode(...head.subarray(0, 3)) === "ID3" && head[3] === ID3.version && head[5] === 0;
  const size = own ? head.subarray(6).reduce((sum, byte) => sum * 128 + byte, 0) : 0;
  const bytes = [
    letters("ID3"),
    Uint8Array.of(ID3.version, 0, 0),
    sevenBits(size + lengthOf([...table, ...frames])),
  ];
  return [{ start: 0, end: own ? ID3.header : 0, bytes: [concatBytes([...bytes, ...table, ...frames])] }];
}

function frame(name: string, content: Bytes): Bytes {
  return [letters(name), sevenBits(lengthOf(content)), new Uint8Array(2), ...content];
}

function sevenBits(value: number): Uint8Array {
  return Uint8Array.from([21, 14, 7, 0], (shift) => (value >> shift) & 0x7f);
}

// Never within a character.
function cutText(text: string, most: number): Uint8Array {
  const bytes = new Uint8Array(most);
  return bytes.subarray(0, new TextEncoder().encodeInto(text, bytes).written);
}
