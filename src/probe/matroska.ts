import { isMatroska } from "../media/containers.ts";
import { mainStream } from "../media/main-tracks.ts";
import type { Source } from "../media/source.ts";
import type { ByteRange, ByteReader } from "../runs/ports.ts";
import { KIB, MIB } from "../util/bytes.ts";
import {
  DEFAULT_TICK,
  EBML,
  type Element,
  listElements,
  MAX_TOP_ELEMENTS,
  readElement,
  readElementAt,
  readHex,
  readUint,
  readVint,
  TRACK_TYPES,
  vintWidth,
  writeElement,
  writeVoid,
} from "./ebml.ts";
import { EXTRA_IDS, type ExtraElements, type MatroskaExtras, readMatroskaExtras } from "./matroska-extras.ts";
import { type FileStart, memoryReader } from "./reader.ts";
import { createSoundChanges, type SoundChanges } from "./sound-frames.ts";

const MAX_HEADER = 4 * MIB;
const MAX_TAGS = 64 * KIB;
const SKIPPED_IDS: ReadonlySet<number> = new Set([
  EBML.seek_head,
  EBML.cues,
  EBML.attachments,
  EBML.chapters,
  EBML.tags,
  EBML.void,
  EBML.crc,
]);

export interface MatroskaStart {
  start: FileStart | null;
  extras: MatroskaExtras;
  /** Codec delay in seconds, by track number. */
  delays: ReadonlyMap<number, number>;
  /** Indexes of the tracks that are disabled. */
  disabled: ReadonlySet<number>;
}

/**
 * Reduces a Matroska or WebM file to its headers and enough of its first clusters to describe every track, because mediabunny
 * (1.61) reads whole clusters, which may be megabytes long. Null when the layout is unusual; `start` is null when a track has
 * no packet near the start.
 */
export async function readMatroskaStart(reader: ByteReader): Promise<MatroskaStart | null> {
  const layout = await readLayout(reader);
  if (!layout) return null;
  const { head, info, tracks, tags, clusters, end, segment, cut, unbounded, places } = layout;
  const extras = await readMatroskaExtras(reader, segment, { info, tracks }, places);
  const entries = readTracks(tracks);
  const delays = readDelays(info, entries);
  const disabled = disabledTracks(tracks);
  const { parts, packets, whole } = await readClusters(reader, clusters, end, entries);
  if (!whole && !entries.every(({ number }) => packets.has(number)))
    return { start: null, extras, delays, disabled };
  const content = [info, tracks, ...parts];
  const size = content.reduce((sum, { length }) => sum + length, 0);
  const start: FileStart = {
    reader: memoryReader([head, writeElement(EBML.segment, size), ...content]),
    whole,
    body: end - clusters,
    bitrate: "variable",
    fps: new Map(entries.flatMap(({ number, fps }) => (fps ? [[number, fps]] : []))),
    ends: cut || unbounded ? new Map() : readEnds(info, tags, entries),
  };
  return { start, extras, delays, disabled };
}

/** Returns the indexes of the disabled tracks of a Matroska or WebM file; none when its layout is unusual. */
export async function readDisabledTracks(reader: ByteReader): Promise<ReadonlySet<number>> {
  const layout = await readLayout(reader);
  return disabledTracks(layout?.tracks ?? new Uint8Array());
}

function disabledTracks(bytes: Uint8Array): ReadonlySet<number> {
  const tracks = readElement(bytes, 0);
  const entries = tracks ? listElements(bytes, tracks.data, bytes.length) : [];
  const disabled = new Set<number>();
  for (const [index, { data, end }] of entries.filter(({ id }) => id === EBML.track).entries()) {
    const flag = listElements(bytes, data, end).find(({ id }) => id === EBML.enabled);
    if (flag && readUint(bytes, flag.data, flag.end) === 0) disabled.add(index);
  }
  return disabled;
}

interface Layout {
  /** The EBML header, Info and Tracks, each with its own header. */
  head: Uint8Array;
  info: Uint8Array;
  tracks: Uint8Array;
  /** Bytes of the tags; null unless they precede the clusters. */
  tags: Uint8Array | null;
  /** Offsets of the first cluster and of the segment's end in the file. */
  clusters: number;
  end: number;
  /** Offset of the segment's content. */
  segment: number;
  /** Whether the file ends before its segment does. */
  cut: boolean;
  /** Whether its segment states no size, so that only its packets show whether it is complete. */
  unbounded: boolean;
  places: ExtraElements;
}

