import { HIGH_10, type ParameterSets, PROFILES } from "../media/features/smart.ts";
import { createBits, nalUnits, readSps, withoutEmulation } from "../probe/codec-headers.ts";
import { findBox, listBoxes } from "../probe/mp4-boxes.ts";
import { concatBytes, equalBytes, viewOf } from "../util/bytes.ts";

/** The codecs with parameter sets, H.264 and H.265, by mediabunny's names. */
export type SetsCodec = keyof typeof UNITS;

/** The parameter sets of a stream, each a whole NAL unit. */
export interface StreamSets {
  codec: SetsCodec;
  /** The sets of each type, in the order of `UNITS`. */
  units: Uint8Array[][];
  /** The configuration record without its sets: its end for H.264, its start for H.265. */
  rest: Uint8Array;
}

// NAL unit types (ITU-T H.264 and H.265, table 7-1).
const UNITS = {
  avc: { typeOf: (first: number) => first & 0x1f, sets: [7, 8], delimiter: 9 },
  hevc: { typeOf: (first: number) => (first >> 1) & 0x3f, sets: [32, 33, 34], delimiter: 35 },
} as const;

const LENGTH_BYTES = 4;

/** Returns a codec if it has parameter sets; otherwise null. */
export function setsCodec(codec: string | null): SetsCodec | null {
  return codec === "avc" || codec === "hevc" ? codec : null;
}

/**
 * Reads the parameter sets of a decoder configuration record (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1); null if the record is damaged,
 * lacks a set, or describes NAL units whose size is not stated in four bytes.
 */
export function readRecordSets(record: Uint8Array, codec: SetsCodec): StreamSets | null {
  if (record[0] !== 1 || !hasLongLengths(record, codec)) return null;
  const { units, end } = codec === "avc" ? readAvcUnits(record) : readHevcUnits(record);
  if (end > record.length || units.some((each) => each.length === 0)) return null;
  return { codec, units, rest: codec === "avc" ? record.slice(end) : record.slice(0, HEVC_START - 1) };
}

// Where a record states the size of lengths.
const LENGTH_AT = { avc: 4, hevc: 21 } as const;

function hasLongLengths(record: Uint8Array, codec: SetsCodec): boolean {
  return ((record[LENGTH_AT[codec]] ?? 0) & 3) + 1 === LENGTH_BYTES;
}

interface RecordUnits {
  units: Uint8Array[][];
  /** Position in the record after the sets. */
  end: number;
}

function readAvcUnits(record: Uint8Array): RecordUnits {
  let end = 5;
  const units = [0x1f, 0xff].map((mask) => {
    const list = takeUnits(record, end + 1, (record[end] ?? 0) & mask);
    end = list.end;
    return list.units;
  });
  return { units, end };
}

// Bytes before the first list of units; the last one is the number of lists.
const HEVC_START = 23;

function readHevcUnits(record: Uint8Array): RecordUnits {
  let end = HEVC_START;
  const lists = Array.from({ length: record[HEVC_START - 1] ?? 0 }, () => {
    const type = (record[end] ?? 0) & 0x3f;
    const list = takeUnits(record, end + 3, ((record[end + 1] ?? 0) << 8) | (record[end + 2] ?? 0));
    end = list.end;
    return { type, units: list.units };
  });
  const unitsOf = (type: number) => lists.flatMap((list) => (list.type === type ? list.units : []));
  return { units: UNITS.hevc.sets.map(unitsOf), end };
}

function takeUnits(record: Uint8Array, start: number, count: number): { units: Uint8Array[]; end: number } {
  const view = viewOf(record);
  const units: Uint8Array[] = [];
  let end = start;
  for (let remaining = count; remaining > 0 && end + 2 <= record.length; remaining--) {
    const from = end + 2;
    end = from + view.getUint16(end);
    units.push(record.slice(from, end));
  }
  return { units, end };
}

/**
 * Reads the parameter sets of an access unit, which has start codes if `description` is null; null if it lacks a set, or if the record
 * does not state the size of a NAL unit in four bytes.
 */
