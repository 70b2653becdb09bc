import {
  changesNothing,
  fromColorants,
  fromGray,
  lightOf,
  MAX_PART,
  powerCurve,
  type Shaper,
  srgbOf,
  type Xyz,
} from "../media/color-conversion.ts";
import type { ColorProfile, ToneCurve, ToSrgb } from "../media/source-facts.ts";
import { latinText, readOr, viewOf } from "../util/bytes.ts";
import { readTable } from "./icc-table.ts";

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