async function readLayout(reader: ByteReader): Promise<Layout | null> {
  const header = await readElementAt(reader, 0);
  if (header?.id !== EBML.header || header.end === null || header.end > MAX_HEADER) return null;
  const segment = await readElementAt(reader, header.end);
  // If the segment ends early, another may follow.
  if (segment?.id !== EBML.segment || (segment.end ?? reader.size) < reader.size) return null;
  const read = (start: number, end: number) => reader.read({ start, end });
  let [info, tracks, tags]: (Uint8Array | null)[] = [null, null, null];
  const places = new Map<number, Element & { end: number }>();
  let at = segment.data;
  for (let count = 0; count < MAX_TOP_ELEMENTS; count++) {
    const element = await readElementAt(reader, at);
    if (element?.id === EBML.cluster && info && tracks) {
      const cut = (segment.end ?? 0) > reader.size;
      const unbounded = segment.end === null;
      const edges = { clusters: at, end: reader.size, segment: segment.data, cut, unbounded };
      return { head: await read(0, header.end), info, tracks, tags: tags ?? null, ...edges, places };
    }
    if (element?.end == null || element.end > reader.size) return null;
    const isHeader = element.id === EBML.info || element.id === EBML.tracks;
    if (isHeader ? element.end - at > MAX_HEADER : !SKIPPED_IDS.has(element.id)) return null;
    if (EXTRA_IDS.has(element.id)) places.set(element.id, { ...element, end: element.end });
    if (element.id === EBML.info) info = await read(at, element.end);
    if (element.id === EBML.tracks) tracks = await read(at, element.end);
    if (element.id === EBML.tags && element.end - at <= MAX_TAGS) tags = await read(at, element.end);
    at = element.end;
  }
  return null;
}

/** Returns whether a Matroska file is cut off before its first cluster, by the size that its segment states. */
export async function endsBeforeBlocks(reader: ByteReader): Promise<boolean> {
  const header = await readElementAt(reader, 0);
  if (header?.id !== EBML.header || header.end === null) return false;
  const segment = await readElementAt(reader, header.end);
  if (segment?.id !== EBML.segment || (segment.end ?? 0) <= reader.size) return false;
  let at = segment.data;
  for (let count = 0; count < MAX_TOP_ELEMENTS; count++) {
    const element = await readElementAt(reader, at);
    if (element?.id === EBML.cluster || element?.end === null) return false;
    if (!element || element.end > reader.size) return true;
    at = element.end;
  }
  return false;
}

/** A track's entry in Tracks (RFC 9559, 5.1.4.1). */
interface TrackEntry {
  number: number;
  /** UID by which tags refer to the track: at most eight bytes in hex. */
  uid: string;
  kind: "video" | "audio";
  /** Frames per second when the track declares a constant rate; otherwise null. */
  fps: number | null;
  /** Codec delay in nanoseconds. */
  delay: number;
  /** Packets that suffice for averages. */
  enough: number;
}

const ENOUGH = { even: 1, uneven: 60, sound: 16 } as const;
const MAX_FPS = 1000;

function readTracks(bytes: Uint8Array): TrackEntry[] {
  const tracks = readElement(bytes, 0);
  if (!tracks) return [];
  return listElements(bytes, tracks.data, bytes.length)
    .filter(({ id }) => id === EBML.track)
    .flatMap(({ data, end }): TrackEntry[] => {
      const fields = listElements(bytes, data, end);
      const field = (fieldId: number) => {
        const element = fields.find(({ id }) => id === fieldId);
        return element ? readUint(bytes, element.data, element.end) : 0;
      };
      const number = field(EBML.track_number);
      const type = field(EBML.track_type);
      const uidField = fields.find(({ id }) => id === EBML.track_uid);
      const uid = uidField ? readHex(bytes, uidField) : "";
      const delay = field(EBML.codec_delay);
      if (type === TRACK_TYPES.audio)
        return [{ number, uid, kind: "audio", fps: null, delay, enough: ENOUGH.sound }];
      if (type !== TRACK_TYPES.video) return [];
      const rate = 1e9 / field(EBML.default_duration);
      const fps = rate <= MAX_FPS ? rate : null;
      return [{ number, uid, kind: "video", fps, delay, enough: fps ? ENOUGH.even : ENOUGH.uneven }];
    });
}

