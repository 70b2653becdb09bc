import type { Cue } from "./cue.ts";
import { readMarkup, writeMarkup } from "./markup.ts";

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

/** Writes such a block. */
export function writeWebvttBlock({ text, settings }: Cue): Uint8Array {
  return new TextEncoder().encode(`\n${settings}\n${text}`);
}
