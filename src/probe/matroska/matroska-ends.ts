import { EBML, listElements, readElement, readHex, readUint } from "./ebml.ts";
import type { TrackEntry } from "./matroska-tracks.ts";

/**
 * Reads when the last frame of each track ends, in seconds by track number. A block has no duration of its own as most muxers
 * write it, so the last frame's is told by the DURATION tag of its track (RFC 9559, 5.1.8), or by Info where there is one track.
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

function readDuration(bytes: Uint8Array): number | undefined {
  const whole = readElement(bytes, 0);
  const fields = whole ? listElements(bytes, whole.data, bytes.length) : [];
  const scale = fields.find(({ id }) => id === EBML.timestamp_scale);
  const duration = fields.find(({ id }) => id === EBML.duration);
  if (!duration) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + duration.data, duration.end - duration.data);
  const ticks = view.byteLength === 4 ? view.getFloat32(0) : view.byteLength === 8 ? view.getFloat64(0) : 0;
  const nanoseconds = scale ? readUint(bytes, scale.data, scale.end) : NANOSECONDS;
  return (ticks * nanoseconds) / 1e9;
}

function childrenOf(bytes: Uint8Array, wanted: number) {
  const whole = readElement(bytes, 0);
  return whole ? listElements(bytes, whole.data, bytes.length).filter(({ id }) => id === wanted) : [];
}
