import type { Chapter } from "../../media/chapters.ts";
import { type ContainerFamily, containerOf, isIsobmff, isQuickTime } from "../../media/containers.ts";
import { canonicalLanguage } from "../../media/features/track.ts";
import { nameTracks, periodText, type StreamText } from "../../media/ffmpeg/manifests.ts";
import { adaptiveMime } from "../../media/ffmpeg/output-files.ts";
import type { VideoFormat } from "../../media/formats.ts";
import { type Plan, sourceEnd } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { type EditOptions, editFile } from "../../mux/file-edit.ts";
import { addToMp4 } from "../../mux/mp4-text.ts";
import { addToWebm } from "../../mux/webm-text.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { type Cue, flattenCues, shiftCues } from "../../subtitles/cue.ts";
import { readMatroskaCues } from "../../subtitles/matroska-text.ts";
import { writeWebvtt } from "../../subtitles/text-formats.ts";
import { fitsTimedText, readMp4Cues } from "../../subtitles/timed-text.ts";
import {
  CUE_LIMITS,
  type CueBudget,
  type CueReader,
  readTextFile,
  type SubtitleTrack,
  shownRange,
  tooMuchText,
} from "../../subtitles/track.ts";
import type { EncodedFile } from "../encoder.ts";

export interface SubtitleReading {
  plan: Plan;
  source: Source;
  signal: AbortSignal;
  /** Opens the extra input with a number; absent where no track is made from one. */
  text?: ((file: number) => Promise<ByteReader>) | undefined;
  /** Called from time to time while a large file is read. */
  onWait(): void;
}

const READERS: Readonly<Partial<Record<ContainerFamily, CueReader>>> = {
  isobmff: readMp4Cues,
  matroska: readMatroskaCues,
};

/** The text tracks of an output. */
export interface Subtitles {
  tracks: SubtitleTrack[];
  /** Streams of the source whose text the output lacks, because they are unreadable or too large. */
  lost: number[];
}

/**
 * Reads the text tracks of a plan, with the times of the output. Rejects with `input_too_large` when a subtitle file does not fit into
 * the output with the other tracks.
 */
export async function readSubtitles(
  { plan, source, text, ...reading }: SubtitleReading,
  reader: ByteReader,
): Promise<Subtitles> {
  const { subtitles = [] } = plan;
  const streams = subtitles.flatMap(({ stream }) => stream ?? []);
  const until = (sourceEnd(plan) ?? Number.POSITIVE_INFINITY) * 1000;
  const { family } = containerOf(source);
  const read = streams.length > 0 && family ? READERS[family] : undefined;
  const cuesByStream = await read?.(reader, streams, { ...reading, until });
  const [tracks, lost]: [SubtitleTrack[], number[]] = [[], []];
  const files: CueBudget = { ...CUE_LIMITS };
  let room = MAX_WRITTEN;
  for (const { stream, file, ...facts } of subtitles) {
    const cues =
      file === undefined
        ? cuesByStream?.get(stream)
        : text && (await readTextFile(await text(file), reading.signal, files)).cues;
    const visibleCues = cues && shiftCues(cues, shownRange(plan));
    const size = visibleCues ? writtenSize(visibleCues, plan, room) : Number.POSITIVE_INFINITY;
    if (visibleCues && size <= room) {
      room -= size;
      tracks.push({ ...facts, cues: visibleCues });
    } else if (stream !== undefined) lost.push(stream);
    else throw tooMuchText();
  }
  return { tracks, lost };
}

const MAX_WRITTEN = 2 * CUE_LIMITS.bytes;
const CUE_TIMES = 32;

/** Returns the letters that cues take in an output, where a cue may repeat in several segments; stops counting beyond `max`. */
function writtenSize(cues: readonly Cue[], { kind, format }: Plan, max: number): number {
  let size = 0;
  if (kind === "adaptive_video") {
    for (const { start, end, text, settings } of cues)
      size += (2 + (end - start) / (SEGMENT_SECONDS * 1000)) * (text.length + settings.length + CUE_TIMES);
    return size;
  }
  const timed = isIsobmff(format);
  for (const { text } of timed ? flattenCues(cues) : cues) {
    if (timed && !fitsTimedText(text)) return Number.POSITIVE_INFINITY;
    size += text.length + CUE_TIMES;
    if (size > max) break;
  }
  return size;
}

// HLS text segments may be longer than those of pictures.
const SEGMENT_SECONDS = 30;
const MAX_SEGMENTS = 1000;

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

/** Writes the text tracks of adaptive video as WebVTT: segments for HLS, one file per Period for DASH. */
export function writeStreamTexts(
  tracks: readonly SubtitleTrack[],
  { seconds, periods }: StreamTimes,
): StreamTexts {
  const tracksWithLanguage = tracks.map((track) => ({
    ...track,
    language: canonicalLanguage(track.language),
  }));
  const names = nameTracks(tracksWithLanguage);
  const first = tracks.findIndex((track) => track.default);
  const all = tracksWithLanguage.map((track, index) => {
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
      folder,
      name: names[index] ?? "",
      segments: parts.map(({ start: _, end: __, ...part }) => part),
      language: track.language,
      ...(index === first && { default: true }),
      ...(track.forced && { forced: true }),
    };
    return { text, files };
  });
  return { texts: all.map(({ text }) => text), files: all.flatMap(({ files }) => files) };
}

function segmentsOf(folder: string, seconds: number, tracks: number) {
  const length = Math.max(SEGMENT_SECONDS, Math.ceil((seconds * tracks) / MAX_SEGMENTS));
  const count = Math.max(1, Math.ceil(seconds / length));
  return Array.from({ length: count }, (_, index) => {
    const start = index * length;
    const end = index === count - 1 ? seconds : start + length;
    const name = `${folder}/seg_${String(index + 1).padStart(5, "0")}.vtt`;
    return { name, seconds: end - start, line: `#EXTINF:${(end - start).toFixed(6)},`, start, end };
  });
}

function within(cues: readonly Cue[], start: number, end: number): Cue[] {
  return cues.filter((cue) => cue.start < ms(end) && cue.end > ms(start));
}

function ms(seconds: number): number {
  return Math.round(seconds * 1000);
}

function file(name: string, text: string): EncodedFile {
  return { name, mime: adaptiveMime(name), bytes: new TextEncoder().encode(text) };
}

/**
 * Adds text tracks and chapters to a finished video and streams the result: timed text in MP4 and MOV, WebVTT in WebM. Pictures and
 * sound are copied byte for byte.
 */
export async function addSubtitles(
  reader: ByteReader,
  format: VideoFormat,
  { tracks, chapters }: { tracks: readonly SubtitleTrack[]; chapters: readonly Chapter[] },
  editing: EditOptions,
): Promise<ReadableStream<Uint8Array>> {
  const edits = isIsobmff(format)
    ? await addToMp4(reader, tracks, chapters, isQuickTime(format))
    : await addToWebm(reader, tracks, chapters);
  return editFile(reader, edits, editing);
}
