import { type Box, listBoxes } from "../../probe/mp4-boxes.ts";
import { viewOf } from "../../util/bytes.ts";
import { bytesAt } from "./mp4-part.ts";

// The boxes of sample entries that configure a decoder, and how many bytes of each distinguish streams: the rest of av1C is
// repeated in the stream.
const CONFIGS: Readonly<Record<string, { box: string; bytes: number }>> = {
  avc1: { box: "avcC", bytes: Number.POSITIVE_INFINITY },
  hvc1: { box: "hvcC", bytes: Number.POSITIVE_INFINITY },
  av01: { box: "av1C", bytes: 4 },
};
const SOUND = "mp4a";
// Offsets of width and height, and of the boxes inside (ISO/IEC 14496-12, 12.1.3).
const SIZE = { start: 32, end: 36 };
const INSIDE = 86;

/** Returns the decoder configuration of a video sample entry, equal for streams that can be joined; null for an unknown codec. */
export function pictureConfig(entry: Uint8Array): string | null {
  const kind = kindOf(entry);
  const config = CONFIGS[kind];
  const view = viewOf(entry);
  const found = config && entry.length > INSIDE ? findIn(entry, config.box) : undefined;
  if (!config || !found) return null;
  const bytes = bytesAt(view, found.start, Math.min(found.end, found.start + config.bytes));
  return [kind, ...entry.subarray(SIZE.start, SIZE.end), ...bytes].join(" ");
}

/** Returns whether a sample entry describes AAC. */
export function isSoundEntry(entry: Uint8Array): boolean {
  return kindOf(entry) === SOUND;
}

/** Returns a video sample entry with other bitrates, where it states any. */
export function withBitrate(entry: Uint8Array, peak: number, average: number): Uint8Array {
  const changed = entry.slice();
  const btrt = findIn(changed, "btrt");
  if (!btrt || btrt.end - btrt.start < 12) return changed;
  const most = (value: number) => Math.min(Math.round(value), 0xffffffff);
  viewOf(changed).setUint32(btrt.start + 4, most(peak));
  viewOf(changed).setUint32(btrt.start + 8, most(average));
  return changed;
}

function kindOf(entry: Uint8Array): string {
  return String.fromCharCode(...entry.subarray(4, 8));
}

function findIn(entry: Uint8Array, kind: string): Box | undefined {
  return listBoxes(viewOf(entry), INSIDE, entry.length).find((box) => box.kind === kind);
}
