import type { Chapter } from "../media/chapters.ts";
import {
  EBML,
  type Element,
  listElements,
  readElement,
  readElementAt,
  readUint,
  TRACK_TYPES,
  writeElement,
} from "../probe/ebml.ts";
import type { ByteReader } from "../runs/ports.ts";
import type { Cue } from "../subtitles/cue.ts";
import { writeWebvttBlock } from "../subtitles/text-formats.ts";
import type { SubtitleTrack } from "../subtitles/track.ts";
import { concatBytes, viewOf } from "../util/bytes.ts";
import { threeLetters } from "../util/text.ts";
import * as errors from "./errors.ts";
import type { Edit } from "./file-edit.ts";
import { letters } from "./mp4-boxes.ts";

const CODEC = "D_WEBVTT/SUBTITLES";

export function element(id: number, ...content: readonly Uint8Array[]): Uint8Array {
  const size = content.reduce((sum, { length }) => sum + length, 0);
  return concatBytes([writeElement(id, size), ...content]);
}

/** Encodes an unsigned number in `width` bytes. */
export function uint(id: number, value: number, width = 8): Uint8Array {
  const bytes = new Uint8Array(8);
  viewOf(bytes).setBigUint64(0, BigInt(value));
  return element(id, bytes.subarray(8 - width));
}

function writeTextEntry(number: number, track: SubtitleTrack): Uint8Array {
  const text = (id: number, value: string) => element(id, new TextEncoder().encode(value));
  return element(
    EBML.track,
    uint(EBML.track_number, number, 2),
    uint(EBML.track_uid, number),
    uint(EBML.track_type, TRACK_TYPES.subtitle, 1),
    uint(EBML.lacing, 0, 1),
    uint(EBML.by_default, track.default ? 1 : 0, 1),
    uint(EBML.forced, track.forced ? 1 : 0, 1),
    text(EBML.language, threeLetters(track.language)),
    ...(track.title ? [text(EBML.track_name, track.title)] : []),
    text(EBML.codec, CODEC),
  );
}

/** Writes a cue as a block of a track, `at` milliseconds after the start of its cluster. */
function writeTextBlock(number: number, cue: Cue, at: number): Uint8Array {
  const head = new Uint8Array(5);
  const view = viewOf(head);
  view.setUint16(0, 0x4000 + number);
  view.setInt16(2, at);
  const block = element(EBML.block, head, writeWebvttBlock(cue));
  return element(EBML.block_group, block, uint(EBML.block_duration, cue.end - cue.start, 4));
}

const MASTERS: ReadonlySet<number> = new Set([
  EBML.seek_head,
  EBML.seek,
  EBML.cues,
  EBML.cue_point,
  EBML.cue_positions,
]);
const CLUSTER_HEAD = 64;
const MAX_BLOCK_TIME = 0x7fff;
const MAX_TRACKS_BYTES = 16_384;

interface Top extends Element {
  end: number;
}

interface Cluster extends Top {
  /** Milliseconds. */
  time: number;
  /** Elements with its position or the size of the previous cluster. */
  head: Top[];
  /** Offset of its blocks. */
  blocks: number;
}

/**
 * Plans text tracks and chapters for a finished WebM: their entries, and their blocks at the start of the cluster in which each is
 * shown. The file's seek tables are rewritten, because everything moves.
 */
