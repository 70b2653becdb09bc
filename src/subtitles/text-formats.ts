import { formatClock } from "../media/clock.ts";
import { readAss, readAssText } from "./ass.ts";
import {
  type Cue,
  MAX_CUE_LENGTH,
  readMarkup,
  readSubripMarkup,
  TIMING,
  type TimedBlock,
  timedBlocks,
  writeMarkup,
} from "./cue.ts";

/** Converts cue text of WebVTT to the text and settings of a {@link Cue}; null when nothing is left. */
export function readWebvttText(text: string, settings = ""): Pick<Cue, "text" | "settings"> | null {
  const marked = writeMarkup(readMarkup(text));
  return marked === "" ? null : { text: marked, settings: settings.replaceAll(/\s+/g, " ").trim() };
}

/** Parses a block of WebVTT in WebM: a line each for the identifier and the settings, then the text. */
export function readWebvttBlock(block: string): Pick<Cue, "text" | "settings"> | null {
  const [, settings = "", ...lines] = block.replaceAll(/\r\n?/g, "\n").split("\n");
  return readWebvttText(lines.join("\n"), settings);
}

// Regions refer to the file's header, which is lost.
const SETTING = /^(?:vertical|line|position|size|align):[\w.,%-]+$/;

/** Parses a WebVTT file; yields null for a text that is too long. Ignores a timestamp map in the header. */
function* readWebvtt(file: string): Generator<Cue | null, void> {
  for (const { start, end, settings, body } of timedBlocks(file)) {
    const blank = body.indexOf("\n\n");
    const marked = blank < 0 ? body : body.slice(0, blank);
    if (marked.length + settings.length > MAX_CUE_LENGTH) yield null;
    else {
      const supported = settings.split(/\s+/).filter((each) => SETTING.test(each));
      const text = readWebvttText(marked, supported.join(" "));
      if (text) yield { start, end, ...text };
    }
  }
}

/** Writes a block of WebVTT in WebM. */
export function writeWebvttBlock({ text, settings }: Cue): Uint8Array {
  return new TextEncoder().encode(`\n${settings}\n${text}`);
}

/**
 * Writes a WebVTT file. An HLS segment (RFC 8216, 3.5) states that its times count from the stream's start at 0.
 */
export function writeWebvtt(cues: readonly Cue[], segment = false): string {
  const head = segment ? "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n" : "WEBVTT\n";
  const blocks = cues.map(({ start, end, text, settings }) => {
    return `${formatClock(start)} --> ${formatClock(end)}${settings ? ` ${settings}` : ""}\n${text}\n`;
  });
  // ffmpeg concatenates a playlist's segments, so the last cue must end with an empty line.
  return [head, ...blocks, ""].join("\n");
}

/** Converts the text of a SubRip cue; null when nothing is left. */
export function readSubripText(text: string): Pick<Cue, "text" | "settings"> | null {
  const marked = writeMarkup(readSubripMarkup(text));
  // Many programs write ASS positions into SubRip.
  const [override = ""] = /\{\\an?\d+\}/.exec(text) ?? [];
  const settings = override && readAssText(`${override}x`)?.settings;
  return marked === "" ? null : { text: marked, settings: settings ?? "" };
}

/** Parses a SubRip file; yields null for a text that is too long. Empty lines do not end a text. */
function* readSubrip(file: string): Generator<Cue | null, void> {
  let last: TimedBlock | null = null;
  for (const block of timedBlocks(file)) {
    if (last) yield* readBlock({ ...last, body: withoutNumber(last.body) });
    last = block;
  }
  if (last) yield* readBlock(last);
}

function* readBlock({ start, end, body }: TimedBlock): Generator<Cue | null, void> {
  if (body.length > MAX_CUE_LENGTH) return yield null;
  const text = readSubripText(body);
  if (text) yield { start, end, ...text };
}

function withoutNumber(body: string): string {
  const trimmed = body.trimEnd();
  const line = trimmed.lastIndexOf("\n");
  return line >= 0 && /^\s*\d+$/.test(trimmed.slice(line)) ? trimmed.slice(0, line) : trimmed;
}

/** The formats of subtitle files, by ffmpeg's names. */
export type SubtitleFormat = (typeof FORMATS)[number]["name"];

// File names and types are often wrong, so the text decides; the order must not change.
const FORMATS = [
  { name: "webvtt", sign: /^WEBVTT(?![^\s])/, read: readWebvtt },
  { name: "ass", sign: /^\s*(?:[;!][^\n]*\n\s*)*\[(?:Script Info|V4\+? Styles|Events)\]/i, read: readAss },
  { name: "subrip", sign: new RegExp(TIMING.source, "m"), read: readSubrip },
] as const satisfies readonly { name: string; sign: RegExp; read(text: string): Iterable<Cue | null> }[];

const HEAD = 8192;

const ENCODINGS = [
  { mark: [0xef, 0xbb, 0xbf], name: "utf-8" },
  { mark: [0xff, 0xfe], name: "utf-16le" },
  { mark: [0xfe, 0xff], name: "utf-16be" },
] as const;

/** Decodes UTF-8, or UTF-16 with a byte order mark, and converts line ends to line feeds; null for anything else. */
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
 * Returns the format of a decoded file and its cues in file order, with null for each that is too long; null for any other format.
 */
export function readSubtitleFile(
  text: string,
): { format: SubtitleFormat; cues: Iterable<Cue | null> } | null {
  const head = text.slice(0, HEAD);
  const format = FORMATS.find(({ sign }) => sign.test(head));
  return format ? { format: format.name, cues: format.read(text) } : null;
}
