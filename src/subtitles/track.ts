import type { MediaError } from "../media/errors.ts";
import type { SubtitleFacts } from "../media/features/subtitles.ts";
import type { Plan } from "../media/plan.ts";
import type { ByteReader } from "../runs/ports.ts";
import { MIB } from "../util/bytes.ts";
import { type Cue, MAX_CUE_LENGTH, type ShownRange } from "./cue.ts";
import * as errors from "./errors.ts";
import { decodeSubtitles, readSubtitleFile, type SubtitleFormat } from "./text-formats.ts";

/** A text track of an output: the plan's facts, and its cues in order of time. */
export interface SubtitleTrack extends SubtitleFacts {
  cues: readonly Cue[];
}

/** Returns the range of the source that a plan's output shows. */
export function shownRange({ start, duration, speed = 1, parts }: Plan): ShownRange {
  return { start, duration, speed, parts };
}

/**
 * Reads the cues of the given streams, by stream index, timed from the file's first picture or sound; omits a stream that exceeds the
 * limits or cannot be read.
 */
export type CueReader = (
  reader: ByteReader,
  streams: readonly number[],
  reading: {
    signal: AbortSignal;
    onWait(): void;
    /** Milliseconds of the source after which no cue is needed; infinite for all. */
    until: number;
  },
) => Promise<ReadonlyMap<number, readonly Cue[]>>;

/** Limits for all text of a file; no real subtitles have more. `read` counts the bytes read for it. */
export const CUE_LIMITS = { cues: 200_000, bytes: 16 * 2 ** 20, read: 64 * 2 ** 20 } as const;

/** The remaining budget of a file's tracks. */
export type CueBudget = Record<keyof typeof CUE_LIMITS, number>;

/** Collects the cues of a track within a budget that the tracks of a file share. */
export interface CueList {
  readonly cues: Cue[];
  /** Whether everything fits; otherwise the list is empty. */
  readonly whole: boolean;
  /** Adds a cue that took `read` bytes of the file; a null text only counts the bytes. */
  add(cue: Omit<Cue, "text" | "settings">, text: Pick<Cue, "text" | "settings"> | null, read: number): void;
}

export function createCueList(budget: CueBudget): CueList {
  const cues: Cue[] = [];
  let [used, whole] = [0, true];
  return {
    cues,
    get whole() {
      return whole;
    },
    add({ start, end }, text, read) {
      if (!whole) return;
      budget.read -= read;
      const size = text ? text.text.length + text.settings.length : 0;
      if (budget.read >= 0 && size <= budget.bytes && (!text || budget.cues > 0)) {
        if (!text || !Number.isSafeInteger(start) || end <= start) return;
        cues.push({ start, end, ...text });
        budget.cues--;
        budget.bytes -= size;
        used += size;
        return;
      }
      whole = false;
      budget.cues += cues.length;
      budget.bytes += used;
      cues.length = 0;
    },
  };
}

const MAX_FILE_BYTES = 8 * MIB;

/** Throws `input_too_large` for a subtitle file of more than 8 MiB. */
export function checkTextSize(bytes: number): void {
  if (bytes > MAX_FILE_BYTES) throw errors.largeFile({ maxBytes: MAX_FILE_BYTES });
}

/**
 * Reads a subtitle file within a budget. Rejects with `input_unsupported` for any other file, and with `input_too_large` when it
 * exceeds the budget.
 */
export async function readTextFile(
  reader: ByteReader,
  signal: AbortSignal,
  budget: CueBudget = { ...CUE_LIMITS },
): Promise<{ format: SubtitleFormat; cues: readonly Cue[] }> {
  checkTextSize(reader.size);
  const text = decodeSubtitles(await reader.read({ start: 0, end: reader.size }, signal));
  if (text === null) throw errors.notUnicode();
  const file = readSubtitleFile(text);
  if (!file) throw errors.formatUnknown();
  const list = createCueList(budget);
  for (const cue of file.cues) {
    if (!cue) throw errors.longCue({ maxLength: MAX_CUE_LENGTH });
    const { start, end, ...content } = cue;
    list.add({ start, end }, content, 0);
    if (!list.whole) throw tooMuchText();
  }
  return { format: file.format, cues: list.cues };
}

/** Creates the error for subtitles that exceed an output's limits. */
export function tooMuchText(): MediaError {
  return errors.tooMuchText(CUE_LIMITS);
}