export interface Clusters {
  /** Rebuilt clusters with the packets of the requested tracks; only the start of a large picture. */
  parts: Uint8Array[];
  packets: ReadonlyMap<number, number>;
  /** Whether they contain every packet. */
  whole: boolean;
}

// The start of a picture suffices; audio packets are copied whole, because their bytes are counted.
const MAX_PACKET = { video: 16 * KIB, audio: MIB } as const;
const FREE_BYTES = 24 * KIB;
const LIMITS = { elements: 2000, bytes: 2 * MIB, skips: 24 } as const;
const COSTLY = { skips: 2, enough: 4 } as const;
const TRACK_NUMBER = 8;

/** Reads the clusters in a range of a file until there are enough packets of every track, or a limit is reached. */
async function readClusters(
  reader: ByteReader,
  start: number,
  end: number,
  tracks: readonly TrackEntry[],
): Promise<Clusters> {
  const clusters: Uint8Array[][] = [];
  const packets = new Map<number, number>();
  const usage = { elements: 0, bytes: 0, skips: 0 };
  const target = ({ kind, enough }: TrackEntry) =>
    kind === "audio" && usage.skips > COSTLY.skips ? COSTLY.enough : enough;
  const isEnough = () => tracks.every((track) => (packets.get(track.number) ?? 0) >= target(track));
  let at = start;
  while (at < end && !(at - start >= FREE_BYTES && isEnough())) {
    if (++usage.elements > LIMITS.elements || usage.bytes > LIMITS.bytes || usage.skips > LIMITS.skips) break;
    const element = await readElementAt(reader, at);
    if (element?.id === EBML.cluster) {
      clusters.push([]);
      at = element.data;
      continue;
    }
    // A cluster of unknown size ends at the segment's next element.
    if (element?.end == null || element.end > end) break;
    at = element.end;
    if (element.id === EBML.timestamp) {
      clusters.at(-1)?.push(await reader.read({ start: element.start, end: element.end }));
    }
    const block = await findBlock(reader, element);
    const track = tracks.find(({ number }) => number === block?.track);
    if (!block || !track) continue;
    const stop = Math.min(block.end, block.start + MAX_PACKET[track.kind]);
    const content = await reader.read({ start: block.start, end: stop });
    clusters.at(-1)?.push(writeElement(EBML.simple_block, content.length), content);
    packets.set(track.number, (packets.get(track.number) ?? 0) + 1);
    usage.bytes += content.length;
    if (stop < block.end) usage.skips++;
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

/**
 * Returns the end of each track's last frame in seconds, by track number. Most muxers write no block durations, so the end
 * comes from the track's DURATION tag (RFC 9559, 5.1.8), or from Info in a file with one track.
 */
function readEnds(
  info: Uint8Array,
  tags: Uint8Array | null,
  entries: readonly TrackEntry[],
): Map<number, number> {
  const ends = new Map<number, number>();
  const tagged = tags ? readDurationTags(tags) : new Map<string, number>();
  const whole = entries.length === 1 ? readDuration(info) : undefined;
  for (const { number, uid } of entries) {
    const end = tagged.get(uid) ?? whole;
    if (end !== undefined && end > 0) ends.set(number, end);
  }
  return ends;
}

const CLOCK = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)/;

function readDurationTags(bytes: Uint8Array): Map<string, number> {
  const durations = new Map<string, number>();
  for (const tag of childrenOf(bytes, EBML.tag)) {
    const fields = listElements(bytes, tag.data, tag.end);
    const targets = fields.find(({ id }) => id === EBML.targets);
    const uid = targets && listElements(bytes, targets.data, targets.end).find(isUid);
    if (!uid) continue;
    for (const simple of fields.filter(({ id }) => id === EBML.simple_tag)) {
      const parts = listElements(bytes, simple.data, simple.end);
      const text = (partId: number) => {
        const part = parts.find(({ id }) => id === partId);
        return part ? new TextDecoder().decode(bytes.subarray(part.data, part.end)) : "";
      };
      const [clock, hours, minutes, seconds] = CLOCK.exec(text(EBML.tag_string)) ?? [];
      if (!clock || text(EBML.tag_name) !== "DURATION") continue;
      durations.set(readHex(bytes, uid), Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
    }
  }
  return durations;
}

function isUid({ id }: { id: number }): boolean {
  return id === EBML.tag_track_uid;
}

/**
 * Returns each track's codec delay in seconds, by track number, rounded to whole ticks of the file as in ffmpeg.
 */
function readDelays(info: Uint8Array, entries: readonly TrackEntry[]): Map<number, number> {
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

function readTick(info: Uint8Array): number {
  const scale = fieldsOf(info).find(({ id }) => id === EBML.timestamp_scale);
  return (scale && readUint(info, scale.data, scale.end)) || DEFAULT_TICK;
}

function fieldsOf(info: Uint8Array) {
  const whole = readElement(info, 0);
  return whole ? listElements(info, whole.data, info.length) : [];
}

function childrenOf(bytes: Uint8Array, childId: number) {
  const whole = readElement(bytes, 0);
  return whole ? listElements(bytes, whole.data, bytes.length).filter(({ id }) => id === childId) : [];
}

const TAILS = [64 * KIB, MIB, 8 * MIB] as const;

/** The first and the last time of a Matroska or WebM file's blocks, in seconds. */
export interface BlockTimes {
  /** Null when the file is cut off before its first block is complete. */
  first: number | null;
  /** Null when the last cluster is too large to be read. */
  last: number | null;
  /** Whether the file ends before its segment or within an element. */
  truncated: boolean;
}

const NO_BLOCKS: BlockTimes = { first: null, last: null, truncated: true };

/** Reads the times of the first and the last block from the clusters at both ends of a file; null when it finds none. */
export async function readBlockTimes(reader: ByteReader, signal: AbortSignal): Promise<BlockTimes | null> {
  const layout = await readLayout(reader);
  if (!layout) return (await endsBeforeBlocks(reader)) ? NO_BLOCKS : null;
  const { info, clusters, cut, unbounded } = layout;
  const tick = readTick(info) / 1e9;
  const head = await reader.read({ start: clusters, end: clusters + TAILS[0] }, signal);
  const [first] = listBlockTimes(head, 0, true).times;
  for (const length of TAILS) {
    const start = Math.max(clusters, reader.size - length);
    const tail = await reader.read({ start, end: reader.size }, signal);
    const from = start === clusters ? 0 : indexOfCluster(tail, 0);
    const { times, complete } = from < 0 ? { times: [], complete: true } : listBlockTimes(tail, from);
    if (first !== undefined && times.length > 0)
      return { first: first * tick, last: Math.max(...times) * tick, truncated: cut || !complete };
    // Players skip a damaged cluster if another one follows.
    const isCut = (cut || (unbounded && !complete)) && indexOfCluster(tail, 1) < 0;
    if (start === clusters) return isCut ? NO_BLOCKS : null;
  }
  return first === undefined ? null : { first: first * tick, last: null, truncated: cut };
}

function indexOfCluster(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(CLUSTER_ID[0], from); at >= 0; at = bytes.indexOf(CLUSTER_ID[0], at + 1)) {
    const cluster = readElement(bytes, at);
    const child = cluster?.id === EBML.cluster && readElement(bytes, cluster.data);
    if (child && BEFORE_BLOCKS.has(child.id)) return at;
  }
  return -1;
}

/** Lists the times of the complete blocks in bytes; with `partly`, also that of an incomplete last one. */
function listBlockTimes(
  bytes: Uint8Array,
  from: number,
  partly = false,
): { times: number[]; complete: boolean } {
  const times: number[] = [];
  let [base, stated] = [0, 0];
  for (let at = from; at < bytes.length; ) {
    const element = readElement(bytes, at);
    if (!element) return { times, complete: bytes.length - at < 2 && stated <= bytes.length };
    const { id, data, end } = element;
    if (id === EBML.cluster) stated = end ?? 0;
    if (id === EBML.cluster || id === EBML.block_group) {
      const isCut = end !== null && end > bytes.length && id !== EBML.cluster;
      if (isCut && !partly) return { times, complete: false };
      at = data;
      continue;
    }
    const isBlock = id === EBML.simple_block || id === EBML.block;
    if ((end === null || end > bytes.length) && !(isBlock && partly)) return { times, complete: false };
    if (id === EBML.timestamp && end !== null) base = readUint(bytes, data, end);
    if (isBlock) {
      const place = data + Math.max(1, 9 - (32 - Math.clz32(bytes[data] ?? 0)));
      times.push(base + (((readUint(bytes, place, place + 2) + 0x8000) & 0xffff) - 0x8000));
    }
    at = end ?? bytes.length;
  }
  return { times, complete: stated <= bytes.length };
}

const MAX_SOUND = 16 * MIB;
const SOUND_SAMPLES = 12;
// Flags of a block (RFC 9559, 10.2).
const LACING = { xiph: 2, ebml: 6, any: 6 } as const;

/**
 * Reads the frames of a Matroska file's main sound, or samples of a large file. Null for codecs whose frames do not state their sample rate
 * and channels. Skips frames whose first bytes the track's header contains (RFC 9559, 5.1.4.1.31).
 */
export async function readSoundChanges(
  reader: ByteReader,
  source: Source,
  signal: AbortSignal,
): Promise<SoundChanges | null> {
  const codec = source.codecs?.audio;
  // In Matroska, frames of AAC have no headers.
  const sound = codec === "aac" ? null : createSoundChanges(codec);
  const layout = sound && (await readLayout(reader));
  const index = mainStream(source, "audio")?.index;
  const track = layout && index !== undefined ? trackNumbers(layout.tracks)[index] : undefined;
  if (!sound || !layout || track === undefined) return null;
  const isWhole = reader.size <= MAX_SOUND;
  const length = isWhole ? BLOCK : HEAD;
  const rest = reader.size - layout.clusters;
  const count = isWhole ? Math.ceil(rest / BLOCK) : SOUND_SAMPLES;
  const step = isWhole ? BLOCK : (rest - HEAD) / (SOUND_SAMPLES - 1);
  for (let place = 0; place < count; place++) {
    const start = layout.clusters + Math.floor(place * step);
    const bytes = await reader.read({ start, end: Math.min(reader.size, start + length) }, signal);
    for (const at of findFrames(bytes, track)) sound.addFrame(bytes, at);
  }
  return sound;
}

function trackNumbers(bytes: Uint8Array): (number | undefined)[] {
  return childrenOf(bytes, EBML.track).map(({ data, end }) => {
    const number = listElements(bytes, data, end).find(({ id }) => id === EBML.track_number);
    return number && readUint(bytes, number.data, number.end);
  });
}

/** Yields the offset of the first frame in each block of a track; the bytes may begin anywhere. */
function* findFrames(bytes: Uint8Array, track: number): Generator<number> {
  for (let at = 0; at < bytes.length; at++) {
    const id = bytes[at] ?? 0;
    if (id !== EBML.simple_block && id !== EBML.block) continue;
    const block = readElement(bytes, at);
    if (!block?.end || block.end > bytes.length || readVint(bytes, block.data) !== track) continue;
    // Track, time and flags (RFC 9559, 10.1), then the sizes of several frames (10.3).
    let next = block.data + vintWidth(bytes, block.data) + 3;
    const lacing = (bytes[next - 1] ?? 0) & LACING.any;
    const sizes = lacing === 0 ? 0 : (bytes[next++] ?? 0);
    for (let size = 0; size < sizes; size++) {
      if (lacing === LACING.ebml) next += vintWidth(bytes, next);
      while (lacing === LACING.xiph && bytes[next++] === 0xff);
    }
    yield next;
  }
}

const HEAD = 256 * KIB;
const MAX_CUES = 8 * MIB;

interface Part {
  id: number;
  /** Start and end of its content in the bytes; `end` may lie beyond them. */
  start: number;
  end: number;
}

/**
 * Returns the times in seconds that the cues of a Matroska or WebM file list for a video track, by its index; empty when there are
 * none.
 */
export async function readCueTimes(
  reader: ByteReader,
  track: number,
  signal: AbortSignal,
): Promise<number[]> {
  const head = await reader.read({ start: 0, end: HEAD }, signal);
  const segment = children(head, 0, head.length).find(({ id }) => id === EBML.segment);
  if (!segment) return [];
  const top = children(head, segment.start, head.length, EBML.cluster);
  const scale = unsigned(head, find(head, find(head, top, EBML.info), EBML.timestamp_scale)) ?? DEFAULT_TICK;
  const tracks = inside(head, find(head, top, EBML.tracks)).filter(({ id }) => id === EBML.track);
  const isVideo = (entry: Part) => unsigned(head, find(head, entry, EBML.track_type)) === TRACK_TYPES.video;
  const pictures = tracks.filter(isVideo)[track];
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
    const isOfTrack = places.some((place) => unsigned(bytes, find(bytes, place, EBML.cue_track)) === number);
    return isOfTrack && time !== undefined ? [(time * scale) / 1e9] : [];
  });
}

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

