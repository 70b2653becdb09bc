import type { ByteReader } from "../../core/ports.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import { type FileStart, memoryReader } from "../file-start.ts";
import { EBML, type Element, readElementAt, writeElement } from "./ebml.ts";
import { readClusters } from "./matroska-clusters.ts";
import { readDelays, readEnds } from "./matroska-ends.ts";
import { EXTRA_IDS, type ExtraElements, type MatroskaExtras, readMatroskaExtras } from "./matroska-extras.ts";
import { readTracks } from "./matroska-tracks.ts";

const MAX_HEADER = 4 * MIB;
const MAX_TAGS = 64 * KIB;
const TOP_ELEMENTS = 64;
const PASSED: ReadonlySet<number> = new Set([
  ...[EBML.seek_head, EBML.cues, EBML.attachments, EBML.chapters, EBML.tags, EBML.void, EBML.crc],
]);

export interface MatroskaStart {
  start: FileStart | null;
  extras: MatroskaExtras;
  /** Codec delay in seconds, by track number. */
  delays: ReadonlyMap<number, number>;
}

/**
 * Reduces a Matroska or WebM file to a small one: its headers, and enough of its first clusters to describe every track.
 * mediabunny (1.61) reads whole clusters, which may have megabytes. Null when the layout is unusual; `start` is null when a
 * track has no packet near the start.
 */
export async function readMatroskaStart(reader: ByteReader): Promise<MatroskaStart | null> {
  const layout = await readLayout(reader);
  if (!layout) return null;
  const { head, info, tracks, tags, clusters, end, segment, cut, places } = layout;
  const extras = await readMatroskaExtras(reader, segment, { info, tracks }, places);
  const entries = readTracks(tracks);
  const delays = readDelays(info, entries);
  const { parts, packets, whole } = await readClusters(reader, clusters, end, entries);
  if (!whole && !entries.every(({ number }) => packets.has(number))) return { start: null, extras, delays };
  const content = [info, tracks, ...parts];
  const size = content.reduce((sum, { length }) => sum + length, 0);
  const start: FileStart = {
    reader: memoryReader([head, writeElement(EBML.segment, size), ...content]),
    whole,
    body: end - clusters,
    bitrate: "variable",
    fps: new Map(entries.flatMap(({ number, fps }) => (fps ? [[number, fps]] : []))),
    // What was cut off may be what the file states.
    ends: cut ? new Map() : readEnds(info, tags, entries),
  };
  return { start, extras, delays };
}

interface Layout {
  /** The EBML header, Info and Tracks, each with its own header. */
  head: Uint8Array;
  info: Uint8Array;
  tracks: Uint8Array;
  /** Null when they are not before the clusters. */
  tags: Uint8Array | null;
  /** Offsets of the first cluster and of the segment's end in the file. */
  clusters: number;
  end: number;
  /** Offset of the segment's content. */
  segment: number;
  /** Whether the file ends before its segment does. */
  cut: boolean;
  places: ExtraElements;
}

async function readLayout(reader: ByteReader): Promise<Layout | null> {
  const header = await readElementAt(reader, 0);
  if (header?.id !== EBML.header || header.end === null || header.end > MAX_HEADER) return null;
  const segment = await readElementAt(reader, header.end);
  // Another segment may follow.
  if (segment?.id !== EBML.segment || (segment.end ?? reader.size) < reader.size) return null;
  const read = (start: number, end: number) => reader.read({ start, end });
  let [info, tracks, tags]: (Uint8Array | null)[] = [null, null, null];
  const places = new Map<number, Element & { end: number }>();
  let at = segment.data;
  for (let count = 0; count < TOP_ELEMENTS; count++) {
    const element = await readElementAt(reader, at);
    if (element?.id === EBML.cluster && info && tracks) {
      const cut = (segment.end ?? 0) > reader.size;
      const edges = { clusters: at, end: reader.size, segment: segment.data, cut };
      return { head: await read(0, header.end), info, tracks, tags: tags ?? null, ...edges, places };
    }
    if (element?.end == null || element.end > reader.size) return null;
    const kept = element.id === EBML.info || element.id === EBML.tracks;
    if (kept ? element.end - at > MAX_HEADER : !PASSED.has(element.id)) return null;
    if (EXTRA_IDS.has(element.id)) places.set(element.id, { ...element, end: element.end });
    if (element.id === EBML.info) info = await read(at, element.end);
    if (element.id === EBML.tracks) tracks = await read(at, element.end);
    if (element.id === EBML.tags && element.end - at <= MAX_TAGS) tags = await read(at, element.end);
    at = element.end;
  }
  return null;
}
