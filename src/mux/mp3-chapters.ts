import type { Chapter } from "../media/chapters.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes } from "../util/bytes.ts";
import type { Edit } from "./file-edit.ts";
import { type Bytes, cutText, lengthOf, letters, u32 } from "./mp4-boxes.ts";

const ID3 = { header: 10, version: 4, utf8: 3 } as const;
// `frame`: ffmpeg 5.1 misreads the size of a subframe of 128 bytes or more and skips the chapter.
const LIMITS = { frame: 127, time: 0xffffffff } as const;
const NO_OFFSET = 0xffffffff;

/** Plans chapters for a finished MP3: in its ID3v2.4 tag, or in a new one at the start. */
export async function addToMp3(reader: ByteReader, chapters: readonly Chapter[]): Promise<Edit[]> {
  const frames = chapters.flatMap(({ start, end, title }, index) => {
    const [from, to] = [start, end].map((time) => Math.min(Math.round(time * 1000), LIMITS.time));
    const times = u32(from ?? 0, to ?? 0, NO_OFFSET, NO_OFFSET);
    const text = frame("TIT2", [Uint8Array.of(ID3.utf8), cutText(title, LIMITS.frame - 1)]);
    return frame("CHAP", [letters(`ch${index}\0`), times, ...text]);
  });
  // Some players show no chapters without a table; flags 3 mean top-level and ordered.
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