function find(bytes: Uint8Array, within: Part | Part[] | undefined, childId: number): Part | undefined {
  const list = Array.isArray(within) ? within : inside(bytes, within);
  return list.find(({ id }) => id === childId);
}

function unsigned(bytes: Uint8Array, element: Part | undefined): number | undefined {
  if (!element || element.end > bytes.length || element.end - element.start > 8) return undefined;
  return readUint(bytes, element.start, element.end);
}

const MAX_SEARCH = 128 * MIB;
const BLOCK = MIB;
const CHILDREN = 8;
// By chance, data contain the id of a cluster once in gigabytes, but a crafted file could require a read for each.
const MAX_CANDIDATES = 100;
// A cluster of an hour has fewer elements; a crafted one of tiny elements would take minutes.
const MAX_CHILDREN = 1_000_000;
const CLUSTER_ID = [0x1f, 0x43, 0xb6, 0x75] as const;
const TOP_LEVEL: ReadonlySet<number> = new Set([...SKIPPED_IDS, EBML.info, EBML.tracks, EBML.cluster]);
const BLOCKS: ReadonlySet<number> = new Set([EBML.simple_block, EBML.block_group]);
const BEFORE_BLOCKS: ReadonlySet<number> = new Set([
  EBML.timestamp,
  EBML.position,
  EBML.previous_size,
  EBML.void,
  EBML.crc,
]);

