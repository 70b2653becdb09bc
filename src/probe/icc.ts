import {
  changesNothing,
  D50,
  fromColorants,
  fromGray,
  fromTable,
  lightOf,
  lightOfXyz,
  MAX_PART,
  powerCurve,
  type Shaper,
  srgbOf,
  type Xyz,
} from "../media/color-conversion.ts";
import type { ColorProfile, ToneCurve, ToSrgb } from "../media/source-facts.ts";
import { latinText, readOr, viewOf } from "../util/bytes.ts";

/** An ICC profile, as far as pictures need it. */
export interface IccProfile extends ColorProfile {
  /** The colors that it describes, such as `RGB`, `GRAY` or `CMYK`. */
  space: string;
}

/** Reads an ICC profile (ICC.1:2022); null for a damaged one, which viewers ignore. */
export function readIcc(bytes: Uint8Array): IccProfile | null {
  return readOr(null, () => readProfile(viewOf(bytes)));
}

/** Returns a profile's red and green in XYZ under D50; null when it states none. */
export function readColorants(bytes: Uint8Array): readonly [red: Xyz, green: Xyz] | null {
  return readOr(null, () => {
    const view = viewOf(bytes);
    const [red, green] = colorantsOf(view, readTags(view));
    return red && green ? ([red, green] as const) : null;
  });
}

/** Returns whether a profile equals sRGB, which viewers assume without one. */
export function isSrgb({ to_srgb }: ColorProfile): boolean {
  return to_srgb !== undefined && changesNothing(to_srgb);
}

const HEADER = 128;

function readProfile(view: DataView): IccProfile | null {
  if (latinText(view, 36, 4) !== "acsp") return null;
  const tags = readTags(view);
  const space = latinText(view, 16, 4).trim();
  const name = readName(view, tags);
  const profile = { space, ...(name !== "" && { name }) };
  // The perceptual lookup table takes precedence over a matrix, and a matrix over the tables of other intents (ICC.1:2022, 8.10.2).
  const perceptual = tags.get("A2B0");
  const matrix = perceptual ? null : readShaper(view, tags, space);
  const table = perceptual ?? (matrix ? undefined : (tags.get("A2B1") ?? tags.get("A2B2")));
  if (space === "RGB" && table) {
    const connection = latinText(view, 20, 4).trim();
    if (connection !== "Lab" && connection !== "XYZ") return null;
    const to_srgb = readTable(view, table.start, connection, measureCurve);
    return to_srgb ? { ...profile, to_srgb } : profile;
  }
  if ((space !== "RGB" && space !== "GRAY") || table) return profile;
  return matrix && { ...profile, to_srgb: matrix };
}

function readShaper(view: DataView, tags: Tags, space: string): ToSrgb | null {
  if (space === "RGB") return readMatrix(view, tags);
  return space === "GRAY" ? readGray(view, tags) : null;
}

type Tags = ReadonlyMap<string, { start: number; size: number }>;

const MAX_TAGS = 200;

function readTags(view: DataView): Tags {
  const count = Math.min(view.getUint32(HEADER), MAX_TAGS);
  const tags = new Map<string, { start: number; size: number }>();
  for (let index = 0; index < count; index++) {
    const at = HEADER + 4 + 12 * index;
    tags.set(latinText(view, at, 4), { start: view.getUint32(at + 4), size: view.getUint32(at + 8) });
  }
  return tags;
}

function readMatrix(view: DataView, tags: Tags): ToSrgb | null {
  const curves = ["rTRC", "gTRC", "bTRC"].map((name) => readCurve(view, tags.get(name)?.start));
  const [red, green, blue] = colorantsOf(view, tags);
  if (!red || !green || !blue || curves.includes(null)) return null;
  return fromColorants(curves as Shaper["curves"], red, green, blue);
}

function colorantsOf(view: DataView, tags: Tags): (Xyz | null)[] {
  return ["rXYZ", "gXYZ", "bXYZ"].map((name) => readXyz(view, tags.get(name)?.start));
}

