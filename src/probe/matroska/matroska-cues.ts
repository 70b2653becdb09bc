import type { ByteReader } from "../../core/ports.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import { EBML, readElement, readUint } from "./ebml.ts";

const VIDEO = 1;
// More than the headers before the first cluster, or the cues of six hours.
const HEAD = 256 * KIB;
const MAX_CUES = 8 * MIB;

interface Part {
  id: number;
  /** Start and end of its content in the bytes; `end` may lie beyond them. */
  start: number;
  end: number;
}

/**
 * Returns the times in seconds that the cues of a Matroska or WebM file list for the first video track; empty when there are
 * none.
 */
export async function readCueTimes(reader: ByteReader, signal: AbortSignal): Promise<number[]> {
  const head = await reader.read({ start: 0, end: HEAD }, signal);
  const segment = children(head, 0, head.length).find(({ id }) => id === EBML.segment);
  if (!segment) return [];
  const top = children(head, segment.start, head.length, EBML.cluster);
  const scale = unsigned(head, find(head, find(head, top, EBML.info), EBML.timestamp_scale)) ?? 1_000_000;
  const tracks = inside(head, find(head, top, EBML.tracks)).filter(({ id }) => id === EBML.track);
  const pictures = tracks.find((track) => unsigned(head, find(head, track, EBML.track_type)) === VIDEO);
  const number = pictures && unsigned(head, find(head, pictures, EBML.track_number));
  const seeks = inside(head, find(head, top, EBML.seek_head));
  const seek = seeks.find((each) => unsigned(head, find(head, each, EBML.seek_id)) === EBML.cues);
  const position = unsigned(head, find(head, seek, EBML.seek_position));
  if (number === undefined || position === undefined) return [];

  const at = segment.start + position;
  const [cues] = children(await reader.read({ start: at, end: at + 16 }, signal), 0, 16);
  if (cues?.id !== EBML.cues || cues.end > MAX_CUES || at + cues.end > reader.size) return [];
  const bytes = await reader.read({ start: at + cues.start, end: at + cues.end }, signal);
  return children(bytes, 0, bytes.length).flatMap((point) => {
    const time = unsigned(bytes, find(bytes, point, EBML.cue_time));
    const places = inside(bytes, point).filter(({ id }) => id === EBML.cue_positions);
    const shown = places.some((place) => unsigned(bytes, find(bytes, place, EBML.cue_track)) === number);
    return shown && time !== undefined ? [(time * scale) / 1e9] : [];
  });
}

// Consecutive elements, up to the end of the range or the last one wanted.
function children(bytes: Uint8Array, start: number, end: number, last?: number): Part[] {
  const parts: Part[] = [];
  for (let at = start; at < Math.min(end, bytes.length); ) {
    const element = readElement(bytes, at);
    if (!element) break;
    const part = { id: element.id, start: element.data, end: element.end ?? Number.POSITIVE_INFINITY };
    parts.push(part);
    if (part.id === last) break;
    at = part.end;
  }
  return parts;
}

function inside(bytes: Uint8Array, element: Part | undefined): Part[] {
  return element ? children(bytes, element.start, element.end) : [];
}

function find(bytes: Uint8Array, within: Part | Part[] | undefined, wanted: number): Part | undefined {
  const list = Array.isArray(within) ? within : inside(bytes, within);
  return list.find(({ id }) => id === wanted);
}

function unsigned(bytes: Uint8Array, element: Part | undefined): number | undefined {
  if (!element || element.end > bytes.length || element.end - element.start > 8) return undefined;
  return readUint(bytes, element.start, element.end);
}
