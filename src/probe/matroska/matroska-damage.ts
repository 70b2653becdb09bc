import type { ByteRange, ByteReader } from "../../core/ports.ts";
import { MIB } from "../../util/bytes.ts";
import { EBML, readElementAt, writeVoid } from "./ebml.ts";

// A longer gap is not just a damaged start.
const SEARCHED = 128 * MIB;
const BLOCK = MIB;
const TOP_ELEMENTS = 64;
const CHILDREN = 8;
const CLUSTER_ID = [0x1f, 0x43, 0xb6, 0x75] as const;
const TOP_LEVEL: ReadonlySet<number> = new Set([
  ...[EBML.seek_head, EBML.info, EBML.tracks, EBML.cluster, EBML.cues],
  ...[EBML.attachments, EBML.chapters, EBML.tags, EBML.void, EBML.crc],
]);
const BLOCKS: ReadonlySet<number> = new Set([EBML.simple_block, EBML.block_group]);
const BEFORE_BLOCKS: ReadonlySet<number> = new Set([
  ...[EBML.timestamp, EBML.position, EBML.previous_size, EBML.void, EBML.crc],
]);

/**
 * Presents damage between a Matroska file's headers and its first intact cluster as a Void element (RFC 9559, 5), which
 * every demuxer skips, so that none has to resynchronize over megabytes. Offsets stay unchanged. Returns the reader itself
 * when there is no such damage.
 */
export async function hideDamage(reader: ByteReader, signal: AbortSignal): Promise<ByteReader> {
  const damage = await findDamage(reader, signal);
  return damage ? coverRange(reader, damage) : reader;
}

async function findDamage(reader: ByteReader, signal: AbortSignal): Promise<ByteRange | null> {
  const header = await readElementAt(reader, 0);
  if (header?.id !== EBML.header || header.end === null) return null;
  const segment = await readElementAt(reader, header.end);
  if (segment?.id !== EBML.segment) return null;
  let at = segment.data;
  let tracks = false;
  for (let count = 0; count < TOP_ELEMENTS && at < reader.size; count++) {
    const element = await readElementAt(reader, at);
    const end = element && TOP_LEVEL.has(element.id) && element.id !== EBML.cluster ? element.end : null;
    if (element && end !== null && end <= reader.size) {
      tracks ||= element.id === EBML.tracks;
      at = end;
      continue;
    }
    // After damaged headers, demuxers find the next cluster soon or never.
    if (!tracks || (await isSound(reader, at))) return null;
    const next = await findCluster(reader, at + 1, signal);
    return next === null ? null : { start: at, end: next };
  }
  return null;
}

async function findCluster(reader: ByteReader, from: number, signal: AbortSignal): Promise<number | null> {
  const most = Math.min(reader.size, from + SEARCHED);
  for (let start = from; start < most; start += BLOCK) {
    // An ID may span two blocks.
    const bytes = await reader.read({ start, end: start + BLOCK + CLUSTER_ID.length - 1 }, signal);
    for (let at = bytes.indexOf(CLUSTER_ID[0]); at >= 0; at = bytes.indexOf(CLUSTER_ID[0], at + 1)) {
      const found = CLUSTER_ID.every((byte, index) => bytes[at + index] === byte);
      if (found && (await isSound(reader, start + at))) return start + at;
    }
  }
  return null;
}

/** Returns whether a cluster with a timestamp before its blocks starts at an offset. */
async function isSound(reader: ByteReader, at: number): Promise<boolean> {
  const cluster = await readElementAt(reader, at);
  if (cluster?.id !== EBML.cluster) return false;
  const end = Math.min(cluster.end ?? reader.size, reader.size);
  let timed = false;
  for (let place = cluster.data, count = 0; place < end && count < CHILDREN; count++) {
    const child = await readElementAt(reader, place);
    if (child === null || child.end === null) return timed && child?.id === EBML.cluster;
    timed ||= child.id === EBML.timestamp;
    if (!BEFORE_BLOCKS.has(child.id)) return timed && (BLOCKS.has(child.id) || TOP_LEVEL.has(child.id));
    place = child.end;
  }
  return timed;
}

function coverRange(reader: ByteReader, { start, end }: ByteRange): ByteReader {
  const cover = writeVoid(end - start);
  return {
    size: reader.size,
    ...(reader.prefetch && { prefetch: reader.prefetch }),
    async read(range, signal) {
      const [from, to] = [Math.max(0, range.start), Math.min(reader.size, range.end)];
      if (to <= start || from >= end) return reader.read(range, signal);
      const bytes = new Uint8Array(Math.max(0, to - from));
      const put = async (part: ByteRange) =>
        part.start < part.end && bytes.set(await reader.read(part, signal), part.start - from);
      await put({ start: from, end: Math.min(to, start) });
      await put({ start: Math.max(from, end), end: to });
      if (from < start + cover.length) {
        const shown = cover.subarray(Math.max(0, from - start), to - start);
        bytes.set(shown, Math.max(0, start - from));
      }
      return bytes;
    },
  };
}