function readGray(view: DataView, tags: Tags): ToSrgb | null {
  const curve = readCurve(view, tags.get("kTRC")?.start);
  if (!curve) return null;
  const isLab = latinText(view, 20, 3) === "Lab";
  return fromGray(isLab ? throughLightness(curve) : curve);
}

// CIE 15: lightness is 116 times the cube root of light, minus 16, and linear near black.
function throughLightness(curve: ToneCurve): ToneCurve {
  return simplify(Array.from({ length: 1024 }, (_, at) => luminance(100 * lightOf(curve, at / 1023))));
}

function luminance(lightness: number): number {
  return lightness > 8 ? ((lightness + 16) / 116) ** 3 : lightness / 903.3;
}

function readXyz(view: DataView, start: number | undefined): Xyz | null {
  if (start === undefined || latinText(view, start, 4) !== "XYZ ") return null;
  return [8, 12, 16].map((at) => view.getInt32(start + at) / 65_536) as unknown as Xyz;
}

const MAX_ENTRIES = 65_536;

function readCurve(view: DataView, start: number | undefined): ToneCurve | null {
  if (start === undefined) return null;
  const type = latinText(view, start, 4);
  if (type === "para") return readFunction(view, start);
  if (type !== "curv") return null;
  const count = view.getUint32(start + 8);
  if (count === 0) return powerCurve(1);
  if (count === 1) return powerCurve(view.getUint16(start + 12) / 256);
  if (count > MAX_ENTRIES) return null;
  return simplify(Array.from({ length: count }, (_, at) => view.getUint16(start + 12 + 2 * at) / 65_535));
}

function measureCurve(view: DataView, start: number): { curve: ToneCurve; size: number } | null {
  const curve = readCurve(view, start);
  if (!curve) return null;
  const isFunction = latinText(view, start, 4) === "para";
  const size = isFunction
    ? 12 + 4 * (PARAMETERS[view.getUint16(start + 8)] ?? 0)
    : 12 + 2 * view.getUint32(start + 8);
  return { curve, size };
}

// ICC.1:2022, 10.18, table 68.
const PARAMETERS = [1, 3, 4, 5, 7];

function readFunction(view: DataView, start: number): ToneCurve | null {
  const type = view.getUint16(start + 8);
  const count = PARAMETERS[type];
  if (count === undefined) return null;
  const [g = 1, a = 1, b = 0, c = 0, d = 0, e = 0, f = 0] = Array.from(
    { length: count },
    (_, at) => view.getInt32(start + 12 + 4 * at) / 65_536,
  );
  if ([g, a, b, c, d, e, f].some((value) => Math.abs(value) > MAX_PART)) return null;
  const own = { g, a, b, c, d, e, f };
  if (type === 1 || type === 2) {
    if (a === 0) return null;
    // A power from -b/a; constant below.
    const offset = type === 2 ? c : 0;
    return { ...own, c: 0, d: -b / a, e: offset, f: offset };
  }
  return own;
}

const MAX_POINTS = 64;
const TOLERANCES = [0.0004, 0.001, 0.0025, 0.006, 0.015];

// Ramer–Douglas–Peucker, with distances as the eye perceives them.
function simplify(values: readonly number[]): ToneCurve {
  const last = values.length - 1;
  for (const tolerance of TOLERANCES) {
    const corners = new Set([0, last]);
    const spans: [number, number][] = [[0, last]];
    for (let span = spans.pop(); span && corners.size <= MAX_POINTS; span = spans.pop()) {
      const at = farthest(values, span, tolerance);
      if (at === null) continue;
      corners.add(at);
      spans.push([span[0], at], [at, span[1]]);
    }
    if (corners.size <= MAX_POINTS) return toPoints(values, [...corners]);
  }
  const even = Array.from({ length: MAX_POINTS }, (_, at) => Math.round((at * last) / (MAX_POINTS - 1)));
  return toPoints(values, [...new Set(even)]);
}

function toPoints(values: readonly number[], places: readonly number[]): ToneCurve {
  const last = values.length - 1;
  const points = places
    .toSorted((a, b) => a - b)
    .map((at): [number, number] => [Number((at / last).toFixed(6)), Number((values[at] ?? 0).toFixed(6))]);
  return { points };
}

