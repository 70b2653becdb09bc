import type { Chapter } from "../media/chapters.ts";
import { MAX_TAG_TEXT, type TagValues } from "../media/tags.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, toBase64, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import type { Edit } from "./file-edit.ts";
import type { Cover } from "./file-metadata.ts";
import { type Bytes, cutText, lengthOf, letters, u32 } from "./mp4-boxes.ts";

/** One page of an Ogg stream (RFC 3533, 6). */
interface Page {
  bytes: Uint8Array;
  /** Length of its header in bytes, and its segment lengths. */
  head: number;
  lacing: Uint8Array;
}

const HEADER = 27;
const SEQUENCE = 18;
const CHECKSUM = 22;
const MAX_SEGMENTS = 255;
const CONTINUED = 1;
const FRONT = 3;

/** Edits to the comments of a finished file that ffmpeg 5.1 cannot make: a cover, and several values of a tag. */
export interface CommentEdits {
  cover: Cover | null;
  /** The values of tags that ffmpeg joined with semicolons. */
  values: TagValues;
}

/** Edits the comments of an Ogg file of Opus or Vorbis, and renumbers the later pages. */
export function editOggComments(edits: CommentEdits): TransformStream<Uint8Array, Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  let headers: HeaderReader | null = createHeaderReader();
  let shift = 0;
  return new TransformStream({
    transform(bytes, controller) {
      rest = concatBytes([rest, bytes]);
      for (let page = readPage(rest); page; page = readPage(rest)) {
        rest = rest.subarray(page.bytes.length);
        if (!headers) {
          const later = page.bytes.slice();
          const view = viewOf(later);
          view.setUint32(SEQUENCE, view.getUint32(SEQUENCE, true) + shift, true);
          controller.enqueue(withChecksum(later));
          continue;
        }
        if (!headers.add(page)) continue;
        const [first, ...packets] = headers.packets;
        const [comments, ...others] = packets;
        if (!first || !comments) throw errors.commentsNotEdited();
        const pages = writePages(page, [editPacket(comments, edits), ...others]);
        controller.enqueue(headers.opening);
        for (const each of pages) controller.enqueue(each);
        shift = pages.length + 1 - headers.pages;
        headers = null;
      }
    },
    flush() {
      if (headers || rest.length > 0) throw errors.commentsNotEdited();
    },
  });
}

function readPage(bytes: Uint8Array): Page | null {
  if (bytes.length < HEADER) return null;
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== "OggS") throw errors.commentsNotEdited();
  const head = HEADER + (bytes[HEADER - 1] ?? 0);
  const lacing = bytes.subarray(HEADER, head);
  const end = head + lacing.reduce((sum, length) => sum + length, 0);
  return bytes.length < end ? null : { bytes: bytes.subarray(0, end), head, lacing };
}

interface HeaderReader {
  /** Adds a page; returns true once the headers are complete, which is always at the end of a page. */
  add(page: Page): boolean;
  readonly packets: Uint8Array[];
  /** The first page, left unchanged. */
  opening: Uint8Array;
  pages: number;
}

function createHeaderReader(): HeaderReader {
  let open: Uint8Array[] = [];
  let expected = 2;
  const reader: HeaderReader = {
    packets: [],
    opening: new Uint8Array(),
    pages: 0,
    add({ bytes, head, lacing }) {
      if (reader.pages++ === 0) {
        reader.opening = bytes.slice();
        // Vorbis has its codebooks after the comments.
        expected = String.fromCharCode(...bytes.subarray(head, head + 8)) === "OpusHead" ? 2 : 3;
      }
      let at = head;
      for (const length of lacing) {
        open.push(bytes.slice(at, at + length));
        at += length;
        if (length === 255) continue;
        reader.packets.push(concatBytes(open));
        open = [];
      }
      if (reader.packets.length > expected) throw errors.commentsNotEdited();
      return reader.packets.length === expected && open.length === 0;
    },
  };
  return reader;
}

const FLAC = { magic: 4, header: 4, comments: 4, last: 0x80, maxLength: 0xffffff } as const;

