import type { ByteReader } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import type { Plan } from "../../plan/plan.ts";
import { shiftCues } from "../../subtitles/cue.ts";
import { readMatroskaCues } from "./matroska-cues.ts";
import { readMp4Cues } from "./mp4-cues.ts";
import { type CueReader, type SubtitleTrack, shownBy } from "./subtitle-track.ts";

export interface SubtitleReading {
  plan: Plan;
  source: Source;
  signal: AbortSignal;
  /** Called from time to time while a large file is read. */
  onWait(): void;
}

const READERS: Readonly<Record<string, CueReader>> = {
  ...{ mp4: readMp4Cues, mov: readMp4Cues, matroska: readMatroskaCues, webm: readMatroskaCues },
};

/** Reads the text tracks of a plan from its source, as its output shows them; omits those that cannot be read. */
export async function readSubtitles(
  { plan, source, ...reading }: SubtitleReading,
  reader: ByteReader,
): Promise<SubtitleTrack[]> {
  const { subtitles = [] } = plan;
  const streams = subtitles.map(({ stream }) => stream);
  const found = await READERS[source.format]?.(reader, streams, reading);
  return subtitles.flatMap(({ stream, ...facts }) => {
    const cues = found?.get(stream);
    return cues ? [{ ...facts, cues: shiftCues(cues, shownBy(plan)) }] : [];
  });
}
