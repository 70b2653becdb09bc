/** A timed text; its markup and settings are those of WebVTT. */
export interface Cue {
  /** Start in whole milliseconds. */
  start: number;
  /** End in whole milliseconds; later than `start`. */
  end: number;
  /** Cue text of WebVTT: lines, with `<b>`, `<i>` and `<u>`, and `&`, `<` and `>` escaped. */
  text: string;
  /** Cue settings of WebVTT, such as `line:0`; may be empty. */
  settings: string;
}

/** The range of a source that an output shows. */
export interface ShownRange {
  /** Start in seconds of the source. */
  start: number;
  /** Duration of the output in seconds; null when unknown. */
  duration: number | null;
  /** Seconds of source per second of output. */
  speed: number;
  /** The ranges of the source in the order of the output, each with its start there; absent for a single range. */
  parts?: readonly { start: number; end: number; at: number }[] | undefined;
}

/**
 * Converts cues of a source to the output's times, in order. Drops cues outside the output and trims those that cross its start or
 * end.
 */
export function shiftCues(cues: readonly Cue[], { start, duration, speed, parts }: ShownRange): Cue[] {
  if (parts) {
    const visible = createCueIndex(cues);
    return parts.flatMap((part) => {
      const range = { start: part.start, duration: (part.end - part.start) / speed, speed };
      const at = Math.round(part.at * 1000);
      const visibleCues = visible(part.start * 1000, part.end * 1000);
      return shiftCues(visibleCues, range).map((cue) => ({
        ...cue,
        start: cue.start + at,
        end: cue.end + at,
      }));
    });
  }
  const at = (time: number) => Math.round((time - start * 1000) / speed);
  const last = duration === null ? Number.POSITIVE_INFINITY : Math.round(duration * 1000);
  return cues
    .map((cue) => ({ ...cue, start: Math.max(0, at(cue.start)), end: Math.min(last, at(cue.end)) }))
    .filter((cue) => cue.end > cue.start && cue.text.trim() !== "")
    .sort((a, b) => a.start - b.start);
}

// Hundreds of parts may each show a few of very many cues, so a scan of all cues per part would be slow.
function createCueIndex(cues: readonly Cue[]): (from: number, until: number) => Cue[] {
  const sorted = cues.toSorted((a, b) => a.start - b.start);
  let last = Number.NEGATIVE_INFINITY;
  const ends = sorted.map(({ end }) => {
    last = Math.max(last, end);
    return last;
  });
  return (from, until) =>
    sorted.slice(
      firstIndex(ends.length, (at) => (ends[at] ?? 0) > from),
      firstIndex(sorted.length, (at) => (sorted[at]?.start ?? 0) >= until),
    );
}

/** Returns the first index for which `holds` is true; it must be true for all later ones too. */
function firstIndex(length: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Splits overlapping cues wherever one begins or ends, for formats that show one at a time; each piece has all their lines. The
 * total size grows with the square of the overlap, so callers must limit it.
 */
export function* flattenCues(cues: readonly Cue[]): Generator<Cue, void> {
  let visible: Cue[] = [];
  function* showUntil(from: number, until: number): Generator<Cue, void> {
    for (let at = from; at < until && visible.length > 0; ) {
      const end = visible.reduce((first, cue) => Math.min(first, cue.end), until);
      const text = visible.map((cue) => cue.text).join("\n");
      yield { start: at, end, text, settings: visible[0]?.settings ?? "" };
      visible = visible.filter((cue) => cue.end > end);
      at = end;
    }
  }
  let at = 0;
  for (const cue of cues) {
    yield* showUntil(at, cue.start);
    at = cue.start;
    visible.push(cue);
  }
  yield* showUntil(at, Number.POSITIVE_INFINITY);
}

export interface Face {
  bold: boolean;
  italic: boolean;
  underline: boolean;
}

/** Plain text of one style. */
export interface Run extends Face {
  text: string;
}

const TAGS = { bold: "b", italic: "i", underline: "u" } as const satisfies Record<keyof Face, string>;
const FACES = Object.entries(TAGS) as [keyof Face, string][];
export const PLAIN: Face = { bold: false, italic: false, underline: false };

/** Writes runs as cue text of WebVTT without empty lines. */
export function writeMarkup(runs: readonly Run[]): string {
  const marked = runs.map(({ text, ...face }) => {
    const tags = FACES.filter(([name]) => face[name] && text.trim() !== "").map(([, tag]) => tag);
    const open = tags.map((tag) => `<${tag}>`).join("");
    const close = tags.map((tag) => `</${tag}>`).reverse();
    return `${open}${escapeText(text)}${close.join("")}`;
  });
  // An empty line would end the cue.
  return marked
    .join("")
    .replace(/\r\n?/g, "\n")
    .replace(/\n\s*\n/g, "\n")
    .replace(/^[^\S\n]*\n+|\n+[^\S\n]*$/g, "");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  nbsp: "\u00a0",
  lrm: "\u200e",
  rlm: "\u200f",
  quot: '"',
  apos: "'",
};

/** Decodes the entities of subtitles; leaves others unchanged. */
function readEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
      ? String.fromCodePoint(code)
      : whole;
  });
}

