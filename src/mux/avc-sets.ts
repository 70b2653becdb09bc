import { type ParameterSets, PROFILES } from "../media/features/smart.ts";
import { createBits, nalUnits, withoutEmulation } from "../probe/codec-headers.ts";
import { concatBytes, equalBytes, viewOf } from "../util/bytes.ts";

/** The parameter sets of an H.264 stream, each a whole NAL unit. */
export interface AvcSets {
  sps: Uint8Array[];
  pps: Uint8Array[];
  /** The end of the configuration record, which states the chroma format and depths of high profiles. */
  rest: Uint8Array;
}

const TYPE = { sps: 7, pps: 8, delimiter: 9 } as const;
const typeOf = (nal: Uint8Array) => (nal[0] ?? 0) & 0x1f;
// 4:2:0 in 8 bits, without extensions.
const PLAIN_REST = Uint8Array.of(0xfd, 0xf8, 0xf8, 0);
const LENGTH_BYTES = 4;

/**
 * Reads the parameter sets of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1); null if it is damaged, or does not
 * state the size of a NAL unit in four bytes.
 */
export function readAvcSets(record: Uint8Array): AvcSets | null {
  if (record[0] !== 1 || ((record[4] ?? 0) & 3) + 1 !== LENGTH_BYTES) return null;
  const view = viewOf(record);
  let at = 5;
  const take = (mask: number) => {
    const units: Uint8Array[] = [];
    for (let remaining = (record[at++] ?? 0) & mask; remaining > 0 && at + 2 <= record.length; remaining--) {
      const end = at + 2 + view.getUint16(at);
      units.push(record.slice(at + 2, end));
      at = end;
    }
    return units;
  };
  const [sps, pps] = [take(0x1f), take(0xff)];
  const isWhole = at <= record.length && sps.length > 0 && pps.length > 0;
  return isWhole ? { sps, pps, rest: record.slice(at) } : null;
}

/** Reads the parameter sets of an access unit with start codes; null when it has none. */
export function readInBandSets(unit: Uint8Array): AvcSets | null {
  const units = [...nalUnits(unit, null)].map((nal) => nal.slice());
  const [sps, pps] = [TYPE.sps, TYPE.pps].map((type) => units.filter((nal) => typeOf(nal) === type));
  if (!sps?.length || !pps?.length) return null;
  return { sps, pps, rest: HIGH.has(sps[0]?.[1] ?? 0) ? PLAIN_REST : new Uint8Array() };
}

// Profiles whose record has an end (5.3.3.1.2).
const HIGH: ReadonlySet<number> = new Set([100, 110, 122, 144]);

/** Writes the configuration record of a stream that switches between several parameter sets. */
export function writeAvcRecord(all: readonly AvcSets[]): Uint8Array {
  const [first] = all;
  const [sps, pps] = [distinct(all.flatMap((each) => each.sps)), distinct(all.flatMap((each) => each.pps))];
  const lead = first?.sps[0] ?? new Uint8Array(4);
  const level = Math.max(...sps.map((unit) => unit[3] ?? 0));
  const sized = (unit: Uint8Array) => [Uint8Array.of(unit.length >> 8, unit.length & 0xff), unit];
  return concatBytes([
    Uint8Array.of(1, lead[1] ?? 0, lead[2] ?? 0, level, 0xff, 0xe0 | sps.length),
    ...sps.flatMap(sized),
    Uint8Array.of(pps.length),
    ...pps.flatMap(sized),
    first?.rest ?? new Uint8Array(),
  ]);
}

/** Returns the ids of parameter sets. */
function idsOf({ sps, pps }: AvcSets): { sps: number[]; pps: number[] } {
  const idAfter = (bytes: number) => (unit: Uint8Array) =>
    createBits(withoutEmulation(unit.subarray(bytes, bytes + 16))).unsigned();
  return { sps: sps.map(idAfter(4)), pps: pps.map(idAfter(1)) };
}

/** Returns an access unit with sizes in place of start codes, without the parameter sets that `sets` already has. */
export function toSizedUnit(unit: Uint8Array, sets: AvcSets): Uint8Array {
  const all = [...sets.sps, ...sets.pps];
  const units = [...nalUnits(unit, null)].filter((nal) => {
    const type = typeOf(nal);
    return nal.length > 0 && type !== TYPE.delimiter && !all.some((each) => equalBytes(each, nal));
  });
  return concatBytes(
    units.flatMap((nal) => {
      const size = new Uint8Array(LENGTH_BYTES);
      viewOf(size).setUint32(0, nal.length);
      return [size, nal];
    }),
  );
}

/** Returns whether streams with these parameter sets can be decoded with either. */
export function isSameSets(one: AvcSets, other: AvcSets): boolean {
  const [own, others] = [
    [...one.sps, ...one.pps],
    [...other.sps, ...other.pps],
  ];
  return own.length === others.length && own.every((unit, at) => equalBytes(unit, others[at] ?? unit));
}

function distinct(units: readonly Uint8Array[]): Uint8Array[] {
  return units.filter((unit, index) => units.findIndex((each) => equalBytes(each, unit)) === index);
}

const MAX_SET = 31;

/** Plans parameter sets for encoded pieces that do not collide with those of the source; null if no encoder can write them. */
export function planSets(sets: AvcSets): ParameterSets | null {
  const used = idsOf(sets);
  const id = Array.from({ length: MAX_SET }, (_, index) => index + 1).find(
    (each) => !used.sps.includes(each) && !used.pps.includes(each),
  );
  const [, idc = 0] = sets.sps[0] ?? [];
  const level = Math.max(...sets.sps.map((unit) => unit[3] ?? 0));
  const profile = Object.entries(PROFILES).find(([each]) => Number(each) === idc)?.[1];
  const isAlike = sets.sps.every((unit) => unit[1] === idc) && level >= MIN_LEVEL && level <= MAX_LEVEL;
  return id && profile && isAlike ? { id, profile, level: (level / 10).toFixed(1) } : null;
}

// Ten times the level: 1 to 6.2 (ITU-T H.264, A.3.4).
const [MIN_LEVEL, MAX_LEVEL] = [10, 62];
