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
} from "../../src/core/formats.ts";
import { coverPairs, type Dimensions, type Forbids, type Row, thinRows, wholeProduct } from "./pairs.ts";

/** The source of every cell with pictures: shown as 160x96, 40 frames at 25 a second, with sound. */
export const SHOWN = { width: 160, height: 96, fps: 25, seconds: 1.6 } as const;
/** The length of the source where a bitrate is asked for: an encoder needs some time to come to it. */
export const BUSY_SECONDS = 3.2;
/** Color of the bars that are asked for: far from all colors of the source. */
export const BACKGROUND = "#ff60e0";
/** Bits per second that are asked for. */
export const BITRATE = { video: 300_000, audio: 96_000 } as const;
/** The stretch that is asked for, in seconds: whole frames of the source. */
export const SPAN = { start: 0.4, end: 1.2 } as const;

const ENGINES = ["light", "native"] as const;
/** Who does the work: the light encoder, or native ffmpeg. */
export type Engine = (typeof ENGINES)[number];

// Both sides together keep the shape of the source in no case, so that every fit gives another picture.
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

/** The table of every kind: its outputs, who does them, from what, and the values of every option; null is an option not given. */
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
    output: outputsOf("adaptive_video"),
    engine: ENGINES,
    from: ["h264", "av1"],
    rate: RATE,
    ...FRAME,
    ...TIME,
  },
} as const satisfies Record<EncodeKind, Dimensions>;

/** What a cell is made from. */
export type From = (typeof TABLES)[EncodeKind]["from"][number];

/** One cell of the matrix: what is asked for, and who must do it. */
export interface Cell {
  name: string;
  kind: EncodeKind;
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

// What the light encoder writes, and the sources that it cannot read, or whose work it cannot foresee as they tell no length, or
// that it would have to hold whole and cannot.
const LIGHT_OUTPUT = /^(?!.*(h265|av1|avif))/;
const HEAVY_SOURCE: ReadonlySet<unknown> = new Set(["av1", "avif", "endless", "bulky"] satisfies From[]);

type Any = Partial<Record<keyof Omit<Cell, "name" | "kind"> | "output", unknown>>;

/** Tells rows, whole or in part, that ask for what cannot be, or for an engine that would not be chosen. */
export const forbids = (row: Any): boolean => [badEngine, badFrame, badSpan].some((check) => check(row));

function badEngine({ engine, output, from }: Any): boolean {
  const heavy = HEAVY_SOURCE.has(from) || (typeof output === "string" && !LIGHT_OUTPUT.test(output));
  if (engine === "light") return heavy;
  return engine === "native" && output !== undefined && from !== undefined && !heavy;
}

// A fit and a color need a box; a position means something only where there are bars or a crop.
function badFrame({ width, height, fit, position, background }: Any): boolean {
  const loose = width === null || height === null;
  const given = (value: unknown) => value !== null && value !== undefined;
  if (loose && [fit, position, background].some(given)) return true;
  if (given(background) && (fit === "cover" || fit === "fill")) return true;
  return given(position) && (fit === "fill" || (fit === null && background === null));
}

function badSpan({ from, start, end, output }: Any): boolean {
  if (start !== null && start !== undefined && (from === "png" || from === "avif")) return true;
  // With an end the length is known, and light again.
  if (end !== null && end !== undefined && from === "endless") return true;
  // Without transparency AVIF has none of a GIF; an animation has no place in it either.
  return from === "gif" && output === "avif";
}

/**
 * The facets of a row, which are its values: but of a position its place on each axis, as each is worked out by itself. All nine
 * positions stand by every fit in geometry.test.ts.
 */
export function facetsOf(row: Row<Dimensions>): string[] {
  return Object.entries(row).flatMap(([name, value]) => {
    if (name !== "position" || value === null) return `${name}=${value}`;
    const [across = "middle"] = /left|right/.exec(String(value)) ?? [];
    const [down = "middle"] = /top|bottom/.exec(String(value)) ?? [];
    return [`across=${across}`, `down=${down}`];
  });
}

/** The cells of a kind in which every two facets stand together. */
export function pairCells(kind: EncodeKind): Cell[] {
  const table: Dimensions = TABLES[kind];
  const rows = coverPairs(table, forbids as Forbids<Dimensions>);
  return thinRows(rows, facetsOf).map((row) => toCell(kind, row));
}

/** The cells that ask for a bitrate and nothing else, of every video output by every engine: the others are too small or too short to keep to it. */
export function rateCells(): Cell[] {
  const none = { width: [null], height: [null], fit: [null], position: [null], background: [null] };
  const alone = { ...none, fps: [null], start: [null], end: [null], rate: [BITRATE.video] };
  const table: Dimensions = { ...TABLES.video, ...alone };
  const rows = [...wholeProduct(table, forbids as Forbids<Dimensions>)];
  // What it is made from has no part in it, so that one source of each will do.
  const made = new Map(rows.map((row) => [`${row.output} ${row.engine}`, row]));
  return [...made.values()].map((row) => toCell("video", row));
}

/** All cells of a kind. */
export function* allCells(kind: EncodeKind): Generator<Cell> {
  const table: Dimensions = TABLES[kind];
  for (const row of wholeProduct(table, forbids as Forbids<Dimensions>)) yield toCell(kind, row);
}

function toCell(kind: EncodeKind, row: Row<Dimensions>): Cell {
  const { output, ...rest } = row;
  const [format, codec = null] = String(output).split(" ");
  const none = { width: null, height: null, fit: null, position: null, background: null };
  const cell = { kind, ...none, fps: null, start: null, end: null, ...rest, format, codec };
  return { ...cell, name: nameOf(kind, row) } as Cell;
}

function nameOf(kind: EncodeKind, { output, engine, from, ...options }: Row<Dimensions>): string {
  const given = Object.entries(options).filter(([, value]) => value !== null);
  const wish = given.map(([name, value]) => `${name} ${value}`).join(", ");
  return `${kind} ${output} of ${from} on ${engine}${wish && `: ${wish}`}`;
}

/** The options of a cell as a caller gives them. */
export function optionsOf(cell: Cell): Record<string, unknown> {
  const { format, codec, rate, width, height, fit, position, background, fps, start, end } = cell;
  const asked = typeof rate === "number" ? { bitrate: rate } : { quality: rate };
  // Without any wish a stream that fits is copied, which is judged elsewhere.
  const quality = cell.kind === "video" && rate === null ? { quality: "medium" } : asked;
  const all = { format, codec, ...quality, width, height, fit, position, background, fps, start, end };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