function farthest(
  values: readonly number[],
  [start, end]: readonly [number, number],
  tolerance: number,
): number | null {
  const [from = 0, to = 0] = [values[start], values[end]];
  let [worst, place]: [number, number | null] = [tolerance, null];
  for (let at = start + 1; at < end; at++) {
    const straight = from + ((to - from) * (at - start)) / (end - start);
    const difference = Math.abs(srgbOf(values[at] ?? 0) - srgbOf(straight));
    if (difference > worst) [worst, place] = [difference, at];
  }
  return place;
}

const MAX_NAME = 100;

function readName(view: DataView, tags: Tags): string {
  const start = tags.get("desc")?.start;
  if (start === undefined) return "";
  return readOr("", () => readText(view, start))
    .replace(/[\p{C}]/gu, "")
    .trim()
    .slice(0, MAX_NAME);
}

// ICC.1:2001-04, 6.5.17, and ICC.1:2022, 10.15.
function readText(view: DataView, start: number): string {
  const type = latinText(view, start, 4);
  if (type === "desc") return latinText(view, start + 12, Math.min(MAX_NAME, view.getUint32(start + 8)));
  if (type !== "mluc" || view.getUint32(start + 8) === 0) return "";
  const [length, offset] = [view.getUint32(start + 20), view.getUint32(start + 24)];
  const letters = Array.from({ length: Math.min(MAX_NAME, length >> 1) }, (_, at) =>
    view.getUint16(start + offset + 2 * at),
  );
  return String.fromCharCode(...letters);
}

/** The color space of a lookup table's output, under D50. */
export type Connection = "Lab" | "XYZ";

/** Reads a curve of a profile and its size in bytes; null for an unknown type. */
export type ReadCurve = (view: DataView, start: number) => { curve: ToneCurve; size: number } | null;

type Step = (values: readonly number[]) => number[];

/**
 * Reads a tag that converts three device colors by a lookup table (ICC.1:2022, 10.10 to 10.12); null for another number of colors or an
 * unknown type. Throws a RangeError for a truncated tag.
 */
function readTable(
  view: DataView,
  start: number,
  connection: Connection,
  readCurve: ReadCurve,
): ToSrgb | null {
  const type = latinText(view, start, 4);
  if (view.getUint8(start + 8) !== 3 || view.getUint8(start + 9) !== 3) return null;
  const steps =
    type === "mAB "
      ? readStages(view, start, readCurve)
      : type === "mft1" || type === "mft2"
        ? readLut(view, start)
        : null;
  if (!steps) return null;
  const legacy = type === "mft2";
  return fromTable((color) => {
    const [x = 0, y = 0, z = 0] = steps.reduce<readonly number[]>((values, step) => step(values), color);
    if (connection === "XYZ") return lightOfXyz([x * XYZ_RANGE, y * XYZ_RANGE, z * XYZ_RANGE]);
    const scale = legacy ? LEGACY_LAB : 1;
    return lightOfXyz(xyzOfLab(100 * x * scale, 255 * y * scale - 128, 255 * z * scale - 128));
  });
}

// ICC.1:2022, 6.3.4.2: X, Y and Z range to almost 2; 16-bit tables store a lightness of 100 as 65,280.
const XYZ_RANGE = 1 + 32_767 / 32_768;
const LEGACY_LAB = 65_535 / 65_280;

function xyzOfLab(lightness: number, a: number, b: number): Xyz {
  const y = (lightness + 16) / 116;
  const parts = [y + a / 500, y, y - b / 200];
  return parts.map((part, at) => {
    const share = part > 6 / 29 ? part ** 3 : (part - 4 / 29) * 3 * (6 / 29) ** 2;
    return share * (D50[at] ?? 1);
  }) as unknown as Xyz;
}