export async function addToWebm(
  reader: ByteReader,
  tracks: readonly SubtitleTrack[],
  chapters: readonly Chapter[],
): Promise<Edit[]> {
  const { segment, parts, clusters } = await readLayout(reader);
  const bytesOf = ({ start, end }: Top) => reader.read({ start, end });
  const entries = parts.find(({ id }) => id === EBML.tracks);
  const [first] = clusters;
  if (!entries || !first) throw errors.headersDamaged();
  const original = await bytesOf(entries);
  const delay = readDelay(original);
  const texts = tracks.map((track, index) => ({ track, number: 64 + index }));
  const added = texts.map(({ track, number }) => writeTextEntry(number, track));
  const content = original.subarray(entries.data - entries.start);
  const edits: Edit[] = [{ ...entries, bytes: [element(EBML.tracks, content, ...added)] }];
  if (chapters.length > 0)
    edits.push({ start: first.start, end: first.start, bytes: [writeWebmChapters(chapters)] });
  const blocks = placeBlocks(texts, clusters, delay);
  for (const cluster of clusters) {
    const { own, after } = blocks.get(cluster) ?? { own: [], after: [] };
    if (after.length > 0) edits.push({ start: cluster.end, end: cluster.end, bytes: after });
    const removed = cluster.head.reduce((sum, { start, end }) => sum + end - start, 0);
    const size = cluster.end - cluster.data - removed + own.reduce((sum, { length }) => sum + length, 0);
    if (own.length === 0 && removed === 0) continue;
    edits.push({ start: cluster.start, end: cluster.data, bytes: [writeElement(EBML.cluster, size)] });
    for (const { start, end } of cluster.head) edits.push({ start, end, bytes: [] });
    edits.push({ start: cluster.blocks, end: cluster.blocks, bytes: own });
  }
  // Values of fixed width let the tables reach their final size before the positions are known.
  const tables = parts.filter(({ id }) => id === EBML.seek_head || id === EBML.cues);
  const origins = await Promise.all(tables.map(bytesOf));
  const rewrite = (place: (at: number) => number) =>
    tables.map((table, index) => ({
      ...table,
      bytes: [rewriteTable(origins[index] as Uint8Array, segment.data, place)],
    }));
  const inside = [...edits, ...rewrite((at) => at)];
  const grown = inside.reduce((sum, edit) => sum + growth(edit), 0);
  const header = writeElement(EBML.segment, segment.end - segment.data + grown);
  const opening = { start: segment.start, end: segment.data, bytes: [header] };
  const place = placeAfter([opening, ...inside]);
  return [opening, ...edits, ...rewrite(place)].sort((a, b) => a.start - b.start || a.end - b.end);
}

// RFC 7845, 5.1: the priming of Opus, in samples at 48 kHz, delays the pictures.
function readDelay(tracks: Uint8Array): number {
  const head = "OpusHead";
  const at = String.fromCharCode(...tracks.subarray(0, MAX_TRACKS_BYTES)).indexOf(head);
  if (at < 0 || at + 12 > tracks.length) return 0;
  return Math.round(viewOf(tracks).getUint16(at + 10, true) / 48);
}

function growth({ start, end, bytes }: Edit): number {
  return bytes.reduce((sum, { length }) => sum + length, 0) - (end - start);
}

