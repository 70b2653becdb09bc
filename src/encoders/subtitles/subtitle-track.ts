import type { ByteReader } from "../../core/ports.ts";
import type { Plan, SubtitlePlan } from "../../plan/plan.ts";
import type { Cue, Shown } from "../../subtitles/cue.ts";

/** A text track of an output: what its plan says, and its cues in order of time. */
export interface SubtitleTrack extends Omit<SubtitlePlan, "stream"> {
  cues: readonly Cue[];
}

/** Returns the stretch of the source that a plan's output shows. */
export function shownBy({ start, duration, speed = 1 }: Plan): Shown {
  return { start, duration, speed };
}

/** Reads the cues of some of a file's streams, by index; a stream that cannot be read is absent. */
export type CueReader = (
  reader: ByteReader,
  streams: readonly number[],
  reading: { signal: AbortSignal; onWait(): void },
) => Promise<ReadonlyMap<number, readonly Cue[]>>;

/** Bounds of a track: more is no text that people read. */
export const MOST = { cues: 100_000, bytes: 16 * 2 ** 20 } as const;

/** Collects the cues of a track within {@link MOST}. */
export interface CueList {
  readonly cues: Cue[];
  /** Whether everything fits. */
  readonly whole: boolean;
  add(cue: Omit<Cue, "text" | "settings">, text: Pick<Cue, "text" | "settings"> | null): void;
}

export function createCueList(): CueList {
  const cues: Cue[] = [];
  let [left, whole]: [number, boolean] = [MOST.bytes, true];
  return {
    cues,
    get whole() {
      return whole;
    },
    add({ start, end }, text) {
      left -= text ? text.text.length + text.settings.length : 0;
      whole &&= left >= 0 && cues.length < MOST.cues;
      if (text && whole && Number.isSafeInteger(start) && end > start) cues.push({ start, end, ...text });
    },
  };
}
