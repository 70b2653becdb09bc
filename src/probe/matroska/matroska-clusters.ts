import type { ByteReader } from "../../core/ports.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import { EBML, type Element, readElementAt, readVint, writeElement } from "./ebml.ts";
import type { TrackEntry } from "./matroska-tracks.ts";

export interface Clusters {
  /** Rebuilt clusters with the packets of the requested tracks; only the start of a large picture. */
  parts: Uint8Array[];
  /** Number of packets by track number. */
  packets: ReadonlyMap<number, number>;
  /** Whether no packet was left out. */
  whole: boolean;
}

// A picture's facts are in its first bytes; sound is kept whole, because its bytes are counted.
const KEPT = { video: 16 * KIB, audio: MIB } as const;
// Reading this far costs little even when everything is known: the first request for a file fetches about as much.
const AT_HAND = 24 * KIB;
// Limits on the search; each large picture that is skipped costs another read elsewhere.
const MOST = { elements: 2000, bytes: 2 * MIB, skips: 24 } as const;
// Between large pictures sound is expensive to reach, so fewer of its packets suffice.
const DEAR = { skips: 2, enough: 4 } as const;
const TRACK_NUMBER = 8;

/** Reads the clusters in a range of a file until there are enough packets of every track, or a limit is reached. */
export async function readClusters(
  reader: ByteReader,
  start: number,
  end: number,
  tracks: readonly TrackEntry[],
): Promise<Clusters> {
  const clusters: Uint8Array[][] = [];
  const packets = new Map<number, number>();
  const used = { elements: 0, bytes: 0, skips: 0 };
  const wanted = ({ kind, enough }: TrackEntry) =>
    kind === "audio" && used.skips > DEAR.skips ? DEAR.enough : enough;
  const isEnough = () => tracks.every((track) => (packets.get(track.number) ?? 0) >= wanted(track));
  let at = start;
  while (at < end && !(at - start >= AT_HAND && isEnough())) {
    if (++used.elements > MOST.elements || used.bytes > MOST.bytes || used.skips > MOST.skips) break;
    const element = await readElementAt(reader, at);
    if (element?.id === EBML.cluster) {
      clusters.push([]);
      at = element.data;
      continue;
    }
    // A cluster of unknown size ends at the next element of the segment, which is handled like any other.
    if (element?.end == null || element.end > end) break;
    at = element.end;
    if (element.id === EBML.timestamp) {
      clusters.at(-1)?.push(await reader.read({ start: element.start, end: element.end }));
    }
    const block = await findBlock(reader, element);
    const track = tracks.find(({ number }) => number === block?.track);
    if (!block || !track) continue;
    const kept = Math.min(block.end, block.start + KEPT[track.kind]);
    const content = await reader.read({ start: block.start, end: kept });
    clusters.at(-1)?.push(writeElement(EBML.simple_block, content.length), content);
    packets.set(track.number, (packets.get(track.number) ?? 0) + 1);
    used.bytes += content.length;
    if (kept < block.end) used.skips++;
  }
  const parts = clusters.flatMap((content) => {
    const size = content.reduce((sum, { length }) => sum + length, 0);
    return [writeElement(EBML.cluster, size), ...content];
  });
  return { parts, packets, whole: at >= end };
}

// A SimpleBlock, or the Block in a BlockGroup; both start with track, time and flags (RFC 9559, 10.1 and 10.2).
async function findBlock(
  reader: ByteReader,
  element: Element,
): Promise<{ start: number; end: number; track: number } | null> {
  if (element.end === null) return null;
  if (element.id === EBML.simple_block || element.id === EBML.block) {
    const head = await reader.read({ start: element.data, end: element.data + TRACK_NUMBER });
    const track = readVint(head, 0);
    return track === null ? null : { start: element.data, end: element.end, track };
  }
  if (element.id !== EBML.block_group) return null;
  const inner = await readElementAt(reader, element.data);
  return inner?.id === EBML.block && (inner.end ?? 0) <= element.end ? findBlock(reader, inner) : null;
}
