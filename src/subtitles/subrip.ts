import { readAssText } from "./ass.ts";
import type { Cue } from "./cue.ts";
import { readSubripMarkup, writeMarkup } from "./markup.ts";
import { LONGEST_TEXT, type TimedBlock, timedBlocks } from "./timed-blocks.ts";

/** Converts the text of a cue of SubRip; null when nothing is left. */
export function readSubripText(text: string): Pick<Cue, "text" | "settings"> | null {
  const marked = writeMarkup(readSubripMarkup(text));
  // Many programs write the positions of ASS into SubRip.
  const [override = ""] = /\{\\an?\d+\}/.exec(text) ?? [];
  const settings = override && readAssText(`${override}x`)?.settings;
  return marked === "" ? null : { text: marked, settings: settings ?? "" };
}

/** Parses a file of SubRip; null stands for a text that is too long. Empty lines within a text do not end it. */
export function* readSubrip(file: string): Generator<Cue | null, void> {
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
