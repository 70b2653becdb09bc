/** What follows a line with two times, as SubRip and WebVTT have them. */
export interface TimedBlock {
  /** Milliseconds. */
  start: number;
  end: number;
  /** The rest of the line. */
  settings: string;
  /** What follows, up to the next such line. */
  body: string;
}

/** Letters of one text of a file, with its tags, past which it is none that people read, and too long for timed text of MP4. */
export const LONGEST_TEXT = 2 ** 14;

const CLOCK = String.raw`(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?`;

/** A line with two times; hours and fractions may be absent. */
export const TIMING = new RegExp(String.raw`^[ \t]*${CLOCK}[ \t]*-->[ \t]*${CLOCK}([^\n]*)`, "gm");

/** Splits a text at its lines with two times. */
export function* timedBlocks(text: string): Generator<TimedBlock, void> {
  let last: (Omit<TimedBlock, "body"> & { from: number }) | null = null;
  for (const match of text.matchAll(TIMING)) {
    if (last) yield { ...last, body: text.slice(last.from, match.index) };
    last = {
      ...{ start: readClock(match.slice(1, 5)), end: readClock(match.slice(5, 9)) },
      ...{ settings: match[9] ?? "", from: match.index + match[0].length },
    };
  }
  if (last) yield { ...last, body: text.slice(last.from) };
}

/** Returns milliseconds from the digits of hours, minutes, seconds and a decimal fraction. */
export function readClock([hours = "0", minutes, seconds, fraction = ""]: (string | undefined)[]): number {
  const whole = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return whole * 1000 + Number(fraction.padEnd(3, "0"));
}