function placeAfter(edits: readonly Edit[]): (at: number) => number {
  const order = edits.toSorted((a, b) => a.end - b.end);
  let sum = 0;
  const sums = order.map((edit) => {
    sum += growth(edit);
    return sum;
  });
  return (at) => {
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((order[middle]?.end ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return at + (sums[low - 1] ?? 0);
  };
}

// Cluster positions count from the start of the segment, block positions from the start of the cluster.
function rewriteTable(bytes: Uint8Array, segment: number, place: (at: number) => number): Uint8Array {
  const rewrite = (start: number, end: number, within: number): Uint8Array[] =>
    listElements(bytes, start, end).flatMap((each) => {
      const value = () => readUint(bytes, each.data, each.end);
      if (each.id === EBML.crc) return [];
      if (each.id === EBML.seek_position || each.id === EBML.cue_cluster)
        return [uint(each.id, place(segment + value()) - place(segment))];
      if (each.id === EBML.cue_block) return [uint(each.id, place(within + value()) - place(within))];
      if (!MASTERS.has(each.id)) return [bytes.subarray(each.start, each.end)];
      const inner = listElements(bytes, each.data, each.end).find(({ id }) => id === EBML.cue_cluster);
      const at = inner ? segment + readUint(bytes, inner.data, inner.end) : within;
      return [element(each.id, ...rewrite(each.data, each.end, at))];
    });
  return concatBytes(rewrite(0, bytes.length, segment));
}

function placeBlocks(
  texts: readonly { track: SubtitleTrack; number: number }[],
  clusters: readonly Cluster[],
  delay: number,
): Map<Cluster, { own: Uint8Array[]; after: Uint8Array[] }> {
  const timed = new Map<Cluster, { at: number; bytes: Uint8Array }[]>();
  for (const { track, number } of texts) {
    let index = 0;
    for (const cue of track.cues) {
      const start = cue.start + delay;
      while ((clusters[index + 1]?.time ?? Number.POSITIVE_INFINITY) <= start) index++;
      const cluster = clusters[index];
      const at = cluster ? start - cluster.time : 0;
      if (!cluster || at < -MAX_BLOCK_TIME) continue;
      const list = timed.get(cluster) ?? [];
      const bytes =
        at <= MAX_BLOCK_TIME
          ? writeTextBlock(number, cue, at)
          : element(EBML.cluster, uint(EBML.timestamp, start), writeTextBlock(number, cue, 0));
      list.push({ at, bytes });
      timed.set(cluster, list);
    }
  }
  const inOrder = [...timed].map(([cluster, list]) => {
    list.sort((a, b) => a.at - b.at);
    const bytesOf = (late: boolean) =>
      list.filter(({ at }) => at > MAX_BLOCK_TIME === late).map(({ bytes }) => bytes);
    return [cluster, { own: bytesOf(false), after: bytesOf(true) }] as const;
  });
  return new Map(inOrder);
}

async function readLayout(reader: ByteReader) {
  const header = await readElementAt(reader, 0);
  const body = header?.end ? await readElementAt(reader, header.end) : null;
  if (body?.id !== EBML.segment) throw errors.headersDamaged();
  const segment: Top = { ...body, end: body.end ?? reader.size };
  const parts: Top[] = [];
  const clusters: Cluster[] = [];
  for (let at = segment.data; at < segment.end; ) {
    const part = await readElementAt(reader, at);
    if (!part?.end || part.end > segment.end) throw errors.fileDamaged();
    const top = { ...part, end: part.end };
    if (part.id === EBML.cluster) clusters.push(await readCluster(reader, top));
    else parts.push(top);
    at = part.end;
  }
  return { segment, parts, clusters };
}

async function readCluster(reader: ByteReader, top: Top): Promise<Cluster> {
  const bytes = await reader.read({ start: top.data, end: Math.min(top.data + CLUSTER_HEAD, top.end) });
  const head: Top[] = [];
  let time: number | null = null;
  for (let at = 0; ; ) {
    const each = readElement(bytes, at);
    if (each?.id === EBML.timestamp && each.end !== null) time = readUint(bytes, each.data, each.end);
    else if ((each?.id === EBML.position || each?.id === EBML.previous_size) && each.end !== null) {
      const start = top.data + at;
      head.push({ id: each.id, start, data: start, end: top.data + each.end });
    } else {
      if (time === null) throw errors.clusterUntimed();
      return { ...top, time, head, blocks: top.data + at };
    }
    at = each.end;
  }
}

function writeWebmChapters(chapters: readonly Chapter[]): Uint8Array {
  const atoms = chapters.map(({ start, end, title }, index) =>
    element(
      EBML.chapter,
      uint(EBML.chapter_uid, index + 1),
      uint(EBML.chapter_start, Math.round(start * 1e9)),
      uint(EBML.chapter_end, Math.round(end * 1e9)),
      element(
        EBML.chapter_display,
        element(EBML.chapter_string, new TextEncoder().encode(title)),
        element(EBML.chapter_language, letters("und")),
      ),
    ),
  );
  return element(EBML.chapters, element(EBML.edition, ...atoms));
}