/**
 * Repairs faults of a Matroska file on which demuxers fail; offsets stay unchanged. Damage between the headers and the first intact cluster
 * becomes a Void element (RFC 9559, 5), which demuxers skip instead of resynchronizing over megabytes. A file that is cut off ends with its
 * last whole block, because mediabunny (1.61) reads no block of a cluster that is incomplete. Returns the reader itself when there is nothing
 * to repair, or the format is another.
 */
export async function repairMatroska(
  reader: ByteReader,
  format: string,
  signal: AbortSignal,
): Promise<ByteReader> {
  return isMatroska(format) ? repairClusters(reader, signal) : reader;
}

/** Repairs a file that is certainly a Matroska, as {@link repairMatroska} does. */
export async function repairClusters(reader: ByteReader, signal: AbortSignal): Promise<ByteReader> {
  const segment = await findSegment(reader);
  if (!segment) return reader;
  const damage = await findDamage(reader, segment, signal);
  const intact = damage ? coverRange(reader, damage) : reader;
  const isCut = segment.end === null || segment.end > reader.size;
  const last = isCut ? await findLastCluster(reader, segment.data, signal) : null;
  return last ? endWithBlock(intact, last) : intact;
}

async function findSegment(reader: ByteReader): Promise<Element | null> {
  const header = await readElementAt(reader, 0);
  if (header?.id !== EBML.header || header.end === null) return null;
  const segment = await readElementAt(reader, header.end);
  return segment?.id === EBML.segment ? segment : null;
}

