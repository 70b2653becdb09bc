import { type Bytes, box, fullBox, letters, u16, u32, u64 } from "./mp4-boxes.ts";
import { editsOf, writeEdits } from "./mp4-edit.ts";
import { withBitrate } from "./mp4-entry.ts";
import { createTable } from "./mp4-tables.ts";
import type { Mp4Build, Mp4Chunk } from "./mp4-track.ts";

const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);
const RATE = u32(0x10000);

const KINDS = {
  vide: { header: fullBox("vmhd", 0, 1, [u16(0, 0, 0, 0)]), name: "VideoHandler", group: 0, volume: 0 },
  soun: { header: fullBox("smhd", 0, 0, [u16(0, 0)]), name: "SoundHandler", group: 1, volume: 0x100 },
} as const;

/** Writes the ftyp box for pictures of a codec, given by the type of its sample entries. */
export function writeType(quicktime: boolean, codec: string): Bytes {
  // The fourth edition introduced negative composition offsets.
  const iso = ["isom", "iso2", "iso4", ...(codec === "avc1" ? ["avc1"] : []), "mp41"];
  const brands = quicktime ? ["qt  "] : iso;
  return box("ftyp", [letters(brands[0] ?? ""), u32(0x200), ...brands.map(letters)]);
}

/** Writes the index of a file; the chunks' offsets come last, because they depend on its size. */
export interface Mp4Index {
  /** Writes the index with the offset of each chunk in the file, in 64 bits when `wide`. */
  write(placeOf: (chunk: Mp4Chunk) => number, wide: boolean): Bytes;
}

/** Completes the tables of finished tracks, pictures first, for an index that ends with the user data. */
export function createIndex(tracks: readonly Mp4Build[], user_data: Bytes): Mp4Index {
  const ticks = tracks[0]?.first.ticks ?? 1;
  const parts = tracks.map((build, index) => closeTrack(build, index + 1, ticks));
  const longest = Math.max(...parts.map(({ length }) => length));
  const rest = [RATE, u16(0x100, 0), u32(0, 0), MATRIX, u32(0, 0, 0, 0, 0, 0, tracks.length + 1)];
  const mvhd = timed("mvhd", 0, [ticks], longest, rest);
  return {
    write: (placeOf, wide) => box("moov", mvhd, ...parts.map((part) => part.write(placeOf, wide)), user_data),
  };
}

function closeTrack(build: Mp4Build, id: number, movieTicks: number): Mp4Index & { length: number } {
  const { first, chunks, duration } = build;
  const { header, name, group, volume } = KINDS[first.kind];
  const edits = editsOf(build, movieTicks);
  const length = edits.reduce((sum, edit) => sum + edit.length, 0);
  const tkhd = timed("tkhd", 3, [id, 0], length, [u32(0, 0), u16(0, group, volume, 0), MATRIX, first.shown]);
  const mdhd = timed("mdhd", 0, [first.ticks], duration, [u16(first.language, 0)]);
  const hdlr = handler(first.quicktime, "mhlr", first.kind, name);
  const data = first.quicktime ? handler(true, "dhlr", "url ", "DataHandler") : [];
  const dinf = box("dinf", fullBox("dref", 0, 0, [u32(1)], fullBox("url ", 0, 1)));
  const tables = sampleTables(build);
  return {
    length,
    write(placeOf, wide) {
      const places = createTable();
      for (const place of chunks.map(placeOf)) {
        if (wide) places.push(Math.floor(place / 2 ** 32));
        places.push(place % 2 ** 32);
      }
      const each = [u32(chunks.length), ...places.bytes()];
      const stbl = box("stbl", ...tables, fullBox(wide ? "co64" : "stco", 0, 0, each));
      const minf = box("minf", header, data, dinf, stbl);
      return box("trak", tkhd, writeEdits(edits), box("mdia", mdhd, hdlr, minf));
    },
  };
}

function sampleTables(build: Mp4Build): Bytes[] {
  const { first, stts, ctts, stsz, stss, some, chunks } = build;
  const table = (kind: string, version: number, { length, bytes }: { length: number; bytes: Bytes }) =>
    fullBox(kind, version, 0, [u32(length), ...bytes]);
  return [
    fullBox("stsd", 0, 0, [u32(1), first.kind === "vide" ? entryOf(build) : first.entry]),
    table("stts", 0, stts.finish()),
    // Only version 1 defines negative values.
    ctts.used ? table("ctts", ctts.negative ? 1 : 0, ctts.finish()) : [],
    some ? table("stss", 0, { length: stss.length, bytes: stss.bytes() }) : [],
    fullBox("stsz", 0, 0, [u32(0, stsz.length), ...stsz.bytes()]),
    chunkTable(chunks),
    first.groups,
  ];
}

function entryOf({ first, chunks, bytes, duration }: Mp4Build): Uint8Array {
  const average = (bytes * 8 * first.ticks) / Math.max(1, duration);
  // Chunks last a second.
  const peak = chunks.reduce((most, chunk) => Math.max(most, chunk.bytes * 8), average);
  return withBitrate(first.entry, peak, average);
}

// Consecutive chunks with equally many samples share an entry.
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

// MOV also stores the handler's component type, and its name with a length.
function handler(quicktime: boolean, component: string, kind: string, name: string): Bytes {
  const text = quicktime ? [Uint8Array.of(name.length), letters(name)] : [letters(name), Uint8Array.of(0)];
  const type = quicktime ? letters(component) : u32(0);
  return fullBox("hdlr", 0, 0, [type, letters(kind), u32(0, 0, 0), ...text]);
}

// mvhd, tkhd and mdhd: unspecified creation times, and a length that is 64 bits in version 1.
function timed(kind: string, flags: number, middle: readonly number[], length: number, rest: Bytes): Bytes {
  const wide = length > 0xffffffff;
  const [made, lasts] = wide ? [u64(0, 0), u64(length)] : [u32(0, 0), u32(length)];
  return fullBox(kind, wide ? 1 : 0, flags, [made, u32(...middle), lasts, ...rest]);
}
