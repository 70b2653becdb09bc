import { D50, fromTable, lightOf, lightOfXyz, type Xyz } from "../media/color-conversion.ts";
import type { ToneCurve, ToSrgb } from "../media/source-facts.ts";
import { latinText } from "../util/bytes.ts";

/** The color space of a lookup table's output, under D50. */
export type Connection = "Lab" | "XYZ";

/** Reads a curve of a profile and its size in bytes; null for an unknown type. */
export type ReadCurve = (view: DataView, start: number) => { curve: ToneCurve; size: number } | null;

type Step = (values: readonly number[]) => number[];

/**
 * Reads a tag that converts three device colors by a lookup table (ICC.1:2022, 10.10 to 10.12); null for another number of colors or an
 * unknown type. Throws a RangeError for a truncated one.
 */
export function readTable(
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
