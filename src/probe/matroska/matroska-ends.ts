import { EBML, listElements, readElement, readHex, readUint } from "./ebml.ts";
import type { TrackEntry } from "./matroska-tracks.ts";

/**
 * Returns the end of each track's last frame in seconds, by track number. Most muxers write blocks without durations, so it
 * comes from the DURATION tag of the track (RFC 9559, 5.1.8), or from Info in a file with one track.
 */
export function readEnds(
  info: Uint8Array,
  tags: Uint8Array | null,
  entries: readonly TrackEntry[],
): Map<number, number> {
  const ends = new Map<number, number>();
  const named = tags ? readTags(tags) : new Map<string, number>();
  const all = entries.length === 1 ? readDuration(info) : undefined;
  for (const { number, uid } of entries) {
    const end = named.get(uid) ?? all;
    if (end !== undefined && end > 0) ends.set(number, end);
  }
  return ends;
}

const NANOSECONDS = 1_000_000;
const CLOCK = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)/;

function readTags(bytes: Uint8Array): Map<string, number> {
  const found = new Map<string, number>();
  for (const tag of childrenOf(bytes, EBML.tag)) {
    const fields = listElements(bytes, tag.data, tag.end);
    const targets = fields.find(({ id }) => id === EBML.targets);
    const uid = targets && listElements(bytes, targets.data, targets.end).find(isUid);
    if (!uid) continue;
    for (const simple of fields.filter(({ id }) => id === EBML.simple_tag)) {
      const parts = listElements(bytes, simple.data, simple.end);
      const text = (wanted: number) => {
        const part = parts.find(({ id }) => id === wanted);
        return part ? new TextDecoder().decode(bytes.subarray(part.data, part.end)) : "";
      };
      const [clock, hours, minutes, seconds] = CLOCK.exec(text(EBML.tag_string)) ?? [];
      if (!clock || text(EBML.tag_name) !== "DURATION") continue;
      found.set(readHex(bytes, uid), Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
    }
  }
  return found;
}

function isUid({ id }: { id: number }): boolean {
  return id === EBML.tag_track_uid;
}

/**
 * Returns each track's codec delay from Info and Tracks in seconds, by track number, rounded to whole ticks of the file as
 * in ffmpeg.
 */
export function readDelays(info: Uint8Array, entries: readonly TrackEntry[]): Map<number, number> {
  const tick = readTick(info);
  return new Map(entries.map(({ number, delay }) => [number, (Math.round(delay / tick) * tick) / 1e9]));
}

function readDuration(info: Uint8Array): number | undefined {
  const duration = fieldsOf(info).find(({ id }) => id === EBML.duration);
  if (!duration) return undefined;
  const view = new DataView(info.buffer, info.byteOffset + duration.data, duration.end - duration.data);
  const ticks = view.byteLength === 4 ? view.getFloat32(0) : view.byteLength === 8 ? view.getFloat64(0) : 0;
  return (ticks * readTick(info)) / 1e9;
}

// Nanoseconds per tick.
function readTick(info: Uint8Array): number {
  const scale = fieldsOf(info).find(({ id }) => id === EBML.timestamp_scale);
  return (scale && readUint(info, scale.data, scale.end)) || NANOSECONDS;
}

function fieldsOf(info: Uint8Array) {
  const whole = readElement(info, 0);
  return whole ? listElements(info, whole.data, info.length) : [];
}

function childrenOf(bytes: Uint8Array, wanted: number) {
  const whole = readElement(bytes, 0);
  return whole ? listElements(bytes, whole.data, bytes.length).filter(({ id }) => id === wanted) : [];
}
