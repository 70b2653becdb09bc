import {
  type AudioFormat,
  type EncodeKind,
  FITS,
  type Fit,
  FORMATS,
  type ImageFormat,
  POSITIONS,
  type Position,
  QUALITIES,
  type Quality,
  type VideoCodec,
  type VideoFormat,
} from "../../src/media/formats.ts";
import { coverPairs, type Dimensions, type Forbids, type Row, thinRows, wholeProduct } from "./pairs.ts";

/** The source of every cell with video: 160x96, 40 frames at 25 fps, with sound. */
export const SHOWN = { width: 160, height: 96, fps: 25, seconds: 1.6 } as const;
/** Seconds of the source for cells with a bitrate, which an encoder needs some time to reach. */
export const BUSY_SECONDS = 3.2;
/** Color of the bars, far from all colors of the source. */
export const BACKGROUND = "#ff60e0";
/** Requested bits per second. */
export const BITRATE = { video: 300_000, audio: 96_000 } as const;
/** Requested span in seconds: whole frames of the source. */
export const SPAN = { start: 0.4, end: 1.2 } as const;

const ENGINES = ["light", "native"] as const;
/** The light encoder, or native ffmpeg. */
export type Engine = (typeof ENGINES)[number];

// No pair of sides keeps the source's shape, so that every fit gives a different picture.
const FRAME = {
  width: [null, 120, "50%"],
  height: [null, 120, "25%"],
  fit: [null, ...FITS],
  position: [null, ...POSITIONS],
  background: [null, BACKGROUND],
} as const;
const TIME = { start: [null, SPAN.start], end: [null, SPAN.end] } as const;
const RATE = [null, ...QUALITIES] as const;

const outputsOf = <K extends keyof typeof FORMATS>(kind: K) =>
  Object.keys(FORMATS[kind]) as (keyof (typeof FORMATS)[K] & string)[];
const VIDEO_OUTPUTS = outputsOf("video").flatMap((format) =>
  FORMATS.video[format].codecs.map((codec) => `${format} ${codec}` as const),
);

/** The dimensions of every kind: outputs, engines, sources, and the values of every option, where null leaves it out. */
export const TABLES = {
  video: {
    output: VIDEO_OUTPUTS,
    engine: ENGINES,
    from: ["h264", "av1"],
    rate: [...RATE, BITRATE.video],
    ...FRAME,
    fps: [null, 1, 60],
    ...TIME,
  },
  audio: {
    output: outputsOf("audio"),
    engine: ENGINES,
    from: ["sound", "h264", "endless", "bulky"],
    rate: [...RATE, BITRATE.audio],
    ...TIME,
  },
  image: {
    output: outputsOf("image"),
    engine: ENGINES,
    from: ["png", "avif", "gif", "h264", "av1"],
    rate: RATE,
    ...FRAME,
    start: TIME.start,
  },
  adaptive_video: {
    // Other formats only list the same segments differently.
    output: ["hls"],
    engine: ENGINES,
    from: ["h264", "av1"],
    // The codec and the frame are those of a video, which has every value.
    rate: [null, "very_low", "very_high"],
    ...FRAME,
    width: [null, "50%"],
    height: [null, "25%"],
    fit: [null, "contain", "cover"],
    ...TIME,
  },
} as const satisfies Partial<Record<EncodeKind, Dimensions>>;

/** A kind that the matrix covers; the others have tests of their own. */
export type MatrixKind = keyof typeof TABLES;
/** The kinds that the matrix covers. */
export const MATRIX_KINDS = Object.keys(TABLES) as MatrixKind[];

/** The source of a cell. */
export type From = (typeof TABLES)[MatrixKind]["from"][number];

/** One cell of the matrix: a request, and the engine that must serve it. */
export interface Cell {
  name: string;
  kind: MatrixKind;
  engine: Engine;
  from: From;
  format: VideoFormat | AudioFormat | ImageFormat | "hls";
  codec: VideoCodec | null;
  rate: Quality | number | null;
  width: number | string | null;
  height: number | string | null;
  fit: Fit | null;
  position: Position | null;
  background: string | null;
  fps: number | null;
  start: number | null;
  end: number | null;
}

// The outputs of the light encoder, and the sources it refuses: unreadable codecs, or too much to hold in memory.
const LIGHT_OUTPUT = /^(?!.*(h265|av1|avif))/;
const HEAVY_SOURCE: ReadonlySet<unknown> = new Set(["av1", "avif", "bulky"] satisfies From[]);

type Any = Partial<Record<keyof Omit<Cell, "name" | "kind"> | "output", unknown>>;

