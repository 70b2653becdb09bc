import { toBase64, viewOf } from "../util/bytes.ts";
import type { ToneCurve, ToSrgb } from "./source-facts.ts";

/** A 3 × 3 matrix, row by row. */
export type Matrix = readonly number[];
/** Chromaticity of a color. */
export type Xy = readonly [x: number, y: number];
/** A color, as X, Y and Z or as red, green and blue. */
export type Xyz = readonly [x: number, y: number, z: number];

/** The chromaticities of the three primaries and of the white point. */
export interface Chromaticities {
  red: Xy;
  green: Xy;
  blue: Xy;
  white: Xy;
}

const D65: Xy = [0.3127, 0.329];
const SRGB: Chromaticities = { red: [0.64, 0.33], green: [0.3, 0.6], blue: [0.15, 0.06], white: D65 };

// Rec. ITU-T H.273, table 2, under ffmpeg's names.
const PRIMARIES: Readonly<Record<string, Chromaticities>> = {
  bt709: SRGB,
  bt470m: { red: [0.67, 0.33], green: [0.21, 0.71], blue: [0.14, 0.08], white: [0.31, 0.316] },
  bt2020: { red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046], white: D65 },
  smpte431: { red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: [0.314, 0.351] },
  smpte432: { red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: D65 },
};

/** The tone curve of sRGB (IEC 61966-2-1). */
export const SRGB_CURVE: ToneCurve = {
  g: 2.4,
  a: 1 / 1.055,
  b: 0.055 / 1.055,
  c: 1 / 12.92,
  d: 0.04045,
  e: 0,
  f: 0,
};

/** Returns a gamma curve. */
export function powerCurve(g: number): ToneCurve {
  return { g, a: 1, b: 0, c: 0, d: 0, e: 0, f: 0 };
}

/** Decodes a stored value to linear light; both are clipped to 0 to 1. */
export function lightOf(curve: ToneCurve, value: number): number {
  const stored = Math.min(1, Math.max(0, value));
  const light = "points" in curve ? onPoints(curve.points, stored) : onFunction(curve, stored);
  return Math.min(1, Math.max(0, light));
}

function onFunction({ g, a, b, c, d, e, f }: Exclude<ToneCurve, { points: unknown }>, x: number): number {
  return x >= d ? Math.max(0, a * x + b) ** g + e : c * x + f;
}

function onPoints(points: readonly (readonly number[])[], x: number): number {
  const at = Math.max(
    1,
    points.findIndex(([end = 1]) => end >= x),
  );
  const [x0 = 0, y0 = 0] = points[at - 1] ?? [];
  const [x1 = 1, y1 = 1] = points[at] ?? [];
  return y0 + ((x - x0) * (y1 - y0)) / (x1 - x0);
}

/** Encodes linear light as an sRGB value; both range from 0 to 1. */
export function srgbOf(light: number): number {
  const clipped = Math.min(1, Math.max(0, light));
  return clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
}

/** A conversion by curves and a matrix. */
export type Shaper = Exclude<ToSrgb, { table: string }>;

/** Grid points along each side of a conversion's lookup table. */
export const TABLE_SIDE = 16;

/** Maps a table's values to linear light. The range exceeds 0 to 1 so that interpolation does not clip. */
export const TABLE_RANGE = { from: -0.25, span: 1.5 } as const;

const MAX_SHARE = 65_535;

/** Builds a lookup table from a function that maps colors from 0 to 1 to linear sRGB, which may be below 0 or above 1. */
export function fromTable(convert: (color: Xyz) => Xyz): ToSrgb {
  const bytes = new Uint8Array(TABLE_SIDE ** 3 * 6);
  const view = viewOf(bytes);
  const { from, span } = TABLE_RANGE;
  for (let at = 0; at < bytes.length; at += 6) {
    for (const [part, light] of convert(gridColor(at / 6)).entries()) {
      const share = Math.min(1, Math.max(0, (light - from) / span));
      view.setUint16(at + 2 * part, Math.round(MAX_SHARE * share));
    }
  }
  return { table: toBase64(bytes) };
}

function lightsOf(table: string): Float64Array {
  const view = viewOf(Uint8Array.from(atob(table), (letter) => letter.charCodeAt(0)));
  const { from, span } = TABLE_RANGE;
  return Float64Array.from(
    { length: view.byteLength / 2 },
    (_, at) => from + (span * view.getUint16(2 * at)) / MAX_SHARE,
  );
}