async function findDamage(
  reader: ByteReader,
  segment: Element,
  signal: AbortSignal,
): Promise<ByteRange | null> {
  let at = segment.data;
  let tracks = false;
  for (let count = 0; count < MAX_TOP_ELEMENTS && at < reader.size; count++) {
    const element = await readElementAt(reader, at);
    const end = element && TOP_LEVEL.has(element.id) && element.id !== EBML.cluster ? element.end : null;
    if (element && end !== null && end <= reader.size) {
      tracks ||= element.id === EBML.tracks;
      at = end;
      continue;
    }
    if (!tracks || (await isIntactCluster(reader, at))) return null;
    const next = await findCluster(reader, at + 1, signal);
    return next === null ? null : { start: at, end: next };
  }
  return null;
}

async function findCluster(reader: ByteReader, from: number, signal: AbortSignal): Promise<number | null> {
  const limit = Math.min(reader.size, from + MAX_SEARCH);
  let candidates = 0;
  for (let start = from; start < limit; start += BLOCK) {
    const bytes = await reader.read({ start, end: start + BLOCK + CLUSTER_ID.length - 1 }, signal);
    for (let at = bytes.indexOf(CLUSTER_ID[0]); at >= 0; at = bytes.indexOf(CLUSTER_ID[0], at + 1)) {
      const matches = CLUSTER_ID.every((byte, index) => bytes[at + index] === byte);
      if (!matches) continue;
      if (candidates++ === MAX_CANDIDATES) return null;
      if (await isIntactCluster(reader, start + at)) return start + at;
    }
  }
  return null;
}

