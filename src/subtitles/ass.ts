import { markBrackets } from "./bidi.ts";
import {
  type Cue,
  type Face,
  MAX_CUE_LENGTH,
  PLAIN,
  type Run,
  readClock,
  readMarkup,
  writeMarkup,
} from "./cue.ts";

// Matroska puts ReadOrder, Layer, Style, Name, three margins and Effect before an event's text.
const EVENT_FIELDS = 8;

/** Parses an ASS or SSA event in Matroska; null when it has no text to show. */
export function readAssBlock(event: string): Pick<Cue, "text" | "settings"> | null {
  return readAssText(textAfter(event, EVENT_FIELDS));
}

function textAfter(event: string, fields: number): string {
  let at = 0;
  for (let remaining = fields; remaining > 0; remaining--) {
    const comma = event.indexOf(",", at);
    if (comma < 0) return "";
    at = comma + 1;
  }
  return event.slice(at);
}

/**
 * Converts the text of an event to cue text. Keeps bold, italic, underline, line breaks and a position at the top of the picture;
 * drops drawings and other overrides. Null when nothing is left.
 */
export function readAssText(text: string): Pick<Cue, "text" | "settings"> | null {
  const face: Face = { ...PLAIN };
  const runs: Run[] = [];
  let [drawing, top] = [false, false];
  for (const part of text.split(/(\{[^{}]*\})/)) {
    if (!part.startsWith("{")) {
      if (!drawing && part !== "") runs.push({ text: plain(part), ...face });
      continue;
    }
    for (const [, name = "", value = ""] of part.matchAll(/\\(an|a|b|i|u|p|r)(-?\d*)(?=[\\}\s])/g)) {
      const on = Number(value) !== 0 && value !== "";
      if (name === "b") face.bold = on;
      else if (name === "i") face.italic = on;
      else if (name === "u") face.underline = on;
      else if (name === "p") drawing = on;
      else if (name === "an") top = Number(value) >= 7;
      else if (name === "a") top = Number(value) >= 5 && Number(value) <= 7;
      else if (name === "r") Object.assign(face, PLAIN);
    }
  }
  const marked = writeMarkup(runs);
  return marked === "" ? null : { text: marked, settings: top ? "line:0" : "" };
}

function plain(text: string): string {
  return text.replaceAll(/\\[Nn]/g, "\n").replaceAll("\\h", "\u00a0");
}

const COLUMNS = "layer,start,end,style,name,marginl,marginr,marginv,effect,text".split(",");
const MAX_COLUMNS = 64;
const CLOCK = /^\s*(\d{1,6}):(\d{1,2}):(\d{1,2})(?:[.:](\d{1,3}))?\s*$/;

/** Parses the dialogue of an ASS or SSA file; yields null for a text that is too long. */
export function* readAss(file: string): Generator<Cue | null, void> {
  let [events, columns] = [false, COLUMNS];
  for (const line of linesOf(file)) {
    if (line.startsWith("[")) events = /^\[events\]/i.test(line);
    const [, name = "", value = ""] = (events && /^(format|dialogue):(.*)$/i.exec(line)) || [];
    if (name.toLowerCase() === "format") {
      const names = value.split(",", MAX_COLUMNS).map((column) => column.trim().toLowerCase());
      // A text may contain commas, so it must come last.
      columns = names.at(-1) === "text" ? names : COLUMNS;
    } else if (value.length > MAX_CUE_LENGTH) yield null;
    else if (name !== "") {
      const fields = value.split(",", columns.length - 1);
      const [start, end] = ["start", "end"].map((column) =>
        CLOCK.exec(fields[columns.indexOf(column)] ?? ""),
      );
      const text = start && end && readAssText(textAfter(value, columns.length - 1));
      if (text) yield { start: readClock(start.slice(1)), end: readClock(end.slice(1)), ...text };
    }
  }
}

function* linesOf(text: string): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    yield text.slice(at, end < 0 ? text.length : end);
    at = end < 0 ? text.length : end + 1;
  }
}