/** Returns whether a row, complete or partial, is an invalid request or names an engine that would not be chosen. */
export const forbids = (row: Any): boolean => [badEngine, badFrame, badSpan].some((check) => check(row));

function badEngine({ engine, output, from }: Any): boolean {
  const heavy = HEAVY_SOURCE.has(from) || (typeof output === "string" && !LIGHT_OUTPUT.test(output));
  if (engine === "light") return heavy;
  return engine === "native" && output !== undefined && from !== undefined && !heavy;
}

// A fit and a background need a box; a position needs bars or a crop.
function badFrame({ width, height, fit, position, background }: Any): boolean {
  const loose = width === null || height === null;
  const isSet = (value: unknown) => value !== null && value !== undefined;
  if (loose && [fit, position, background].some(isSet)) return true;
  if (isSet(background) && (fit === "cover" || fit === "fill")) return true;
  return isSet(position) && (fit === "fill" || (fit === null && background === null));
}

function badSpan({ from, start, end, output }: Any): boolean {
  if (start !== null && start !== undefined && (from === "png" || from === "avif")) return true;
  // The packets of its ALAC are longer than the tolerance of an end.
  if (end !== null && end !== undefined && from === "endless") return true;
  // AVIF is written without the transparency and the animation of a GIF.
  return from === "gif" && output === "avif";
}

/**
 * Returns the facets of a row: its values, except a position, which has one facet per axis, as the axes are independent.
 * geometry.service.test.ts covers all nine positions with every fit.
 */
export function facetsOf(row: Row<Dimensions>): string[] {
  return Object.entries(row).flatMap(([name, value]) => {
    if (name !== "position" || value === null) return `${name}=${value}`;
    const [across = "middle"] = /left|right/.exec(String(value)) ?? [];
    const [down = "middle"] = /top|bottom/.exec(String(value)) ?? [];
    return [`across=${across}`, `down=${down}`];
  });
}

/** Returns cells of a kind that cover every pair of facets. */
export function pairCells(kind: MatrixKind): Cell[] {
  const table: Dimensions = TABLES[kind];
  const rows = coverPairs(table, forbids as Forbids<Dimensions>);
  return thinRows(rows, facetsOf).map((row) => toCell(kind, row));
}

/** Returns cells with only a bitrate for every video output and engine; other cells are too small or short to meet it. */
export function rateCells(): Cell[] {
  const none = { width: [null], height: [null], fit: [null], position: [null], background: [null] };
  const alone = { ...none, fps: [null], start: [null], end: [null], rate: [BITRATE.video] };
  const table: Dimensions = { ...TABLES.video, ...alone };
  const rows = [...wholeProduct(table, forbids as Forbids<Dimensions>)];
  // The source does not matter, so one for each output and engine is enough.
  const rowsByOutput = new Map(rows.map((row) => [`${row.output} ${row.engine}`, row]));
  return [...rowsByOutput.values()].map((row) => toCell("video", row));
}

/** Yields all cells of a kind. */
export function* allCells(kind: MatrixKind): Generator<Cell> {
  const table: Dimensions = TABLES[kind];
  for (const row of wholeProduct(table, forbids as Forbids<Dimensions>)) yield toCell(kind, row);
}

function toCell(kind: MatrixKind, row: Row<Dimensions>): Cell {
  const { output, ...rest } = row;
  const [format, codec = null] = String(output).split(" ");
  const none = { width: null, height: null, fit: null, position: null, background: null };
  const cell = { kind, ...none, fps: null, start: null, end: null, ...rest, format, codec };
  return { ...cell, name: nameOf(kind, row) } as Cell;
}

function nameOf(kind: MatrixKind, { output, engine, from, ...options }: Row<Dimensions>): string {
  const present = Object.entries(options).filter(([, value]) => value !== null);
  const wish = present.map(([name, value]) => `${name} ${value}`).join(", ");
  return `${kind} ${output} of ${from} on ${engine}${wish && `: ${wish}`}`;
}

/** Returns the options of a cell's request. */
export function optionsOf(cell: Cell): Record<string, unknown> {
  const { format, codec, rate, width, height, fit, position, background, fps, start, end } = cell;
  const requested = typeof rate === "number" ? { bitrate: rate } : { quality: rate };
  // Without options a suitable stream would be copied, which copy.service.test.ts covers.
  const quality = cell.kind === "video" && rate === null ? { quality: "medium" } : requested;
  const all = { format, codec, ...quality, width, height, fit, position, background, fps, start, end };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