function gridColor(at: number): Xyz {
  const part = (index: number) => (index % TABLE_SIDE) / (TABLE_SIDE - 1);
  return [part(at), part(Math.floor(at / TABLE_SIDE)), part(Math.floor(at / TABLE_SIDE ** 2))];
}

/** Converts XYZ under D50 to linear sRGB; out-of-gamut colors are below 0 or above 1. */
export function lightOfXyz(color: Xyz): Xyz {
  return apply(FROM_D50, color);
}

/** Converts a color to sRGB; both range from 0 to 1. */
export function toSrgb({ curves, matrix }: Shaper, color: Xyz): Xyz {
  const light = curves.map((curve, index) => lightOf(curve, color[index] ?? 0)) as unknown as Xyz;
  return apply(matrix, light).map(srgbOf) as unknown as Xyz;
}

/** The largest number of a conversion by curves and a matrix, as its schema limits it. */
export const MAX_PART = 1000;

/** Returns whether a conversion's numbers are in range; those of a damaged profile may not be. */
export function isInRange(conversion: ToSrgb): boolean {
  if ("table" in conversion) return true;
  const { curves, matrix } = conversion;
  const parts = curves.flatMap((curve) => ("points" in curve ? curve.points.flat() : Object.values(curve)));
  return [...parts, ...matrix].every((part) => Math.abs(part) <= MAX_PART);
}

const STORED_STEPS = 4095;

/** Converts RGBA pixels to sRGB in place. */
export function convertPixels(data: Uint8ClampedArray, conversion: ToSrgb): void {
  if ("table" in conversion) convertByTable(data, lightsOf(conversion.table));
  else convertByCurves(data, conversion);
}

// Trilinear interpolation.
function convertByTable(data: Uint8ClampedArray, table: Float64Array): void {
  const step = 255 / (TABLE_SIDE - 1);
  const strides = [1, TABLE_SIDE, TABLE_SIDE ** 2];
  for (let at = 0; at < data.length; at += 4) {
    let [red, green, blue] = [0, 0, 0];
    for (let corner = 0; corner < 8; corner++) {
      let [weight, place] = [1, 0];
      for (let part = 0; part < 3; part++) {
        const exact = (data[at + part] ?? 0) / step;
        const low = Math.min(TABLE_SIDE - 2, Math.floor(exact));
        const isHigh = (corner >> part) & 1;
        weight *= isHigh ? exact - low : 1 - exact + low;
        place += (low + isHigh) * (strides[part] ?? 0);
      }
      red += weight * (table[3 * place] ?? 0);
      green += weight * (table[3 * place + 1] ?? 0);
      blue += weight * (table[3 * place + 2] ?? 0);
    }
    data[at] = 255 * srgbOf(red);
    data[at + 1] = 255 * srgbOf(green);
    data[at + 2] = 255 * srgbOf(blue);
  }
}

function convertByCurves(data: Uint8ClampedArray, { curves, matrix }: Shaper): void {
  const light = curves.map((curve) =>
    Float64Array.from({ length: 256 }, (_, value) => lightOf(curve, value / 255)),
  );
  const stored = Uint8ClampedArray.from({ length: STORED_STEPS + 1 }, (_, at) => {
    return Math.round(255 * srgbOf((at / STORED_STEPS) ** 2));
  });
  const [red, green, blue] = light as [Float64Array, Float64Array, Float64Array];
  const value = (row: number, r: number, g: number, b: number) => {
    const sum = (matrix[row] ?? 0) * r + (matrix[row + 1] ?? 0) * g + (matrix[row + 2] ?? 0) * b;
    return stored[Math.round(Math.sqrt(Math.min(1, Math.max(0, sum))) * STORED_STEPS)] ?? 0;
  };
  for (let at = 0; at < data.length; at += 4) {
    const r = red[data[at] ?? 0] ?? 0;
    const g = green[data[at + 1] ?? 0] ?? 0;
    const b = blue[data[at + 2] ?? 0] ?? 0;
    data[at] = value(0, r, g, b);
    data[at + 1] = value(3, r, g, b);
    data[at + 2] = value(6, r, g, b);
  }
}

const STEPS = [0, 0.1, 0.25, 0.5, 0.75, 1];
const EQUAL = 1.5 / 255;

