import type { ByteReader } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import { type Plan, sourceEnd } from "../../plan/plan.ts";
import { type Cue, flattenCues, shiftCues } from "../../subtitles/cue.ts";
import { readMatroskaCues } from "../../subtitles/matroska-text.ts";
import { fitsTimedText, readMp4Cues } from "../../subtitles/timed-text.ts";
import {
  type CueReader,
  MOST,
  type Room,
  readTextFile,
  type SubtitleTrack,
  shownBy,
  tooMuchText,
} from "../../subtitles/track.ts";
import { SEGMENT_SECONDS } from "./stream-text.ts";

export interface SubtitleReading {
  plan: Plan;
  source: Source;
  signal: AbortSignal;
  /** Opens the further input of a number; absent where no track is made of one. */
  text?: ((file: number) => Promise<ByteReader>) | undefined;
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

/**
 * Reads the text tracks of a plan, as its output shows them. Rejects with `input_too_large` when a file of subtitles does not fit
 * into the output beside the other tracks.
 */
export async function readSubtitles(
  { plan, source, text, ...reading }: SubtitleReading,
  reader: ByteReader,
): Promise<Subtitles> {
  const { subtitles = [] } = plan;
  const streams = subtitles.flatMap(({ stream }) => stream ?? []);
  const until = (sourceEnd(plan) ?? Number.POSITIVE_INFINITY) * 1000;
  const read = streams.length > 0 ? READERS[source.format] : undefined;
  const found = await read?.(reader, streams, { ...reading, until });
  const [tracks, lost]: [SubtitleTrack[], number[]] = [[], []];
  const files: Room = { ...MOST };
  let room = MOST_WRITTEN;
  for (const { stream, file, ...facts } of subtitles) {
    const cues =
      file === undefined
        ? found?.get(stream)
        : text && (await readTextFile(await text(file), reading.signal, files)).cues;
    const shown = cues && shiftCues(cues, shownBy(plan));
    const size = shown ? writtenSize(shown, plan, room) : Number.POSITIVE_INFINITY;
    if (shown && size <= room) {
      room -= size;
      tracks.push({ ...facts, cues: shown });
    } else if (stream !== undefined) lost.push(stream);
    else throw tooMuchText();
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
  const timed = format !== "webm";
  for (const { text } of timed ? flattenCues(cues) : cues) {
    if (timed && !fitsTimedText(text)) return Number.POSITIVE_INFINITY;
    size += text.length + CUE;
    if (size > most) break;
  }
  return size;
}