/** Returns whether a cluster with a timestamp before its blocks starts at an offset. */
async function isIntactCluster(reader: ByteReader, at: number): Promise<boolean> {
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

/** Searches for the last cluster backwards from the end, because a file that is cut off lacks its index. */
async function findLastCluster(
  reader: ByteReader,
  from: number,
  signal: AbortSignal,
): Promise<Element | null> {
  const limit = Math.max(from, reader.size - MAX_SEARCH);
  let candidates = 0;
  for (let end = reader.size; end > limit; end -= BLOCK) {
    const start = Math.max(limit, end - BLOCK);
    const bytes = await reader.read({ start, end: end + CLUSTER_ID.length - 1 }, signal);
    for (
      let at = bytes.lastIndexOf(CLUSTER_ID[0]);
      at >= 0;
      at = bytes.subarray(0, at).lastIndexOf(CLUSTER_ID[0])
    ) {
      const matches = CLUSTER_ID.every((byte, index) => bytes[at + index] === byte);
      if (!matches) continue;
      if (candidates++ === MAX_CANDIDATES) return null;
      if (await isIntactCluster(reader, start + at)) return readElementAt(reader, start + at);
    }
  }
  return null;
}

/** Presents a file whose last cluster is incomplete as one that ends with the last whole block. */
async function endWithBlock(reader: ByteReader, cluster: Element): Promise<ByteReader> {
  const buffered = bufferReader(reader);
  let [end, count] = [cluster.data, 0];
  while (end < Math.min(reader.size, cluster.end ?? reader.size)) {
    if (count++ === MAX_CHILDREN) return reader;
    const child = await readElementAt(buffered, end);
    if (child && TOP_LEVEL.has(child.id) && !BEFORE_BLOCKS.has(child.id)) return reader;
    if (!child || child.end === null || child.end > reader.size) break;
    end = child.end;
  }
  if (end === (cluster.end ?? reader.size)) return reader;
  const size = cluster.end === null ? new Uint8Array() : writeSize(cluster, end - cluster.data);
  const place = cluster.data - size.length;
  return {
    ...reader,
    size: end,
    async read(range, signal) {
      const bytes = await reader.read({ start: range.start, end: Math.min(range.end, end) }, signal);
      if (range.start >= cluster.data || range.end <= place) return bytes;
      const copy = bytes.slice();
      for (const [index, byte] of size.entries()) {
        const at = place + index - range.start;
        if (at >= 0 && at < copy.length) copy[at] = byte;
      }
      return copy;
    },
  };
}

/** Encodes the new size of a cluster in as many bytes as the old one. */
function writeSize(cluster: Element, size: number): Uint8Array {
  const bytes = new Uint8Array(cluster.data - cluster.start - CLUSTER_ID.length);
  let rest = size;
  for (let at = bytes.length - 1; at >= 0; at--) {
    bytes[at] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[0] = (bytes[0] ?? 0) | (0x100 >> bytes.length);
  return bytes;
}

const BUFFER = 64 * KIB;

function bufferReader(reader: ByteReader): ByteReader {
  let start = 0;
  let bytes: Uint8Array = new Uint8Array();
  return {
    size: reader.size,
    async read(range, signal) {
      if (range.start < start || range.end > start + bytes.length) {
        start = range.start;
        bytes = await reader.read({ start, end: Math.max(range.end, start + BUFFER) }, signal);
      }
      return bytes.subarray(range.start - start, range.end - start);
    },
  };
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
        const slice = cover.subarray(Math.max(0, from - start), to - start);
        bytes.set(slice, Math.max(0, start - from));
      }
      return bytes;
    },
  };
}
