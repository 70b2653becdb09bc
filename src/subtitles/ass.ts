import type { Cue } from "./cue.ts";
import { type Face, PLAIN, type Run, writeMarkup } from "./markup.ts";
import { LONGEST_TEXT, readClock } from "./timed-blocks.ts";

// ReadOrder, Layer, Style, Name, three margins and Effect come before the text of an event in Matroska.
const FIELDS = 8;

/** Parses the fields of an event of ASS or SSA in Matroska; null when it has no text to show. */
export function readAssBlock(event: string): Pick<Cue, "text" | "settings"> | null {
  return readAssText(textAfter(event, FIELDS));
}

/** Returns what follows a number of comma-separated fields. */
function textAfter(event: string, fields: number): string {
  let at = 0;
  for (let left = fields; left > 0; left--) {
    const comma = event.indexOf(",", at);
    if (comma < 0) return "";
    at = comma + 1;
  }
  return event.slice(at);
}

/**
 * Converts the text of an event: bold, italic, underlined, line breaks and whether it is at the top of the picture are kept;
 * drawings, and other overrides, are not. Null when nothing is left.
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
const MOST_COLUMNS = 64;
const CLOCK = /^\s*(\d{1,6}):(\d{1,2}):(\d{1,2})(?:[.:](\d{1,3}))?\s*$/;

/** Parses a file of ASS or SSA: the dialogue of its events; null stands for a text that is too long. */
export function* readAss(file: string): Generator<Cue | null, void> {
  let [events, columns] = [false, COLUMNS];
  for (const line of linesOf(file)) {
    if (line.startsWith("[")) events = /^\[events\]/i.test(line);
    const [, name = "", value = ""] = (events && /^(format|dialogue):(.*)$/i.exec(line)) || [];
    if (name.toLowerCase() === "format") {
      const named = value.split(",", MOST_COLUMNS).map((column) => column.trim().toLowerCase());
      // Texts may have commas, so they come last.
      columns = named.at(-1) === "text" ? named : COLUMNS;
    } else if (value.length > LONGEST_TEXT) yield null;
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
