import type { ByteReader } from "../core/ports.ts";

// RFC 9559: the elements on the way to the cues.
const ID = {
  ebml: 0x1a45dfa3,
  segment: 0x18538067,
  seek_head: 0x114d9b74,
  seek: 0x4dbb,
  seek_id: 0x53ab,
  seek_position: 0x53ac,
  info: 0x1549a966,
  timestamp_scale: 0x2ad7b1,
  tracks: 0x1654ae6b,
  track: 0xae,
  track_number: 0xd7,
  track_type: 0x83,
  cluster: 0x1f43b675,
  cues: 0x1c53bb6b,
  cue_point: 0xbb,
  cue_time: 0xb3,
  cue_positions: 0xb7,
  cue_track: 0xf7,
} as const;

const VIDEO = 1;
// What stands before the first cluster, and the cues of six hours, are smaller.
const HEAD = 256 * 1024;
const MAX_CUES = 8 * 1024 * 1024;

interface Element {
  id: number;
  /** Where its content starts and ends in the bytes; `end` may lie beyond them. */
  start: number;
  end: number;
}

/** Gives the times in seconds at which the cues of a Matroska or WebM file list the first pictures track; empty when it has none. */
export async function readCueTimes(reader: ByteReader, signal: AbortSignal): Promise<number[]> {
  const head = await reader.read({ start: 0, end: HEAD }, signal);
  const segment = children(head, 0, head.length).find(({ id }) => id === ID.segment);
  if (!segment) return [];
  const top = children(head, segment.start, head.length, ID.cluster);
  const scale = unsigned(head, find(head, find(head, top, ID.info), ID.timestamp_scale)) ?? 1_000_000;
  const tracks = inside(head, find(head, top, ID.tracks)).filter(({ id }) => id === ID.track);
  const pictures = tracks.find((track) => unsigned(head, find(head, track, ID.track_type)) === VIDEO);
  const number = pictures && unsigned(head, find(head, pictures, ID.track_number));
  const seeks = inside(head, find(head, top, ID.seek_head));
  const seek = seeks.find((each) => unsigned(head, find(head, each, ID.seek_id)) === ID.cues);
  const position = unsigned(head, find(head, seek, ID.seek_position));
  if (number === undefined || position === undefined) return [];

  const at = segment.start + position;
  const [cues] = children(await reader.read({ start: at, end: at + 16 }, signal), 0, 16);
  if (cues?.id !== ID.cues || cues.end > MAX_CUES || at + cues.end > reader.size) return [];
  const bytes = await reader.read({ start: at + cues.start, end: at + cues.end }, signal);
  return children(bytes, 0, bytes.length).flatMap((point) => {
    const time = unsigned(bytes, find(bytes, point, ID.cue_time));
    const places = inside(bytes, point).filter(({ id }) => id === ID.cue_positions);
    const shown = places.some((place) => unsigned(bytes, find(bytes, place, ID.cue_track)) === number);
    return shown && time !== undefined ? [(time * scale) / 1e9] : [];
  });
}

// Elements that follow each other, up to the one that begins at or beyond the end, or is the last wanted.
function children(bytes: Uint8Array, start: number, end: number, last?: number): Element[] {
  const elements: Element[] = [];
  for (let at = start; at < Math.min(end, bytes.length); ) {
    const id = readNumber(bytes, at, true);
    const size = id && readNumber(bytes, at + id.length, false);
    if (!size) break;
    const content = at + id.length + size.length;
    elements.push({ id: id.value, start: content, end: content + size.value });
    if (id.value === last) break;
    at = content + size.value;
  }
  return elements;
}

function inside(bytes: Uint8Array, element: Element | undefined): Element[] {
  return element ? children(bytes, element.start, element.end) : [];
}

function find(
  bytes: Uint8Array,
  within: Element | Element[] | undefined,
  wanted: number,
): Element | undefined {
  const list = Array.isArray(within) ? within : inside(bytes, within);
  return list.find(({ id }) => id === wanted);
}

function unsigned(bytes: Uint8Array, element: Element | undefined): number | undefined {
  if (!element || element.end > bytes.length || element.end - element.start > 8) return undefined;
  return bytes.subarray(element.start, element.end).reduce((sum, byte) => sum * 256 + byte, 0);
}

// A number whose length is told by the first bit that is set; an id keeps that bit.
function readNumber(bytes: Uint8Array, at: number, whole: boolean): { value: number; length: number } | null {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || at + length > bytes.length) return null;
  const rest = bytes.subarray(at + 1, at + length);
  const value = rest.reduce((sum, byte) => sum * 256 + byte, whole ? first : first & (0xff >> length));
  return { value, length };
}