/** The style of burned-in text. */
export interface AssStyle {
  /** Size of the picture in pixels. */
  width: number;
  height: number;
  font: string;
  /** Size of the font in the script. */
  size: number;
  /** Red, green, blue and opacity, each from 0 to 255; null for a part that is not drawn. */
  colors: Readonly<Record<"letters" | "outline" | "box", readonly number[] | null>>;
  /** Place of all texts; absent if each text has the place of its cue, or the bottom. */
  place?: TextPlace | undefined;
  /** Splits a text of a size into runs of one font each; by default, all of it has the font of the style. */
  split?(text: string, size: number): readonly ScriptRun[];
}

// Share of the font size.
const OUTLINE = 1 / 14;
const MARGIN = 0.05;

const STYLE =
  "Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding";
const EVENT = "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text";

/**
 * Writes cues as ASS, in the place of the style or else at the bottom of the picture, or at its top if a cue's settings say so. Only
 * bold, italic, underline and line breaks become overrides.
 */
export function writeAss(cues: readonly Cue[], look: AssStyle): string {
  const { width, height, font, size, colors, place, split } = look;
  const margins = place?.margins ?? [width, width, height].map((each) => Math.round(each * MARGIN));
  const outline = colors.outline === null ? 0 : Math.max(1, size * OUTLINE).toFixed(2);
  const [letters, edge, box] = [colors.letters, colors.outline, colors.box].map(scriptColor);
  const style = [
    "Default",
    font,
    size,
    ...[letters, letters, edge, box],
    ...[0, 0, 0, 0, 100, 100, 0, 0],
    colors.box === null ? OUTLINED : BOXED,
    outline,
    colors.box === null ? 0 : (size * PADDING).toFixed(2),
    2,
    ...margins,
    BY_FIRST_LETTER,
  ];
  const events = cues.map(({ start, end, text, settings }) => {
    const position = `{\\an${place ? keypad(place.anchor) : alignment(settings)}}`;
    const words = writeText(
      text,
      (letters) => split?.(letters, size) ?? [{ text: letters, font, size }],
      font,
    );
    return `Dialogue: 0,${clock(start)},${clock(end)},Default,,0,0,0,,${position}${words}`;
  });
  return writeScript({ width, height }, [style.join(",")], events);
}

function scriptColor(color: readonly number[] | null): string {
  if (color === null) return CLEAR;
  const [red = 0, green = 0, blue = 0, opacity = 255] = color;
  const digits = [255 - opacity, blue, green, red].map((value) =>
    Math.round(value).toString(16).padStart(2, "0"),
  );
  return `&H${digits.join("").toUpperCase()}`;
}

function writeScript(
  { width, height }: { width: number; height: number },
  styles: readonly string[],
  events: readonly string[],
): string {
  return [
    "[Script Info]",
    "ScriptType: v4.00+",
    `PlayResX: ${width}`,
    `PlayResY: ${height}`,
    "WrapStyle: 0",
    "ScaledBorderAndShadow: yes",
    "YCbCr Matrix: None",
    "",
    "[V4+ Styles]",
    `Format: ${STYLE}`,
    ...styles.map((style) => `Style: ${style}`),
    "",
    "[Events]",
    `Format: ${EVENT}`,
    ...events,
    "",
  ].join("\n");
}

/** A run of text in one font, with the size that the script states. */
export interface ScriptRun {
  text: string;
  font: string;
  size: number;
}

/** The place of a text; lengths are in pixels. */
export interface TextPlace {
  /** Share of the free space to its left and above it. */
  anchor: readonly [x: number, y: number];
  /** Distances from the left, the right, and the nearest edge above or below. */
  margins: readonly [left: number, right: number, vertical: number];
}

/** A text with its place and the height of its letters. */
export interface ScriptText extends TextPlace {
  runs: readonly ScriptRun[];
  size: number;
  hasBox: boolean;
}

// Distance of a box from its letters, as a share of their size.
const PADDING = 0.2;