export function readInBandSets(
  unit: Uint8Array,
  codec: SetsCodec,
  description: Uint8Array | null = null,
): StreamSets | null {
  const { typeOf, sets } = UNITS[codec];
  if (description && !hasLongLengths(description, codec)) return null;
  const all = [...nalUnits(unit, description, LENGTH_AT[codec])].map((nal) => nal.slice());
  const units = sets.map((type) => all.filter((nal) => typeOf(nal[0] ?? 0) === type));
  const sps = units[sets.length - 2]?.[0];
  if (!sps || units.some((each) => each.length === 0)) return null;
  return { codec, units, rest: codec === "avc" ? avcEnd(sps) : hevcStart(sps) };
}

// Profiles whose record ends with the chroma format and depths (5.3.3.1.2): here 4:2:0 of one depth, without extensions.
const HIGH: ReadonlySet<number> = new Set([100, HIGH_10, 122, 144]);

function avcEnd(sps: Uint8Array): Uint8Array {
  const depth = 0xf8 | (((readSps(sps)?.bit_depth ?? 8) - 8) & 7);
  return Uint8Array.from(HIGH.has(sps[1] ?? 0) ? [0xfd, depth, depth, 0] : []);
}

// Bytes of the profile, tier and level in a sequence parameter set; the record repeats them.
const PROFILE = { start: 3, bytes: 12 } as const;

// 8.3.3.1.2: parallelism and frame rate are unknown, and the size of a NAL unit is stated in four bytes.
function hevcStart(sps: Uint8Array): Uint8Array {
  const bytes = withoutEmulation(sps);
  const layers = ((bytes[2] ?? 0) >> 1) & 7;
  const bits = createBits(bytes.subarray(afterProfile(bytes)));
  bits.unsigned();
  const chroma = bits.unsigned();
  if (chroma === 3) bits.take(1);
  bits.unsigned();
  bits.unsigned();
  if (bits.take(1) === 1) for (let edge = 0; edge < 4; edge++) bits.unsigned();
  const depths = [bits.unsigned(), bits.unsigned()];
  const nested = (bytes[2] ?? 0) & 1;
  return Uint8Array.of(
    ...[1, ...bytes.subarray(PROFILE.start, PROFILE.start + PROFILE.bytes), 0xf0, 0, 0xfc],
    ...[0xfc | (chroma & 3), ...depths.map((depth) => 0xf8 | (depth & 7)), 0, 0],
    ((layers + 1) << 3) | (nested << 2) | (LENGTH_BYTES - 1),
  );
}

// ITU-T H.265, 7.3.3: two flags for each layer below the highest say whether a profile and a level are stated for it.
function afterProfile(sps: Uint8Array): number {
  const layers = ((sps[2] ?? 0) >> 1) & 7;
  const start = PROFILE.start + PROFILE.bytes;
  if (layers === 0) return start;
  const bits = createBits(sps.subarray(start));
  const sizes = Array.from({ length: layers }, () => 11 * bits.take(1) + bits.take(1));
  return start + 2 + sizes.reduce((sum, size) => sum + size, 0);
}

/** Writes the configuration record of a stream that switches between several parameter sets. */
export function writeRecord(all: readonly StreamSets[]): Uint8Array {
  const [first] = all;
  const units = (first?.units ?? []).map((_, kind) =>
    distinct(all.flatMap((each) => each.units[kind] ?? [])),
  );
  const rest = first?.rest ?? new Uint8Array();
  return first?.codec === "hevc" ? writeHevcRecord(units, rest) : writeAvcRecord(units, rest);
}

const withSize = (unit: Uint8Array) => [Uint8Array.of(unit.length >> 8, unit.length & 0xff), unit];

function writeAvcRecord([sps = [], pps = []]: Uint8Array[][], end: Uint8Array): Uint8Array {
  const [lead = new Uint8Array(4)] = sps;
  const level = Math.max(...sps.map((unit) => unit[3] ?? 0));
  return concatBytes([
    Uint8Array.of(1, lead[1] ?? 0, lead[2] ?? 0, level, 0xff, 0xe0 | sps.length),
    ...sps.flatMap(withSize),
    Uint8Array.of(pps.length),
    ...pps.flatMap(withSize),
    end,
  ]);
}