/** Returns whether a conversion changes colors by no more than 8-bit rounding. */
export function changesNothing(conversion: ToSrgb): boolean {
  if ("table" in conversion) return isIdentity(lightsOf(conversion.table));
  return STEPS.every((red) =>
    STEPS.every((green) =>
      STEPS.every((blue) => {
        const color: Xyz = [red, green, blue];
        return toSrgb(conversion, color).every((value, at) => Math.abs(value - (color[at] ?? 0)) <= EQUAL);
      }),
    ),
  );
}

function isIdentity(table: Float64Array): boolean {
  return table.every(
    (light, at) => Math.abs(srgbOf(light) - (gridColor(Math.floor(at / 3))[at % 3] ?? 0)) <= EQUAL,
  );
}

/** Returns the conversion to sRGB for a profile's curves and colorants in XYZ under D50 (ICC.1:2022, F.3). */
export function fromColorants(curves: Shaper["curves"], red: Xyz, green: Xyz, blue: Xyz): Shaper {
  const toXyz = [0, 1, 2].flatMap((row) => [red[row] ?? 0, green[row] ?? 0, blue[row] ?? 0]);
  return { curves, matrix: round(multiply(FROM_D50, toXyz)) };
}

/** Returns the conversion to sRGB for a curve and chromaticities. */
export function fromChromaticities(curve: ToneCurve, colors: Chromaticities): Shaper {
  const matrix = multiply(FROM_D50, toD50(colors));
  return { curves: [curve, curve, curve], matrix: round(matrix) };
}

/** Returns the conversion to sRGB for primaries by ffmpeg's name; null when they are unknown or need none. */
export function fromPrimaries(name: string | null | undefined, curve: ToneCurve = SRGB_CURVE): Shaper | null {
  const colors = PRIMARIES[name ?? ""];
  const conversion = colors && fromChromaticities(curve, colors);
  return conversion && !changesNothing(conversion) ? conversion : null;
}

const IDENTITY: Matrix = [1, 0, 0, 0, 1, 0, 0, 0, 1];

/** Returns the conversion to sRGB for gray pictures. */
export function fromGray(curve: ToneCurve): Shaper {
  return { curves: [curve, curve, curve], matrix: [...IDENTITY] };
}

function round(matrix: Matrix): number[] {
  return matrix.map((value) => Number(value.toFixed(6)));
}

/** The white point of ICC profiles (ICC.1:2022, 7.2.16). */
export const D50: Xyz = [0.9642, 1, 0.8249];

// ICC.1:2022, annex E: the linear Bradford model.
const BRADFORD: Matrix = [0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296];

function toD50({ red, green, blue, white }: Chromaticities): Matrix {
  const columns = [red, green, blue].map(xyzOf);
  const primaries = [0, 1, 2].flatMap((row) => columns.map((column) => column[row] ?? 0));
  const own = xyzOf(white);
  const scales = apply(invert(primaries), own);
  const toXyz = primaries.map((value, at) => value * (scales[at % 3] ?? 0));
  const [from, to] = [apply(BRADFORD, own), apply(BRADFORD, D50)];
  const gains = [0, 1, 2].flatMap((row) =>
    [0, 1, 2].map((at) => (row === at ? (to[at] ?? 0) / (from[at] || 1) : 0)),
  );
  return multiply(multiply(multiply(invert(BRADFORD), gains), BRADFORD), toXyz);
}

function xyzOf([x, y]: Xy): Xyz {
  return [x / y, 1, (1 - x - y) / y];
}

function apply(matrix: Matrix, vector: Xyz): Xyz {
  return [0, 3, 6].map((row) =>
    vector.reduce((sum, value, at) => sum + (matrix[row + at] ?? 0) * value, 0),
  ) as unknown as Xyz;
}

function multiply(a: Matrix, b: Matrix): number[] {
  return [0, 3, 6].flatMap((row) =>
    [0, 1, 2].map((column) =>
      [0, 1, 2].reduce((sum, at) => sum + (a[row + at] ?? 0) * (b[3 * at + column] ?? 0), 0),
    ),
  );
}

function invert(matrix: Matrix): number[] {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0] = matrix;
  const [x, y, z] = [e * i - f * h, f * g - d * i, d * h - e * g];
  const determinant = a * x + b * y + c * z;
  const adjugate = [
    x,
    c * h - b * i,
    b * f - c * e,
    y,
    a * i - c * g,
    c * d - a * f,
    z,
    b * g - a * h,
    a * e - b * d,
  ];
  return adjugate.map((value) => value / determinant);
}

const FROM_D50 = invert(toD50(SRGB));
