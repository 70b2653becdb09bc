import type { ByteReader } from "../../core/ports.ts";
import type { SubtitleFacts } from "../../media/features/subtitles.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Cue, Shown } from "../../subtitles/cue.ts";

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