const LEVEL_AT = 12;

function writeHevcRecord(units: Uint8Array[][], start: Uint8Array): Uint8Array {
  const [, sps = []] = units;
  const levels = sps.map((unit) => withoutEmulation(unit)[PROFILE.start + PROFILE.bytes - 1] ?? 0);
  return concatBytes([
    start.with(LEVEL_AT, Math.max(start[LEVEL_AT] ?? 0, ...levels)),
    Uint8Array.of(units.length),
    ...UNITS.hevc.sets.flatMap((type, kind) => {
      const list = units[kind] ?? [];
      return [Uint8Array.of(0x80 | type, list.length >> 8, list.length & 0xff), ...list.flatMap(withSize)];
    }),
  ]);
}

/** Returns an access unit with sizes in place of start codes, without the parameter sets that `sets` already has. */
export function toSizedUnit(unit: Uint8Array, { codec, units }: StreamSets): Uint8Array {
  const { typeOf, delimiter } = UNITS[codec];
  const all = units.flat();
  const own = [...nalUnits(unit, null)].filter(
    (nal) =>
      nal.length > 0 && typeOf(nal[0] ?? 0) !== delimiter && !all.some((each) => equalBytes(each, nal)),
  );
  return joinUnits(own);
}

function joinUnits(units: readonly Uint8Array[]): Uint8Array {
  return concatBytes(
    units.flatMap((nal) => {
      const size = new Uint8Array(LENGTH_BYTES);
      viewOf(size).setUint32(0, nal.length);
      return [size, nal];
    }),
  );
}

/** Returns whether parameter sets are the same, so that either decodes both streams. */
export function isSameSets(one: StreamSets, other: StreamSets): boolean {
  const [own, others] = [one.units.flat(), other.units.flat()];
  return own.length === others.length && own.every((unit, at) => equalBytes(unit, others[at] ?? unit));
}

function distinct(units: readonly Uint8Array[]): Uint8Array[] {
  return units.filter((unit, index) => units.findIndex((each) => equalBytes(each, unit)) === index);
}

const MAX_SET = 31;

/**
 * Plans parameter sets for encoded pieces of H.264 whose id the source does not use; null if no id is free, or if no encoder can
 * write the profile and level of the source.
 */
export function planSets({ units: [sps = [], pps = []] }: StreamSets): ParameterSets | null {
  const idAfter = (bytes: number) => (unit: Uint8Array) =>
    createBits(withoutEmulation(unit.subarray(bytes, bytes + 16))).unsigned();
  const used = [...sps.map(idAfter(4)), ...pps.map(idAfter(1))];
  const id = Array.from({ length: MAX_SET }, (_, index) => index + 1).find((each) => !used.includes(each));
  const [, idc = 0] = sps[0] ?? [];
  const level = Math.max(...sps.map((unit) => unit[3] ?? 0));
  const profile = Object.entries(PROFILES).find(([each]) => Number(each) === idc)?.[1];
  // Encoders write the profile of 10 bits only for pictures of that depth.
  const depth = idc === HIGH_10 ? 10 : 8;
  const isAlike =
    sps.every((unit) => unit[1] === idc && readSps(unit)?.bit_depth === depth) &&
    level >= MIN_LEVEL &&
    level <= MAX_LEVEL;
  return id && profile && isAlike ? { id, profile, level: (level / 10).toFixed(1) } : null;
}

// Ten times the level: 1 to 6.2 (ITU-T H.264, A.3.4).
const [MIN_LEVEL, MAX_LEVEL] = [10, 62];

/** Ids for the parameter sets of encoded pieces of H.265. Encoders write 0 and offer no choice, so the stitcher replaces them. */
export interface HevcIds {
  /** The id of the video and of the sequence parameter set. */
  sequence: number;
  picture: number;
}

// An id whose code is 8 bits longer than that of 0 leaves all later bytes as they are. Only 15, the highest id, has such a code.
const SEQUENCE_ID = 15;
const LONGER_CODE = 9;
// Codes with a 1 among their last two bits, so that no byte becomes 0, which might need an escape.
const PICTURE_IDS = [16, 17, 18, 20, 21, 22, 24, 25, 26, 28, 29, 30];