/** Writes texts as ASS, in white: the box and then the letters of each are shown alone for a second. */
export function writeTexts(
  texts: readonly ScriptText[],
  { width, height }: Pick<AssStyle, "width" | "height">,
): string {
  const layers = texts.flatMap((text) => (text.hasBox ? [text, { ...text, hasBox: false }] : [text]));
  const styles = layers.map(({ runs: [first], size, hasBox, anchor, margins }, at) => {
    const letters = hasBox ? CLEAR : OPAQUE;
    return [
      `T${at}`,
      first?.font,
      first?.size.toFixed(2),
      ...[letters, letters, CLEAR, hasBox ? OPAQUE : CLEAR],
      ...[0, 0, 0, 0, 100, 100, 0, 0],
      hasBox ? BOXED : OUTLINED,
      0,
      hasBox ? (size * PADDING).toFixed(2) : 0,
      keypad(anchor),
      ...margins,
      BY_FIRST_LETTER,
    ].join(",");
  });
  const events = layers.map(
    ({ runs }, at) =>
      `Dialogue: 0,${clock(at * 1000)},${clock((at + 1) * 1000)},T${at},,0,0,0,,${writeRuns(runs, runs[0])}`,
  );
  return writeScript({ width, height }, styles, events);
}

/** Writes runs of text, with overrides where their font differs from that of the style. */
function writeRuns(runs: readonly ScriptRun[], style: Omit<ScriptRun, "text"> | undefined): string {
  let current = style;
  return runs
    .map((run) => {
      const text = escapeText(run.text);
      if (run.font === current?.font) return text;
      current = run;
      return `{\\fn${run.font}\\fs${run.size.toFixed(2)}}${text}`;
    })
    .join("");
}

const OPAQUE = "&H00FFFFFF";
const CLEAR = "&HFFFFFFFF";
const OUTLINED = 1;
// One box behind all lines of a text, in the color and at the distance of its shadow (libass).
const BOXED = 4;
// A line runs in the direction of its first letter that has a direction (libass).
const BY_FIRST_LETTER = -1;

// ASS numbers places like the keys of a keypad: 1 is bottom left, 7 top left.
function keypad([x, y]: TextPlace["anchor"]): number {
  return 7 - 6 * y + 2 * x;
}

function alignment(settings: string): number {
  const [, line = "", percent] = /(?:^|\s)line:(\d+)(?:\.\d+)?(%?)/.exec(settings) ?? [];
  const top = line !== "" && (percent ? Number(line) < 50 : Number(line) < 5);
  const [, side = ""] = /(?:^|\s)align:(\w+)/.exec(settings) ?? [];
  return (top ? 7 : 1) + (SIDES[side] ?? 1);
}

const SIDES: Readonly<Record<string, number>> = { left: 0, start: 0, right: 2, end: 2 };

function writeText(marked: string, split: (text: string) => readonly ScriptRun[], font: string): string {
  let style = { font, size: 0 };
  const pieces = readMarkup(marked);
  const texts = markBrackets(pieces.map(({ text }) => text));
  return pieces
    .map((run, at) => {
      const runs = split(texts[at] ?? run.text);
      const text = writeRuns(runs, style);
      style = runs.at(-1) ?? style;
      return writeRun(run, text);
    })
    .join("");
}

function writeRun({ bold, italic, underline }: Run, text: string): string {
  const faces = [...(bold ? ["b"] : []), ...(italic ? ["i"] : []), ...(underline ? ["u"] : [])];
  const set = (on: 0 | 1) => (faces.length > 0 ? `{${faces.map((face) => `\\${face}${on}`).join("")}}` : "");
  return `${set(1)}${text}${set(0)}`;
}

// An invisible character after a backslash prevents an escape.
const JOINER = "\u2060";

function escapeText(text: string): string {
  return text
    .replaceAll("\\", `\\${JOINER}`)
    .replaceAll(/[{}]/g, "\\$&")
    .replaceAll(/\p{Cc}/gu, (control) => (control === "\n" ? "\\N" : " "));
}

function clock(ms: number): string {
  const hundredths = Math.round(ms / 10);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const seconds = hundredths / 100;
  return `${Math.floor(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}.${two(hundredths % 100)}`;
}
