import { MediaError } from "../media/errors.ts";
import type { SubtitleFacts } from "../media/features/subtitles.ts";
import type { Plan } from "../media/plan.ts";
import type { ByteReader } from "../runs/ports.ts";
import { MIB } from "../util/bytes.ts";
import { type Cue, LONGEST_TEXT, type Shown } from "./cue.ts";
import { decodeSubtitles, readSubtitleFile, type SubtitleFormat } from "./text-formats.ts";

/** A text track of an output: what its plan says, and its cues in order of time. */
export interface SubtitleTrack extends SubtitleFacts {
  cues: readonly Cue[];
}

/** Returns the stretch of the source that a plan's output shows. */
export function shownBy({ start, duration, speed = 1 }: Plan): Shown {
  return { start, duration, speed };
}

/**
 * Reads the cues of some of a file's streams, by index, timed from its first picture or sound; a stream that cannot be read whole is
 * absent.
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

/** Bounds of all the text of a file: more is no text that people read. `read` are the bytes that are read for it. */
export const MOST = { cues: 200_000, bytes: 16 * 2 ** 20, read: 64 * 2 ** 20 } as const;

/** What the tracks of a file may still take. */
export type Room = Record<keyof typeof MOST, number>;

/** Collects the cues of a track within the room that the tracks of a file share. */
export interface CueList {
  readonly cues: Cue[];
  /** Whether everything fits; a list that does not is empty. */
  readonly whole: boolean;
  /** Adds what `read` bytes of the file say. */
  add(cue: Omit<Cue, "text" | "settings">, text: Pick<Cue, "text" | "settings"> | null, read: number): void;
}

export function createCueList(room: Room): CueList {
  const cues: Cue[] = [];
  let [taken, whole] = [0, true];
  return {
    cues,
    get whole() {
      return whole;
    },
    add({ start, end }, text, read) {
      if (!whole) return;
      room.read -= read;
      const size = text ? text.text.length + text.settings.length : 0;
      if (room.read >= 0 && size <= room.bytes && (!text || room.cues > 0)) {
        if (!text || !Number.isSafeInteger(start) || end <= start) return;
        cues.push({ start, end, ...text });
        room.cues--;
        room.bytes -= size;
        taken += size;
        return;
      }
      // Without it, the others may have its room.
      whole = false;
      room.cues += cues.length;
      room.bytes += taken;
      cues.length = 0;
    },
  };
}

/** Bytes of a file of subtitles that is read; those of the longest films are a hundredth of that. */
const MOST_BYTES = 8 * MIB;

/** Throws `input_too_large` for a file of subtitles of so many bytes, unless it is read. */
export function checkTextSize(bytes: number): void {
  if (bytes <= MOST_BYTES) return;
  throw new MediaError("input_too_large", `It must be subtitles of at most ${MOST_BYTES / MIB} MiB.`);
}

/**
 * Reads a file of subtitles within what the text of an output may take. Rejects with `input_unsupported` when it is none, and
 * `input_too_large` when it holds more.
 */
export async function readTextFile(
  reader: ByteReader,
  signal: AbortSignal,
  room: Room = { ...MOST },
): Promise<{ format: SubtitleFormat; cues: readonly Cue[] }> {
  checkTextSize(reader.size);
  const text = decodeSubtitles(await reader.read({ start: 0, end: reader.size }, signal));
  if (text === null) throw new MediaError("input_unsupported", ENCODING);
  const found = readSubtitleFile(text);
  if (!found) throw new MediaError("input_unsupported", FORMAT);
  const list = createCueList(room);
  for (const cue of found.cues) {
    if (!cue) throw new MediaError("input_too_large", LONG);
    const { start, end, ...shown } = cue;
    list.add({ start, end }, shown, 0);
    if (!list.whole) throw tooMuchText();
  }
  return { format: found.format, cues: list.cues };
}

/** Creates the error of subtitles past what an output may hold. */
export function tooMuchText(): MediaError {
  const most = `${MOST.cues.toLocaleString("en")} cues and ${MOST.bytes / MIB} MiB of text`;
  return new MediaError("input_too_large", `An output can hold ${most}, in all of its tracks.`);
}

const ENCODING = "It must be text in UTF-8, or in UTF-16 with a byte order mark.";
const LONG = `None of its texts can have more than ${LONGEST_TEXT} letters.`;
const FORMAT = "It must be subtitles in SRT, WebVTT, ASS or SSA.";