/** Chooses ids that the source does not use for the parameter sets of encoded pieces of H.265; null if none is free. */
export function chooseIds({ units: [vps = [], sps = [], pps = []] }: StreamSets): HevcIds | null {
  const isTaken =
    vps.some((unit) => (unit[2] ?? 0) >> 4 === SEQUENCE_ID) ||
    sps.some((unit) => {
      const bytes = withoutEmulation(unit);
      return createBits(bytes.subarray(afterProfile(bytes))).unsigned() === SEQUENCE_ID;
    });
  const used = pps.map((unit) => createBits(withoutEmulation(unit.subarray(2, 8))).unsigned());
  const picture = PICTURE_IDS.find((id) => !used.includes(id));
  return isTaken || picture === undefined ? null : { sequence: SEQUENCE_ID, picture };
}

/** Returns the parameter sets of an encoded piece of H.265 with other ids; null unless their ids are 0. */
export function renumberSets(sets: StreamSets, ids: HevcIds): StreamSets | null {
  const [vps = [], sps = [], pps = []] = sets.units;
  const units = [
    vps.map((unit) => unit.with(2, (ids.sequence << 4) | ((unit[2] ?? 0) & 0x0f))),
    sps.map((unit) => {
      const bytes = withoutEmulation(unit);
      bytes[2] = (ids.sequence << 4) | ((bytes[2] ?? 0) & 0x0f);
      return withEmulation(replaceZeros(bytes, { at: afterProfile(bytes), ids: [ids.sequence] }));
    }),
    pps.map((unit) =>
      withEmulation(replaceZeros(withoutEmulation(unit), { at: 2, ids: [ids.picture, ids.sequence] })),
    ),
  ];
  const isWhole = units.every((list) => list.every((unit) => unit.length > 0));
  return isWhole ? { ...sets, units } : null;
}

/** Returns an access unit of an encoded piece of H.265 whose pictures refer to other ids; null unless they refer to 0. */
export function renumberUnit(unit: Uint8Array, record: Uint8Array, { picture }: HevcIds): Uint8Array | null {
  const units = [...nalUnits(unit, record, LENGTH_AT.hevc)].flatMap((nal) => {
    const type = UNITS.hevc.typeOf(nal[0] ?? 0);
    if (UNITS.hevc.sets.some((each) => each === type)) return [];
    // 7.3.6.1: one flag precedes the id of the picture parameter set; in pictures at which decoding can start, two do.
    const skip = isEntry(type) ? 2 : 1;
    return [type > LAST_SLICE ? nal : replaceZeros(nal, { at: 2, skip, ids: [picture] })];
  });
  return units.every((nal) => nal.length > 0) ? joinUnits(units) : null;
}

const LAST_SLICE = 31;
const isEntry = (type: number) => type >= 16 && type <= 23;

// Pictures at which decoding can start: after a CRA, later packets may hold pictures that precede it in time and refer to earlier
// ones; a BLA_N_LP has no such pictures.
const [CRA, BLA_N_LP] = [21, 18];

/** Returns whether an access unit of H.265 is a CRA picture; {@link breakLinks} makes it reset the decoder. */
export function isCra(unit: Uint8Array, description: Uint8Array | null): boolean {
  return [...nalUnits(unit, description, LENGTH_AT.hevc)].some(
    (nal) => UNITS.hevc.typeOf(nal[0] ?? 0) === CRA,
  );
}

/**
 * Returns an access unit of H.265 whose CRA picture has the type BLA, so that a decoder discards all earlier pictures, as it must where
 * the packets before it in the source are left out. Returns any other unit unchanged.
 */
export function breakLinks(unit: Uint8Array, description: Uint8Array | null): Uint8Array {
  const bytes = unit.slice();
  for (const nal of nalUnits(bytes, description, LENGTH_AT.hevc)) {
    const first = nal[0] ?? 0;
    if (UNITS.hevc.typeOf(first) === CRA) nal[0] = (first & 0x81) | (BLA_N_LP << 1);
  }
  return bytes;
}

