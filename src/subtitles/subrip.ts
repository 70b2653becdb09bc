import { readAssText } from "./ass.ts";
import type { Cue } from "./cue.ts";
import { readSubripMarkup, writeMarkup } from "./markup.ts";
import { timedBlocks } from "./timed-blocks.ts";

/** Converts the text of a cue of SubRip; null when nothing is left. */
export function readSubripText(text: string): Pick<Cue, "text" | "settings"> | null {
  const marked = writeMarkup(readSubripMarkup(text));
  // Many programs write the positions of ASS into SubRip.
  const [override = ""] = /\{\\an?\d+\}/.exec(text) ?? [];
  const settings = override && readAssText(`${override}x`)?.settings;
  return marked === "" ? null : { text: marked, settings: settings ?? "" };
}

/** Parses a file of SubRip. Empty lines within a text do not end it. */
export function* readSubrip(file: string): Generator<Cue, void> {
  let next: (Pick<Cue, "start" | "end"> & { body: string }) | null = null;
  for (const { start, end, body } of timedBlocks(file)) {
    const cue = next && cueOf({ ...next, body: withoutNumber(next.body) });
    if (cue) yield cue;
    next = { start, end, body };
  }
  const last = next && cueOf(next);
  if (last) yield last;
}

function cueOf({ start, end, body }: Pick<Cue, "start" | "end"> & { body: string }): Cue | null {
  const text = readSubripText(body);
  return text && { start, end, ...text };
}

// The number of the next cue is before its times.
function withoutNumber(body: string): string {
  const trimmed = body.trimEnd();
  const line = trimmed.lastIndexOf("\n");
  return line >= 0 && /^\s*\d+$/.test(trimmed.slice(line)) ? trimmed.slice(0, line) : trimmed;
}