/** Edits the comments of a FLAC file (RFC 9639, 8.6), whose metadata blocks precede its frames. */
export function editFlacComments(edits: CommentEdits): TransformStream<Uint8Array, Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  let at: number = FLAC.magic;
  let isDone = false;
  return new TransformStream({
    transform(bytes, controller) {
      if (isDone) {
        controller.enqueue(bytes);
        return;
      }
      rest = concatBytes([rest, bytes]);
      while (!isDone && at + FLAC.header <= rest.length) {
        const kind = rest[at] ?? 0;
        const start = at + FLAC.header;
        const end = start + (viewOf(rest).getUint32(at) & FLAC.maxLength);
        const isComments = (kind & ~FLAC.last) === FLAC.comments;
        if (isComments && end > rest.length) return;
        if (isComments) {
          const block = editComments(rest.subarray(start, end), 0, edits);
          if (block.length > FLAC.maxLength) throw errors.commentsNotEdited();
          const header = new Uint8Array(FLAC.header);
          viewOf(header).setUint32(0, block.length);
          header[0] = kind;
          rest = concatBytes([rest.subarray(0, at), header, block, rest.subarray(end)]);
        }
        isDone = isComments || (kind & FLAC.last) !== 0;
        at = end;
      }
      if (!isDone) return;
      controller.enqueue(rest);
      rest = new Uint8Array();
    },
    flush() {
      if (!isDone) throw errors.commentsNotEdited();
    },
  });
}

function editPacket(packet: Uint8Array, edits: CommentEdits): Uint8Array {
  return editComments(packet, packet[0] === 3 ? 7 : 8, edits);
}

function editComments(bytes: Uint8Array, start: number, { cover, values }: CommentEdits): Uint8Array {
  const view = viewOf(bytes);
  const count = start + 4 + view.getUint32(start, true);
  const comments: Uint8Array[] = [];
  let end = count + 4;
  for (let remaining = view.getUint32(count, true); remaining > 0; remaining--) {
    const next = end + 4 + view.getUint32(end, true);
    comments.push(...splitComment(bytes.subarray(end + 4, next), values));
    end = next;
  }
  if (cover) {
    comments.push(new TextEncoder().encode(`METADATA_BLOCK_PICTURE=${toBase64(pictureBlock(cover))}`));
  }
  return concatBytes([
    bytes.subarray(0, count),
    littleEndian(comments.length),
    ...comments.flatMap((comment) => [littleEndian(comment.length), comment]),
    bytes.subarray(end),
  ]);
}

// Formats name some tags differently, so a joined text is found by its values.
function splitComment(comment: Uint8Array, values: TagValues): Uint8Array[] {
  const text = new TextDecoder().decode(comment);
  const at = text.indexOf("=") + 1;
  const own = Object.values(values).find((each) => each.join(";") === text.slice(at));
  if (!own) return [comment];
  return own.map((value) => new TextEncoder().encode(text.slice(0, at) + value));
}

function littleEndian(number: number): Uint8Array {
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint32(0, number, true);
  return bytes;
}

// RFC 9639, 8.8; 0 marks an unknown size.
function pictureBlock({ mime, bytes }: Cover): Uint8Array {
  const type = new TextEncoder().encode(mime);
  const block = new Uint8Array(32 + type.length + bytes.length);
  const view = viewOf(block);
  view.setUint32(0, FRONT);
  view.setUint32(4, type.length);
  block.set(type, 8);
  view.setUint32(28 + type.length, bytes.length);
  block.set(bytes, 32 + type.length);
  return block;
}

// RFC 3533, 6: all pages but the last are full, and a page on which no packet ends has no time stamp.
function writePages({ bytes }: Page, packets: readonly Uint8Array[]): Uint8Array[] {
  const segments = packets.flatMap((packet) => {
    const full = Array.from({ length: Math.floor(packet.length / 255) }, () => 255);
    return [...full, packet.length % 255];
  });
  const body = concatBytes(packets);
  const pages: Uint8Array[] = [];
  let at = 0;
  for (let first = 0; first < segments.length; first += MAX_SEGMENTS) {
    const lacing = segments.slice(first, first + MAX_SEGMENTS);
    const length = lacing.reduce((sum, each) => sum + each, 0);
    const page = new Uint8Array(HEADER + lacing.length + length);
    page.set(bytes.subarray(0, HEADER));
    page.set(lacing, HEADER);
    page.set(body.subarray(at, at + length), HEADER + lacing.length);
    at += length;
    page[5] = first > 0 && segments[first - 1] === 255 ? CONTINUED : 0;
    page[HEADER - 1] = lacing.length;
    const view = viewOf(page);
    view.setBigInt64(6, lacing.some((each) => each < 255) ? 0n : -1n, true);
    view.setUint32(SEQUENCE, pages.length + 1, true);
    pages.push(withChecksum(page));
  }
  return pages;
}

function withChecksum(page: Uint8Array): Uint8Array {
  const view = viewOf(page);
  view.setUint32(CHECKSUM, 0);
  let sum = 0;
  for (const byte of page) sum = ((sum << 8) ^ (CHECKSUMS[(sum >>> 24) ^ byte] ?? 0)) >>> 0;
  view.setUint32(CHECKSUM, sum, true);
  return page;
}

const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, index) => {
  let sum = index << 24;
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  return sum >>> 0;
});

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
