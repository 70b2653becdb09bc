import { readAss } from "./ass.ts";
import type { Cue } from "./cue.ts";
import { readSubrip } from "./subrip.ts";
import { TIMING } from "./timed-blocks.ts";
import { readWebvtt } from "./webvtt.ts";

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