// Input tables, a grid and output tables; the matrix applies only to XYZ.
function readLut(view: DataView, start: number): Step[] {
  const bytes = latinText(view, start, 4) === "mft1" ? 1 : 2;
  const side = view.getUint8(start + 10);
  const [inputs, outputs] =
    bytes === 1 ? [256, 256] : [view.getUint16(start + 48), view.getUint16(start + 50)];
  const first = start + (bytes === 1 ? 48 : 52);
  const grid = first + 3 * inputs * bytes;
  const last = grid + side ** 3 * 3 * bytes;
  const tables = (from: number, count: number): Step => {
    const read = (part: number, at: number) => readShare(view, from + (part * count + at) * bytes, bytes);
    return (values) => values.map((value, part) => onLine(count, value, (at) => read(part, at)));
  };
  return [tables(first, inputs), gridStep(view, grid, [side, side, side], bytes), tables(last, outputs)];
}

function readStages(view: DataView, start: number, readCurve: ReadCurve): Step[] | null {
  const [b, matrix, m, grid, a] = [12, 16, 20, 24, 28].map((at) => view.getUint32(start + at)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const steps: (Step | null)[] = [];
  if (a > 0) steps.push(curvesStep(view, start + a, readCurve));
  if (grid > 0) {
    const sides = [0, 1, 2].map((at) => view.getUint8(start + grid + at));
    steps.push(gridStep(view, start + grid + 20, sides, view.getUint8(start + grid + 16)));
  }
  if (m > 0) steps.push(curvesStep(view, start + m, readCurve));
  if (matrix > 0) steps.push(matrixStep(view, start + matrix));
  if (b > 0) steps.push(curvesStep(view, start + b, readCurve));
  return steps.includes(null) ? null : (steps as Step[]);
}

function curvesStep(view: DataView, start: number, readCurve: ReadCurve): Step | null {
  const curves: ToneCurve[] = [];
  let at = start;
  while (curves.length < 3) {
    const entry = readCurve(view, at);
    if (!entry) return null;
    curves.push(entry.curve);
    at += Math.ceil(entry.size / 4) * 4;
  }
  return (values) => values.map((value, part) => lightOf(curves[part] as ToneCurve, value));
}

function matrixStep(view: DataView, start: number): Step {
  const parts = Array.from({ length: 12 }, (_, at) => view.getInt32(start + 4 * at) / 65_536);
  return (values) =>
    [0, 1, 2].map((row) =>
      values.reduce((sum, value, at) => sum + (parts[3 * row + at] ?? 0) * value, parts[9 + row] ?? 0),
    );
}

function readShare(view: DataView, at: number, bytes: number): number {
  return bytes === 1 ? view.getUint8(at) / 255 : view.getUint16(at) / 65_535;
}

function onLine(count: number, value: number, read: (at: number) => number): number {
  const place = Math.min(1, Math.max(0, value)) * (count - 1);
  const at = Math.min(count - 2, Math.floor(place));
  if (at < 0) return read(0);
  return read(at) + (place - at) * (read(at + 1) - read(at));
}

// The first component varies most slowly. Tetrahedral interpolation, as in color management systems.
function gridStep(view: DataView, start: number, sides: readonly number[], bytes: number): Step {
  const [, green = 0, blue = 0] = sides;
  const strides = [green * blue, blue, 1];
  return (values) => {
    const axes = sides.map((side, part) => {
      const place = Math.min(1, Math.max(0, values[part] ?? 0)) * (side - 1);
      const low = Math.max(0, Math.min(side - 2, Math.floor(place)));
      return { low, share: place - low, stride: strides[part] ?? 0 };
    });
    const read = (at: number) =>
      [0, 1, 2].map((part) => readShare(view, start + (3 * at + part) * bytes, bytes));
    let at = axes.reduce((sum, { low, stride }) => sum + low * stride, 0);
    let own = read(at);
    const result = [...own];
    for (const { share, stride } of axes.toSorted((one, other) => other.share - one.share)) {
      if (share === 0) break;
      at += stride;
      const next = read(at);
      for (let part = 0; part < 3; part++)
        result[part] = (result[part] ?? 0) + share * ((next[part] ?? 0) - (own[part] ?? 0));
      own = next;
    }
    return result;
  };
}
