import type { ByteReader } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import { isCopy, type Plan, sourceEnd } from "../../plan/plan.ts";
import { type Cue, flattenCues, shiftCues } from "../../subtitles/cue.ts";
import { readMatroskaCues } from "./matroska-cues.ts";
import { readMp4Cues } from "./mp4-cues.ts";
import { SEGMENT_SECONDS } from "./stream-text.ts";
import { type CueReader, MOST, type SubtitleTrack, shownBy } from "./subtitle-track.ts";

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

/** The text tracks of an output. */
export interface Subtitles {
  tracks: SubtitleTrack[];
  /** Streams of the source whose text the output lacks: they cannot be read, or hold more than people read. */
  lost: number[];
}

/** Reads the text tracks of a plan from its source, as its output shows them. */
export async function readSubtitles(
  { plan, source, ...reading }: SubtitleReading,
  reader: ByteReader,
): Promise<Subtitles> {
  const { subtitles = [] } = plan;
  const streams = subtitles.map(({ stream }) => stream);
  const until = (sourceEnd(plan) ?? Number.POSITIVE_INFINITY) * 1000;
  const found = await READERS[source.format]?.(reader, streams, {
    ...reading,
    until,
    rebased: !isCopy(plan),
  });
  const [tracks, lost]: [SubtitleTrack[], number[]] = [[], []];
  let room = MOST_WRITTEN;
  for (const { stream, ...facts } of subtitles) {
    const cues = found?.get(stream);
    const shown = cues && shiftCues(cues, shownBy(plan));
    const size = shown ? writtenSize(shown, plan, room) : Number.POSITIVE_INFINITY;
    if (shown && size <= room) {
      room -= size;
      tracks.push({ ...facts, cues: shown });
    } else lost.push(stream);
  }
  return { tracks, lost };
}

// Letters of all tracks of an output, which is in memory at once.
const MOST_WRITTEN = 2 * MOST.bytes;
// The times of a cue.
const CUE = 32;

/** Returns the letters that the cues of an output take, those in several pieces or segments in each; more than `most` is not counted. */
function writtenSize(cues: readonly Cue[], { kind, format }: Plan, most: number): number {
  let size = 0;
  if (kind === "adaptive_video") {
    for (const { start, end, text, settings } of cues)
      size += (2 + (end - start) / (SEGMENT_SECONDS * 1000)) * (text.length + settings.length + CUE);
    return size;
  }
  for (const { text } of format === "webm" ? cues : flattenCues(cues)) {
    size += text.length + CUE;
    if (size > most) break;
  }
  return size;
}
