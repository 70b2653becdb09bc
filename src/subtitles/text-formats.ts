import { readAss, readAssText } from "./ass.ts";
import {
  type Cue,
  LONGEST_TEXT,
  readMarkup,
  readSubripMarkup,
  TIMING,
  type TimedBlock,
  timedBlocks,
  writeMarkup,
} from "./cue.ts";

/** Converts cue text of WebVTT to what a {@link Cue} holds; null when nothing is left. */
export function readWebvttText(text: string, settings = ""): Pick<Cue, "text" | "settings"> | null {
  const marked = writeMarkup(readMarkup(text));
  return marked === "" ? null : { text: marked, settings: settings.replaceAll(/\s+/g, " ").trim() };
}

/** Parses a block of WebVTT in WebM: an identifier, settings and the text, a line each. */
export function readWebvttBlock(block: string): Pick<Cue, "text" | "settings"> | null {
  const [, settings = "", ...lines] = block.replaceAll(/\r\n?/g, "\n").split("\n");
  return readWebvttText(lines.join("\n"), settings);
}

// Regions, which are defined in the file's header, are not kept.
const SETTING = /^(?:vertical|line|position|size|align):[\w.,%-]+$/;

/** Parses a file of WebVTT; null stands for a text that is too long. Where its header maps its times to those of a stream, that is ignored. */
function* readWebvtt(file: string): Generator<Cue | null, void> {
  for (const { start, end, settings, body } of timedBlocks(file)) {
    const blank = body.indexOf("\n\n");
    const marked = blank < 0 ? body : body.slice(0, blank);
    if (marked.length + settings.length > LONGEST_TEXT) yield null;
    else {
      const kept = settings.split(/\s+/).filter((each) => SETTING.test(each));
      const text = readWebvttText(marked, kept.join(" "));
      if (text) yield { start, end, ...text };
    }
  }
}

/** Writes such a block. */
export function writeWebvttBlock({ text, settings }: Cue): Uint8Array {
  return new TextEncoder().encode(`\n${settings}\n${text}`);
}

/**
 * Writes a file of WebVTT. As a segment of HLS (RFC 8216, 3.5) it says that its times are those of the stream, whose clock starts
 * at 0.
 */
export function writeWebvtt(cues: readonly Cue[], segment = false): string {
  const head = segment ? "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n" : "WEBVTT\n";
  const blocks = cues.map(({ start, end, text, settings }) => {
    return `${clock(start)} --> ${clock(end)}${settings ? ` ${settings}` : ""}\n${text}\n`;
  });
  // ffmpeg joins the segments of a playlist, whose cues end with an empty line.
  return [head, ...blocks, ""].join("\n");
}

function clock(ms: number): string {
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(hours)}:${two(minutes)}:${((ms % 60_000) / 1000).toFixed(3).padStart(6, "0")}`;
}

/** Converts the text of a cue of SubRip; null when nothing is left. */
export function readSubripText(text: string): Pick<Cue, "text" | "settings"> | null {
  const marked = writeMarkup(readSubripMarkup(text));
  // Many programs write the positions of ASS into SubRip.
  const [override = ""] = /\{\\an?\d+\}/.exec(text) ?? [];
  const settings = override && readAssText(`${override}x`)?.settings;
  return marked === "" ? null : { text: marked, settings: settings ?? "" };
}

/** Parses a file of SubRip; null stands for a text that is too long. Empty lines within a text do not end it. */
function* readSubrip(file: string): Generator<Cue | null, void> {
  let last: TimedBlock | null = null;
  for (const block of timedBlocks(file)) {
    if (last) yield* readBlock({ ...last, body: withoutNumber(last.body) });
    last = block;
  }
  if (last) yield* readBlock(last);
}

function* readBlock({ start, end, body }: TimedBlock): Generator<Cue | null, void> {
  if (body.length > LONGEST_TEXT) return yield null;
  const text = readSubripText(body);
  if (text) yield { start, end, ...text };
}

// The number of the next cue is before its times.
function withoutNumber(body: string): string {
  const trimmed = body.trimEnd();
  const line = trimmed.lastIndexOf("\n");
  return line >= 0 && /^\s*\d+$/.test(trimmed.slice(line)) ? trimmed.slice(0, line) : trimmed;
}

/** The formats of subtitle files, by the names that ffmpeg has for them. */
export type SubtitleFormat = (typeof FORMATS)[number]["name"];

// What a file is says its text, for names and types are often wrong. In the order in which they are tried.
const FORMATS = [
  { name: "webvtt", sign: /^WEBVTT(?![^\s])/, read: readWebvtt },
  { name: "ass", sign: /^\s*(?:[;!][^\n]*\n\s*)*\[(?:Script Info|V4\+? Styles|Events)\]/i, read: readAss },
  { name: "subrip", sign: new RegExp(TIMING.source, "m"), read: readSubrip },
] as const satisfies readonly { name: string; sign: RegExp; read(text: string): Iterable<Cue | null> }[];

// Letters at its start that say what a text is.
const HEAD = 8192;

const ENCODINGS = [
  { mark: [0xef, 0xbb, 0xbf], name: "utf-8" },
  { mark: [0xff, 0xfe], name: "utf-16le" },
  { mark: [0xfe, 0xff], name: "utf-16be" },
] as const;

/** Decodes a text in UTF-8, or in UTF-16 with a byte order mark, and ends its lines with line feeds; null when it is none. */
export function decodeSubtitles(bytes: Uint8Array): string | null {
  const encoding = ENCODINGS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  try {
    const text = new TextDecoder(encoding?.name ?? "utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    return text.includes("\0") ? null : text.replaceAll(/\r\n?/g, "\n");
  } catch {
    return null;
  }
}

/**
 * Returns the format of a decoded file and its cues, in the order of the file, null for each that is too long; null when it is
 * none of these formats.
 */
export function readSubtitleFile(
  text: string,
): { format: SubtitleFormat; cues: Iterable<Cue | null> } | null {
  const head = text.slice(0, HEAD);
  const found = FORMATS.find(({ sign }) => sign.test(head));
  return found ? { format: found.name, cues: found.read(text) } : null;
}
