import { readAssText } from "./ass.ts";
import type { Cue } from "./cue.ts";
import { readSubripMarkup, writeMarkup } from "./markup.ts";

/** Converts the text of a cue of SubRip; null when nothing is left. */
export function readSubripText(text: string): Pick<Cue, "text" | "settings"> | null {
  const marked = writeMarkup(readSubripMarkup(text));
  // Many programs write the positions of ASS into SubRip.
  const [override = ""] = /\{\\an?\d+\}/.exec(text) ?? [];
  const settings = override && readAssText(`${override}x`)?.settings;
  return marked === "" ? null : { text: marked, settings: settings ?? "" };
}
