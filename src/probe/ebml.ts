import type { ByteReader } from "../runs/ports.ts";
import { toHex } from "../util/bytes.ts";

/** One element of a Matroska file (RFC 8794, 4 to 6) within bytes in memory. */
export interface Element {
  id: number;
  /** Offsets of its header, its content and its end; `end` is null for an unknown size. */
  start: number;
  data: number;
  end: number | null;
}

/** Ids of the Matroska elements (RFC 9559, 5.1) used here. */
export const EBML = {
  header: 0x1a45dfa3,
  segment: 0x18538067,
  seek_head: 0x114d9b74,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  cluster: 0x1f43b675,
  cues: 0x1c53bb6b,
  attachments: 0x1941a469,
  chapters: 0x1043a770,
  tags: 0x1254c367,
  void: 0xec,
  crc: 0xbf,
  timestamp: 0xe7,
  position: 0xa7,
  previous_size: 0xab,
  simple_block: 0xa3,
  block_group: 0xa0,
  block: 0xa1,
  block_duration: 0x9b,
  block_additions: 0x75a1,
  block_more: 0xa6,
  block_additional: 0xa5,
  seek: 0x4dbb,
  seek_id: 0x53ab,
  seek_position: 0x53ac,
  cue_point: 0xbb,
  cue_time: 0xb3,
  cue_positions: 0xb7,
  cue_track: 0xf7,
  cue_cluster: 0xf1,
  cue_block: 0xf0,
  title: 0x7ba9,
  date: 0x4461,
  track: 0xae,
  track_number: 0xd7,
  track_type: 0x83,
  track_uid: 0x73c5,
  default_duration: 0x23e383,
  codec: 0x86,
  codec_delay: 0x56aa,
  language: 0x22b59c,
  track_name: 0x536e,
  by_default: 0x88,
  forced: 0x55aa,
  enabled: 0xb9,
  lacing: 0x9c,
  encodings: 0x6d80,
  encoding: 0x6240,
  encoding_scope: 0x5032,
  encryption: 0x5035,
  compression: 0x5034,
  compression_algorithm: 0x4254,
  compression_settings: 0x4255,
  timestamp_scale: 0x2ad7b1,
  duration: 0x4489,
  tag: 0x7373,
  targets: 0x63c0,
  tag_track_uid: 0x63c5,
  simple_tag: 0x67c8,
  tag_name: 0x45a3,
  tag_string: 0x4487,
  file: 0x61a7,
  file_mime: 0x4660,
  edition: 0x45b9,
  chapter: 0xb6,
  chapter_uid: 0x73c4,
  chapter_start: 0x91,
  chapter_end: 0x92,
  chapter_display: 0x80,
  chapter_string: 0x85,
  chapter_language: 0x437c,
} as const;

/** The types of tracks that are read or written (RFC 9559, 5.1.4.1.3). */
export const TRACK_TYPES = { video: 1, audio: 2, subtitle: 17 } as const;

/** Default of `timestamp_scale`: nanoseconds per tick. */
export const DEFAULT_TICK = 1_000_000;

/** Maximum elements to examine before the first cluster. */
export const MAX_TOP_ELEMENTS = 64;

const MAX_HEADER = 12;

/** Parses an element's header; null when it is malformed or incomplete. */
export function readElement(bytes: Uint8Array, at: number): Element | null {
  const width = vintWidth(bytes, at);
  if (width > 4) return null;
  const size = readVint(bytes, at + width);
  const data = at + width + vintWidth(bytes, at + width);
  if (size === null || data > bytes.length) return null;
  const id = readUint(bytes, at, at + width);
  return { id, start: at, data, end: size === Number.POSITIVE_INFINITY ? null : data + size };
}

export async function readElementAt(reader: ByteReader, at: number): Promise<Element | null> {
  const element = readElement(await reader.read({ start: at, end: at + MAX_HEADER }), 0);
  if (!element) return null;
  const { id, data, end } = element;
  return { id, start: at, data: at + data, end: end === null ? null : at + end };
}

/** Lists the complete children of an element in memory. */
export function listElements(bytes: Uint8Array, start: number, end: number): (Element & { end: number })[] {
  const elements: (Element & { end: number })[] = [];
  for (let at = start; at < end; ) {
    const element = readElement(bytes, at);
    if (element?.end == null || element.end > end) break;
    elements.push({ ...element, end: element.end });
    at = element.end;
  }
  return elements;
}

/**
 * Parses a variable-length number; infinity when all bits are set, which marks an unknown size; null when it is incomplete.
 */
export function readVint(bytes: Uint8Array, at: number): number | null {
  const width = vintWidth(bytes, at);
  if (width > 8 || at + width > bytes.length) return null;
  const marker = 2 ** (7 * width);
  const value =
    readUint(bytes, at + 1, at + width) + ((bytes[at] ?? 0) % 2 ** (8 - width)) * 256 ** (width - 1);
  return value >= marker - 1 ? Number.POSITIVE_INFINITY : value;
}

/** Parses a big-endian unsigned number; inexact above 2^53. */
export function readUint(bytes: Uint8Array, start: number, end: number): number {
  return bytes.subarray(start, end).reduce((value, byte) => value * 256 + byte, 0);
}

/** Encodes an element's header with a size of eight bytes. */
export function writeElement(id: number, size: number): Uint8Array {
  const width = Math.ceil((32 - Math.clz32(id)) / 8);
  const bytes = new Uint8Array(width + 8);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(width, (1n << 56n) | BigInt(size));
  for (let at = 0; at < width; at++) bytes[at] = id >>> (8 * (width - 1 - at));
  return bytes;
}

/** Encodes the header of a Void element of `length` bytes in total, at least 2. */
export function writeVoid(length: number): Uint8Array {
  const short = length - 2;
  if (short < 127) return Uint8Array.of(EBML.void, 0x80 | short);
  return writeElement(EBML.void, length - 9);
}

/** Returns the length in bytes of a variable-length number, which its first byte states; 9 when that is malformed. */
export function vintWidth(bytes: Uint8Array, at: number): number {
  return Math.clz32(bytes[at] ?? 0) - 23;
}

/** Formats an element's content as hexadecimal digits without leading zeros. */
export function readHex(bytes: Uint8Array, { data, end }: { data: number; end: number }): string {
  return toHex(bytes.subarray(data, end)).replace(/^0+/, "");
}