interface ZeroIds {
  /** Position of the byte with the ids. */
  at: number;
  /** Bits in it before the first id. */
  skip?: number;
  /** The new ids, one after the other. */
  ids: readonly number[];
}

/** Replaces ids of 0, whose code is a single 1, with ids whose code has 9 bits; returns no bytes if the old ids are not 0. */
function replaceZeros(bytes: Uint8Array, { at, skip = 0, ids }: ZeroIds): Uint8Array {
  const byte = bytes[at] ?? 0;
  const rest = 8 - skip - ids.length;
  const ones = 2 ** ids.length - 1;
  if (((byte >> rest) & ones) !== ones) return new Uint8Array();
  const value = ids.reduce((sum, id) => sum * 2 ** LONGER_CODE + id + 1, byte >> (8 - skip));
  const whole = value * 2 ** rest + (byte & (2 ** rest - 1));
  const written = Array.from(
    { length: 1 + ids.length },
    (_, index) => (whole >> (8 * (ids.length - index))) & 0xff,
  );
  return concatBytes([bytes.subarray(0, at), Uint8Array.from(written), bytes.subarray(at + 1)]);
}

/** Inserts the emulation prevention bytes of a NAL unit (7.4.1). */
function withEmulation(bytes: Uint8Array): Uint8Array {
  const written: number[] = [];
  let zeros = 0;
  for (const byte of bytes) {
    if (zeros >= 2 && byte <= 3) {
      written.push(3);
      zeros = 0;
    }
    written.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Uint8Array.from(written);
}

// Bytes before the boxes of a sample description, and of a visual sample entry (ISO/IEC 14496-12, 8.5.2 and 12.1.3).
const DESCRIPTION = 8;
const VISUAL_ENTRY = 78;

/** Returns the codec string (RFC 6381) of an init segment with pictures in H.265 or AV1; null for any other. */
export function readCodecString(init: Uint8Array): string | null {
  const view = viewOf(init);
  const whole = { kind: "", start: 0, end: init.length };
  const stsd = findBox(view, whole, "moov", "trak", "mdia", "minf", "stbl", "stsd");
  const [entry] = stsd ? listBoxes(view, stsd.start + DESCRIPTION, stsd.end) : [];
  if (!entry) return null;
  const config = listBoxes(view, entry.start + VISUAL_ENTRY, entry.end).find(
    ({ kind }) => kind === "hvcC" || kind === "av1C",
  );
  const record = config && init.subarray(config.start, config.end);
  if (!record) return null;
  return config.kind === "hvcC" ? hevcString(entry.kind, record) : av1String(record);
}

// ISO/IEC 14496-15, annex E.3: profile, compatibility flags from the lowest bit, tier and level, and constraints without trailing zeros.
function hevcString(kind: string, record: Uint8Array): string {
  const view = viewOf(record);
  const profile = view.getUint8(1);
  const space = ["", "A", "B", "C"][profile >> 6];
  const flags = view.getUint32(2).toString(2).padStart(32, "0");
  const compatible = Number.parseInt([...flags].reverse().join(""), 2)
    .toString(16)
    .toUpperCase();
  const tier = (profile & 0x20) === 0 ? "L" : "H";
  const constraints = [...record.subarray(6, 12)];
  const used = constraints.slice(0, constraints.findLastIndex((byte) => byte !== 0) + 1);
  const parts = used.map((byte) => byte.toString(16).toUpperCase());
  return [kind, `${space}${profile & 0x1f}`, compatible, `${tier}${view.getUint8(12)}`, ...parts].join(".");
}

// AV1 Codec ISO Media File Format Binding, section 5: profile, level and tier, and depth.
function av1String(record: Uint8Array): string {
  const [, levels = 0, flags = 0] = record;
  const level = String(levels & 0x1f).padStart(2, "0");
  const tier = flags & 0x80 ? "H" : "M";
  const depth = flags & 0x40 ? (flags & 0x20 ? 12 : 10) : 8;
  return `av01.${levels >> 5}.${level}${tier}.${String(depth).padStart(2, "0")}`;
}
