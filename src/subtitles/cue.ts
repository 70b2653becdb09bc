/** A piece of text and when it is shown; its text and settings are those of WebVTT. */
export interface Cue {
  /** When it appears, in whole milliseconds. */
  start: number;
  /** When it disappears, in whole milliseconds; later than `start`. */
  end: number;
  /** Cue text of WebVTT: lines, with `<b>`, `<i>` and `<u>`, and `&`, `<` and `>` escaped. */
  text: string;
  /** Cue settings of WebVTT, such as `line:0`; empty without any. */
  settings: string;
}

/** The stretch of a source that an output shows. */
export interface Shown {
  /** Seconds of the source at which the output starts. */
  start: number;
  /** Seconds of the output; null when unknown. */
  duration: number | null;
  /** Seconds of source in a second of output. */
  speed: number;
}

/**
 * Moves cues of a source to when the output shows them, in order of time. Cues that are never shown are left out; others are cut
 * at the start and end of the output.
 */
export function shiftCues(cues: readonly Cue[], { start, duration, speed }: Shown): Cue[] {
  const at = (time: number) => Math.round((time - start * 1000) / speed);
  const last = duration === null ? Number.POSITIVE_INFINITY : Math.round(duration * 1000);
  return cues
    .map((cue) => ({ ...cue, start: Math.max(0, at(cue.start)), end: Math.min(last, at(cue.end)) }))
    .filter((cue) => cue.end > cue.start && cue.text.trim() !== "")
    .sort((a, b) => a.start - b.start);
}

/**
 * Splits overlapping cues where another begins or ends, for formats that show one at a time; each piece has all their lines. The
 * pieces of a crowd take room in proportion to its square: a caller stops where they take too much.
 */
export function* flattenCues(cues: readonly Cue[]): Generator<Cue, void> {
  let shown: Cue[] = [];
  function* showUntil(from: number, until: number): Generator<Cue, void> {
    for (let at = from; at < until && shown.length > 0; ) {
      const end = shown.reduce((first, cue) => Math.min(first, cue.end), until);
      const text = shown.map((cue) => cue.text).join("\n");
      yield { start: at, end, text, settings: shown[0]?.settings ?? "" };
      shown = shown.filter((cue) => cue.end > end);
      at = end;
    }
  }
  let at = 0;
  for (const cue of cues) {
    yield* showUntil(at, cue.start);
    at = cue.start;
    shown.push(cue);
  }
  yield* showUntil(at, Number.POSITIVE_INFINITY);
}
