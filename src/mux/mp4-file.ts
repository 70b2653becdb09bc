import { COVER_CODECS, tagPlace } from "../media/tags.ts";
import { type Box, listBoxes } from "../probe/mp4-boxes.ts";
import type { ByteReader } from "../runs/ports.ts";
import { KIB, MIB, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { type FileMetadata, NUMBERED, numbersOf } from "./file-metadata.ts";
import {
  type Bytes,
  box,
  createGatherer,
  fullBox,
  type Gatherer,
  handlerBox,
  lengthOf,
  letters,
  MATRIX,
  MAX_UINT32,
  u16,
  u32,
  u64,
} from "./mp4-boxes.ts";
import { bytesAt, editsOf, type Mp4Samples, type Mp4Track, writeEdits } from "./mp4-part.ts";

/** Writes a planned file from front to end. */
export type Mp4Copy = (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>;

const BLOCKS = { vide: 4 * MIB, soun: MIB } as const;

/** Plans an MP4 or MOV from finished tracks, pictures first: the index, then the chunks in order of time. */
export function planFile(
  tracks: readonly [Mp4Build, ...Mp4Build[]],
  user_data: Bytes,
  signal: AbortSignal | undefined,
): Mp4Copy {
  const order = interleave(tracks);
  const front = writeFront(tracks, order, user_data);
  return async (write) => {
    const out = createGatherer(write);
    for (const piece of front) await out.add(piece);
    const readers = tracks.map(({ extents, first }) =>
      createExtentReader(extents, BLOCKS[first.kind], signal),
    );
    for (const { track, chunk } of order) await readers[track]?.copy(chunk.bytes, out);
    await out.flush();
  };
}

interface TrackChunk {
  track: number;
  chunk: Mp4Chunk;
}

function interleave(tracks: readonly Mp4Build[]): TrackChunk[] {
  const all = tracks.flatMap(({ chunks, start, first }, track) => {
    const late = Math.max(0, start) / first.ticks;
    return chunks.map((chunk) => ({ track, chunk, at: chunk.at + late }));
  });
  return all.sort((a, b) => a.at - b.at);
}

function writeFront(
  tracks: readonly [Mp4Build, ...Mp4Build[]],
  order: readonly TrackChunk[],
  user_data: Bytes,
): Bytes {
  const [{ first }] = tracks;
  const type = writeType(first.quicktime, String.fromCharCode(...first.entry.subarray(4, 8)));
  const index = createIndex(tracks, user_data);
  const bytes = tracks.reduce((sum, track) => sum + track.bytes, 0);
  const offsets = new Map<Mp4Chunk, number>();
  const offsetOf = (chunk: Mp4Chunk) => offsets.get(chunk) ?? 0;
  const size = (wide: boolean) => lengthOf(type) + lengthOf(index.write(offsetOf, wide)) + (wide ? 16 : 8);
  const wide = size(true) + bytes > MAX_UINT32;
  let at = size(wide);
  for (const { chunk } of order) {
    offsets.set(chunk, at);
    at += chunk.bytes;
  }
  const mdat = wide ? [u32(1), letters("mdat"), u64(bytes + 16)] : [u32(bytes + 8), letters("mdat")];
  return [...type, ...index.write(offsetOf, wide), ...mdat];
}

const RATE = u32(0x10000);

const KINDS = {
  vide: { header: fullBox("vmhd", 0, 1, [u16(0, 0, 0, 0)]), name: "VideoHandler", group: 0, volume: 0 },
  soun: { header: fullBox("smhd", 0, 0, [u16(0, 0)]), name: "SoundHandler", group: 1, volume: 0x100 },
} as const;

/** Writes the ftyp box; `codec` is the type of the sample entry. */
function writeType(quicktime: boolean, codec: string): Bytes {
  // iso4 allows negative composition offsets.
  const iso = ["isom", "iso2", "iso4", ...(codec === "avc1" ? ["avc1"] : []), "mp41"];
  const brands = quicktime ? ["qt  "] : iso;
  return box("ftyp", [letters(brands[0] ?? ""), u32(0x200), ...brands.map(letters)]);
}

/** The index of a file; the chunks' offsets depend on its size, so they are passed in when it is written. */
export interface Mp4Index {
  /** Writes the index with the file offset of each chunk, in 64 bits when `wide`. */
  write(offsetOf: (chunk: Mp4Chunk) => number, wide: boolean): Bytes;
}

/** Completes the tables of finished tracks, pictures first; the index ends with the user data. */
function createIndex(tracks: readonly Mp4Build[], user_data: Bytes): Mp4Index {
  const ticks = tracks[0]?.first.ticks ?? 1;
  const parts = tracks.map((build, index) => closeTrack(build, index + 1, ticks));
  const longest = Math.max(...parts.map(({ length }) => length));
  const rest = [RATE, u16(0x100, 0), u32(0, 0), MATRIX, u32(0, 0, 0, 0, 0, 0, tracks.length + 1)];
  const mvhd = timed("mvhd", 0, [ticks], longest, rest);
  return {
    write: (offsetOf, wide) =>
      box("moov", mvhd, ...parts.map((part) => part.write(offsetOf, wide)), user_data),
  };
}

function closeTrack(build: Mp4Build, id: number, movieTicks: number): Mp4Index & { length: number } {
  const { first, chunks, duration } = build;
  const { header, name, group, volume } = KINDS[first.kind];
  const edits = editsOf(build, movieTicks);
  const length = edits.reduce((sum, edit) => sum + edit.length, 0);
  const tkhd = timed("tkhd", 3, [id, 0], length, [
    u32(0, 0),
    u16(0, group, volume, 0),
    MATRIX,
    first.displaySize,
  ]);
  const mdhd = timed("mdhd", 0, [first.ticks], duration, [u16(first.language, 0)]);
  const hdlr = handlerBox(first.quicktime, "mhlr", first.kind, letters(name));
  const data = first.quicktime ? handlerBox(true, "dhlr", "url ", letters("DataHandler")) : [];
  const dinf = box("dinf", fullBox("dref", 0, 0, [u32(1)], fullBox("url ", 0, 1)));
  const tables = sampleTables(build);
  return {
    length,
    write(offsetOf, wide) {
      const offsets = createTable();
      for (const offset of chunks.map(offsetOf)) {
        if (wide) offsets.push(Math.floor(offset / 2 ** 32));
        offsets.push(offset % 2 ** 32);
      }
      const each = [u32(chunks.length), ...offsets.bytes()];
      const stbl = box("stbl", ...tables, fullBox(wide ? "co64" : "stco", 0, 0, each));
      const minf = box("minf", header, data, dinf, stbl);
      return box("trak", tkhd, writeEdits(edits), box("mdia", mdhd, hdlr, minf));
    },
  };
}

function sampleTables(build: Mp4Build): Bytes[] {
  const { first, stts, ctts, stsz, stss, hasSync, chunks } = build;
  const table = (kind: string, version: number, { length, bytes }: { length: number; bytes: Bytes }) =>
    fullBox(kind, version, 0, [u32(length), ...bytes]);
  return [
    fullBox("stsd", 0, 0, [u32(1), first.kind === "vide" ? entryOf(build) : first.entry]),
    table("stts", 0, stts.finish()),
    // Only version 1 defines negative values.
    ctts.used ? table("ctts", ctts.negative ? 1 : 0, ctts.finish()) : [],
    hasSync ? table("stss", 0, { length: stss.length, bytes: stss.bytes() }) : [],
    fullBox("stsz", 0, 0, [u32(0, stsz.length), ...stsz.bytes()]),
    chunkTable(chunks),
    first.groups,
  ];
}

function entryOf({ first, chunks, bytes, duration }: Mp4Build): Uint8Array {
  const average = (bytes * 8 * first.ticks) / Math.max(1, duration);
  const peak = chunks.reduce((max, chunk) => Math.max(max, chunk.bytes * 8), average);
  return withBitrate(first.entry, peak, average);
}

function chunkTable(chunks: readonly Mp4Chunk[]): Bytes {
  const table = createTable();
  let before = -1;
  for (const [index, { samples }] of chunks.entries()) {
    if (samples === before) continue;
    before = samples;
    table.push(index + 1);
    table.push(samples);
    table.push(1);
  }
  return fullBox("stsc", 0, 0, [u32(table.length / 3), ...table.bytes()]);
}

function timed(kind: string, flags: number, middle: readonly number[], length: number, rest: Bytes): Bytes {
  const wide = length > MAX_UINT32;
  const [created, duration] = wide ? [u64(0, 0), u64(length)] : [u32(0, 0), u32(length)];
  return fullBox(kind, wide ? 1 : 0, flags, [created, u32(...middle), duration, ...rest]);
}

const CHUNK_SECONDS = 1;

interface Extent {
  input: ByteReader;
  start: number;
  end: number;
}

/** Samples of a track stored contiguously. */
interface Mp4Chunk {
  /** Decoding time at which it begins, in seconds. */
  at: number;
  samples: number;
  bytes: number;
}

/** A track under construction: its tables, and the extents of its bytes. */
export interface Mp4Build {
  /** The first part; its description applies to all. */
  first: Mp4Track;
  stts: Runs;
  ctts: Runs;
  stsz: Table;
  /** Numbers of the sync samples; valid when `hasSync` is true. */
  stss: Table;
  hasSync: boolean;
  chunks: Mp4Chunk[];
  extents: Extent[];
  /** Tick at which the first sample is shown, and ticks from there to the end of the last sample. */
  start: number;
  duration: number;
  bytes: number;
  /** Adds the samples of a part with their decoding and presentation ticks, in decoding order. */
  add(part: Mp4Track, samples: Mp4Samples, decoded: Float64Array, displayTimes: Float64Array): void;
  /** Completes the track; the last sample lasts `last` ticks. */
  finish(last: number): void;
}

/** Starts a track that takes its description from its first part. */
export function createBuild(first: Mp4Track): Mp4Build {
  const { ticks } = first;
  let before: number | null = null;
  let chunk: Mp4Chunk | null = null;
  const build: Mp4Build = {
    first,
    stts: createRuns(),
    ctts: createRuns(),
    stsz: createTable(),
    stss: createTable(),
    hasSync: false,
    chunks: [],
    extents: [],
    start: 0,
    duration: 0,
    bytes: 0,
    add({ input }, { sizes, sync, extents }, decoded, displayTimes) {
      for (let index = 0; index < sizes.length; index++) {
        const [size = 0, at = 0] = [sizes[index], decoded[index]];
        if (before === null) build.start = at;
        else addDelta(at - before);
        before = at;
        const seconds = (at - build.start) / ticks;
        if (!chunk || seconds - chunk.at >= CHUNK_SECONDS) {
          chunk = { at: seconds, samples: 0, bytes: 0 };
          build.chunks.push(chunk);
        }
        chunk.samples++;
        chunk.bytes += size;
        build.bytes += size;
        build.ctts.push((displayTimes[index] ?? 0) - at);
        build.stsz.push(size);
        if (sync?.[index] !== 0) build.stss.push(build.stsz.length);
      }
      build.hasSync ||= sync !== null;
      for (const [start, end] of extents) build.extents.push({ input, start, end });
    },
    finish: (last) => addDelta(last),
  };
  function addDelta(delta: number) {
    build.stts.push(delta);
    build.duration += delta;
  }
  return build;
}

const BLOCK = 64 * KIB;

/** A growing table of big-endian 32-bit numbers, as stored in an MP4's index. */
interface Table {
  readonly length: number;
  push(value: number): void;
  /** Returns the bytes in pieces, without copying them. */
  bytes(): Uint8Array[];
}

/** Creates a {@link Table}; negative numbers become two's complement. */
function createTable(): Table {
  const blocks: DataView<ArrayBuffer>[] = [];
  let last = new DataView(new ArrayBuffer(0));
  let [used, length] = [0, 0];
  return {
    get length() {
      return length;
    },
    push(value) {
      if (used === last.byteLength) {
        last = new DataView(new ArrayBuffer(blocks.length === 0 ? BLOCK / 16 : BLOCK));
        blocks.push(last);
        used = 0;
      }
      last.setUint32(used, value);
      used += 4;
      length++;
    },
    bytes: () =>
      blocks.map((block) => new Uint8Array(block.buffer, 0, block === last ? used : block.byteLength)),
  };
}

/** A run-length table such as stts and ctts. */
interface Runs {
  push(value: number): void;
  /** Whether any value was not 0. */
  readonly used: boolean;
  /** Whether any value was below 0. */
  readonly negative: boolean;
  /** Returns the number of entries, and their bytes in pieces. */
  finish(): { length: number; bytes: Uint8Array[] };
}

function createRuns(): Runs {
  const table = createTable();
  let [count, value] = [0, 0];
  let [used, negative] = [false, false];
  const close = () => {
    if (count === 0) return;
    table.push(count);
    table.push(value);
    count = 0;
  };
  return {
    get used() {
      return used;
    },
    get negative() {
      return negative;
    },
    push(next) {
      if (next !== value) close();
      value = next;
      count++;
      used ||= next !== 0;
      negative ||= next < 0;
    },
    finish() {
      close();
      return { length: table.length / 2, bytes: table.bytes() };
    },
  };
}

// Boxes that configure a decoder, and the bytes of each to compare: the stream repeats the rest of av1C.
const CONFIGS: Readonly<Record<string, { box: string; bytes: number }>> = {
  avc1: { box: "avcC", bytes: Number.POSITIVE_INFINITY },
  hvc1: { box: "hvcC", bytes: Number.POSITIVE_INFINITY },
  av01: { box: "av1C", bytes: 4 },
};
const AAC_ENTRY = "mp4a";
const SIZE = { start: 32, end: 36 };
const BOXES_START = 86;

/** Returns the decoder configuration of a video sample entry, equal for streams that can be joined; null for an unknown codec. */
export function pictureConfig(entry: Uint8Array): string | null {
  const kind = kindOf(entry);
  const config = CONFIGS[kind];
  const view = viewOf(entry);
  const record = config && entry.length > BOXES_START ? findIn(entry, config.box) : undefined;
  if (!config || !record) return null;
  const bytes = bytesAt(view, record.start, Math.min(record.end, record.start + config.bytes));
  return [kind, ...entry.subarray(SIZE.start, SIZE.end), ...bytes].join(" ");
}

export function isSoundEntry(entry: Uint8Array): boolean {
  return kindOf(entry) === AAC_ENTRY;
}

/** Returns a video sample entry with new bitrates if it states any. */
function withBitrate(entry: Uint8Array, peak: number, average: number): Uint8Array {
  const changed = entry.slice();
  const btrt = findIn(changed, "btrt");
  if (!btrt || btrt.end - btrt.start < 12) return changed;
  const clamp = (value: number) => Math.min(Math.round(value), MAX_UINT32);
  viewOf(changed).setUint32(btrt.start + 4, clamp(peak));
  viewOf(changed).setUint32(btrt.start + 8, clamp(average));
  return changed;
}

function kindOf(entry: Uint8Array): string {
  return String.fromCharCode(...entry.subarray(4, 8));
}

function findIn(entry: Uint8Array, kind: string): Box | undefined {
  return listBoxes(viewOf(entry), BOXES_START, entry.length).find((box) => box.kind === kind);
}

export interface ExtentReader {
  /** Copies the next `bytes` bytes to `out`. */
  copy(bytes: number, out: Gatherer): Promise<void>;
}

/** Creates an {@link ExtentReader} that reads blocks of `block` bytes, one ahead. */
export function createExtentReader(
  extents: readonly Extent[],
  block: number,
  signal: AbortSignal | undefined,
): ExtentReader {
  let index = 0;
  let at = extents[0]?.start ?? 0;
  let buffer: Uint8Array = new Uint8Array(0);
  let prefetched: Promise<Uint8Array> | null = null;

  function readOn(): Promise<Uint8Array> | null {
    const extent = extents[index];
    if (!extent) return null;
    const range = { start: at, end: Math.min(at + block, extent.end) };
    at = range.end;
    if (at === extent.end) at = extents[++index]?.start ?? 0;
    const read = extent.input.read(range, signal).then((bytes) => {
      if (bytes.length !== range.end - range.start) throw errors.partsDamaged();
      return bytes;
    });
    read.catch(() => {});
    return read;
  }

  return {
    async copy(bytes, out) {
      for (let remaining = bytes; remaining > 0; ) {
        if (buffer.length === 0) {
          const next = prefetched ?? readOn();
          if (!next) throw errors.partsDamaged();
          buffer = await next;
          prefetched = readOn();
        }
        signal?.throwIfAborted();
        const piece = buffer.subarray(0, remaining);
        buffer = buffer.subarray(piece.length);
        remaining -= piece.length;
        await out.add(piece);
      }
    },
  };
}

const TYPES = { bytes: 0, text: 1, [COVER_CODECS.mjpeg]: 13, [COVER_CODECS.png]: 14 } as const;
// "und", as packed in mdhd.
const NO_LANGUAGE = 0x55c4;

/** Writes tags and cover for the end of an index: an iTunes list in an MP4, texts in a MOV; empty when there are none. */
export function writeUserData(quicktime: boolean, { tags, cover }: FileMetadata): Bytes {
  const entries = Object.entries(tags).flatMap(([name, value]) => {
    const place = tagPlace(name, quicktime ? "quicktime" : "itunes");
    return place ? [{ place, value }] : [];
  });
  const items = quicktime
    ? entries.flatMap(writeText)
    : [...entries.flatMap(writeItem), ...writeCover(cover)];
  if (items.length === 0) return [];
  if (quicktime) return box("udta", items);
  const handler = fullBox("hdlr", 0, 0, [
    u32(0),
    letters("mdir"),
    letters("appl"),
    u32(0, 0),
    Uint8Array.of(0),
  ]);
  return box("udta", fullBox("meta", 0, 0, handler, box("ilst", items)));
}

interface Entry {
  place: string;
  value: string;
}

function writeText({ place, value }: Entry): Bytes {
  const text = new TextEncoder().encode(value);
  return box(place, [u16(text.length, NO_LANGUAGE), text]);
}

function writeItem({ place, value }: Entry): Bytes {
  const isNumber = NUMBERED.has(place);
  const bytes = isNumber ? numbersOf(value) : new TextEncoder().encode(value);
  return box(place, box("data", [u32(isNumber ? TYPES.bytes : TYPES.text, 0), bytes]));
}

function writeCover(cover: FileMetadata["cover"]): Bytes {
  if (!cover) return [];
  return box("covr", box("data", [u32(TYPES[cover.mime as keyof typeof TYPES] ?? 0, 0), cover.bytes]));
}
