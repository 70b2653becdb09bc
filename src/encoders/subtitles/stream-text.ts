import { nameTracks } from "../../core/streams/track-names.ts";
import { adaptiveMime } from "../../ffmpeg/output.ts";
import { periodText, type StreamText } from "../../ffmpeg/text/stream-text.ts";
import { canonicalLanguage } from "../../media/features/track.ts";
import type { Cue } from "../../subtitles/cue.ts";
import { writeWebvtt } from "../../subtitles/webvtt.ts";
import type { EncodedFile } from "../encoder.ts";
import type { SubtitleTrack } from "./subtitle-track.ts";

/** Least seconds of text in a segment of HLS. Those of text may be longer than those of pictures. */
export const SEGMENT_SECONDS = 30;
// Most segments of all tracks, which are written one after another.
const MOST_SEGMENTS = 1000;

export interface StreamTexts {
  texts: StreamText[];
  files: EncodedFile[];
}

/** Times of a stream, in seconds. */
export interface StreamTimes {
  /** Length of the stream; null without playlists. */
  seconds: number | null;
  /** Periods of a DASH manifest; empty without one. */
  periods: readonly { start: number; end: number }[];
}

/** Writes the text tracks of adaptive video as files of WebVTT: segments for HLS, one for each Period of DASH. */
export function writeStreamTexts(
  tracks: readonly SubtitleTrack[],
  { seconds, periods }: StreamTimes,
): StreamTexts {
  const known = tracks.map((track) => ({ ...track, language: canonicalLanguage(track.language) }));
  const names = nameTracks(known);
  const first = tracks.findIndex((track) => track.default);
  const all = known.map((track, index) => {
    const folder = index === 0 ? "subtitles" : `subtitles_${index}`;
    const parts = seconds === null ? [] : segmentsOf(folder, seconds, tracks.length);
    const files = [
      ...parts.map(({ name, start, end }) => file(name, writeWebvtt(within(track.cues, start, end), true))),
      ...periods.map(({ start, end }, period) => {
        const cues = within(track.cues, start, end).map((cue) => ({
          ...cue,
          start: Math.max(0, cue.start - ms(start)),
          end: Math.min(cue.end, ms(end)) - ms(start),
        }));
        return file(periodText(folder, period), writeWebvtt(cues));
      }),
    ];
    const text: StreamText = {
      ...{ folder, name: names[index] ?? "", segments: parts.map(({ start: _, end: __, ...part }) => part) },
      language: track.language,
      ...(index === first && { default: true }),
      ...(track.forced && { forced: true }),
    };
    return { text, files };
  });
  return { texts: all.map(({ text }) => text), files: all.flatMap(({ files }) => files) };
}

function segmentsOf(folder: string, seconds: number, tracks: number) {
  const length = Math.max(SEGMENT_SECONDS, Math.ceil((seconds * tracks) / MOST_SEGMENTS));
  const count = Math.max(1, Math.ceil(seconds / length));
  return Array.from({ length: count }, (_, index) => {
    const start = index * length;
    const end = index === count - 1 ? seconds : start + length;
    const name = `${folder}/seg_${String(index + 1).padStart(5, "0")}.vtt`;
    return { name, seconds: end - start, line: `#EXTINF:${(end - start).toFixed(6)},`, start, end };
  });
}

// A cue is in every segment in which it is shown.
function within(cues: readonly Cue[], start: number, end: number): Cue[] {
  return cues.filter((cue) => cue.start < ms(end) && cue.end > ms(start));
}

function ms(seconds: number): number {
  return Math.round(seconds * 1000);
}

function file(name: string, text: string): EncodedFile {
  return { name, mime: adaptiveMime(name), bytes: new TextEncoder().encode(text) };
}