const WEBVTT_TAG = /<(\/?)([a-z]+)(?:[.\s][^<>]*)?>|<\/?>|<[\d:.]+>/gi;

/** Parses cue text of WebVTT; keeps the styles of {@link Face} and drops other tags. */
export function readMarkup(text: string): Run[] {
  return readTags(text, WEBVTT_TAG, (name) => FACES.find(([, tag]) => tag === name)?.[0] ?? null);
}

// Players show any other angle brackets of SubRip as text.
const SUBRIP_TAG = /<(\/?)(b|i|u|s|font|strong|em)(?:\s[^<>]*)?>|\{\\[^{}]*\}/gi;

/** Parses the text of a SubRip cue. */
export function readSubripMarkup(text: string): Run[] {
  return readTags(text, SUBRIP_TAG, (name) => SUBRIP[name] ?? null);
}

const SUBRIP: Readonly<Record<string, keyof Face>> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
};

function readTags(text: string, tags: RegExp, faceOf: (name: string) => keyof Face | null): Run[] {
  const depth = { bold: 0, italic: 0, underline: 0 };
  const runs: Run[] = [];
  let at = 0;
  const add = (end: number) => {
    const part = readEntities(text.slice(at, end));
    const face = { bold: depth.bold > 0, italic: depth.italic > 0, underline: depth.underline > 0 };
    if (part !== "") runs.push({ text: part, ...face });
  };
  for (const match of text.matchAll(tags)) {
    add(match.index);
    at = match.index + match[0].length;
    const face = faceOf((match[2] ?? "").toLowerCase());
    if (face) depth[face] = Math.max(0, depth[face] + (match[1] === "/" ? -1 : 1));
  }
  add(text.length);
  return runs;
}

/** A timing line of SubRip or WebVTT and the text after it. */
export interface TimedBlock {
  /** Milliseconds. */
  start: number;
  end: number;
  /** The rest of the line. */
  settings: string;
  /** The text up to the next timing line. */
  body: string;
}

/** Maximum characters of a cue, including tags; longer ones are unreadable and do not fit timed text in MP4. */
export const MAX_CUE_LENGTH = 2 ** 14;

const CLOCK = String.raw`(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?`;

/** A timing line; hours and fractions are optional. */
export const TIMING = new RegExp(String.raw`^[ \t]*${CLOCK}[ \t]*-->[ \t]*${CLOCK}([^\n]*)`, "gm");

export function* timedBlocks(text: string): Generator<TimedBlock, void> {
  let last: (Omit<TimedBlock, "body"> & { from: number }) | null = null;
  for (const match of text.matchAll(TIMING)) {
    if (last) yield { ...last, body: text.slice(last.from, match.index) };
    last = {
      start: readClock(match.slice(1, 5)),
      end: readClock(match.slice(5, 9)),
      settings: match[9] ?? "",
      from: match.index + match[0].length,
    };
  }
  if (last) yield { ...last, body: text.slice(last.from) };
}

/** Converts hours, minutes, seconds and a decimal fraction, as digits, to milliseconds. */
export function readClock([hours = "0", minutes, seconds, fraction = ""]: (string | undefined)[]): number {
  const whole = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return whole * 1000 + Number(fraction.padEnd(3, "0"));
}
