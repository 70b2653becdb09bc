import {
  ADTS,
  CustomSource,
  FLAC,
  Input,
  type InputAudioTrack,
  type InputFormat,
  type InputTrack,
  MATROSKA,
  MP3,
  MP4,
  OGG,
  QTFF,
  WAVE,
  WEBM,
} from "mediabunny";
import type { ByteReader } from "../core/ports.ts";
import type { Source, SourceStream } from "../core/source.ts";
import { mimeOf } from "../ffmpeg/ffprobe-names.ts";
import { withinBounds } from "./bounded-reader.ts";
import { codecName } from "./names.ts";
import { countPackets, type Packets } from "./packets.ts";
import { pictureFacts } from "./picture-facts.ts";
import type { TrackIndex } from "./sample-index.ts";
import { unsupported } from "./sniff.ts";

/** What mediabunny tells of a file. */
export interface Demuxed {
  source: Source;
  /** False when it left open what planning needs: a codec it does not know, pixels, or whether pictures are interlaced. */
  complete: boolean;
}

const FORMATS: ReadonlyMap<InputFormat, string> = new Map<InputFormat, string>([
  [MP4, "mp4"],
  [QTFF, "mov"],
  [MATROSKA, "matroska"],
  [WEBM, "webm"],
  [MP3, "mp3"],
  [WAVE, "wav"],
  [FLAC, "flac"],
  [OGG, "ogg"],
  [ADTS, "aac"],
]);

// Without an index these can only be measured by reading them through, which is done up to so many bytes.
const MB = 1024 * 1024;
const MEASURED: Readonly<Record<string, number>> = { aac: MB, matroska: 16 * MB, webm: 16 * MB, flac: 0 };

/** Reads a file's headers by ranges; null when it is of none of these formats after all, or has no streams that mediabunny knows. */
export async function demux(
  reader: ByteReader,
  formats: InputFormat[],
  index: ReadonlyMap<number, TrackIndex> | null,
  url: string,
): Promise<Demuxed | null> {
  const input = new Input({
    formats,
    source: new CustomSource({
      getSize: () => reader.size,
      read: (start, end) => reader.read({ start, end }),
      // What fails is heard of where it is waited for.
      handleUnhandledError: () => {},
      // So that every read comes by here, where an endless loop over a malformed file is stopped.
      maxCacheSize: 0,
    }),
  });
  try {
    return await readInput(input, index, reader.size, url);
  } finally {
    input.dispose();
  }
}

interface Track {
  track: InputTrack;
  stream: SourceStream;
  packets: Packets | null;
}

async function readInput(
  input: Input,
  index: ReadonlyMap<number, TrackIndex> | null,
  size: number,
  url: string,
): Promise<Demuxed | null> {
  if (!(await input.canRead())) return null;
  const format = FORMATS.get(await input.getFormat()) ?? "";
  const tracks: Track[] = [];
  const given = await input.getTracks();
  for (const track of given) {
    const read = await readTrack(track, format, tracks.length, index?.get(track.id));
    // An index is sure that there are no packets; else they may only be where mediabunny does not find them.
    if (read.packets?.any === false && !index) return null;
    if (read.packets?.any !== false) tracks.push(read);
  }
  const video = tracks.find(({ track }) => track.isVideoTrack());
  const audio = tracks.find(({ track }) => track.isAudioTrack());
  const [first] = tracks;
  if (!first && given.length > 0)
    throw unsupported("The file's streams are empty: there is nothing in them.");
  if (!first || (!video && !audio)) return null;
  const kind = video ? "video" : "audio";
  const picture = video?.track.isVideoTrack() ? await pictureFacts(video.track, video.packets?.rate) : null;
  const sound = audio?.track.isAudioTrack() ? await soundFacts(audio.track) : null;
  const mime = mimeOf(format, kind);
  // Last, as it may go beyond the bounds.
  const duration = index
    ? Math.max(...tracks.map(({ stream }) => stream.duration ?? 0)) || null
    : await durationOf(input, format, size, first.packets);
  const source: Source = {
    object: "source",
    url,
    kind,
    format,
    ...(mime ? { mime } : {}),
    filesize: size,
    ...picture?.facts,
    ...(duration ? { duration, bitrate: Math.round((size * 8) / duration) } : {}),
    codecs: { video: video?.stream.codec ?? null, audio: audio?.stream.codec ?? null },
    ...(sound ? { audio: sound } : {}),
    streams: tracks.map(({ stream }) => stream),
  };
  const named = tracks.every(({ stream }) => stream.codec !== null);
  const timed = duration !== null || format !== "flac";
  return { source, complete: named && timed && (picture?.complete ?? true) };
}

async function readTrack(
  track: InputTrack,
  format: string,
  place: number,
  index: TrackIndex | undefined,
): Promise<Track> {
  const codec = await track.getCodec();
  const packets = codec ? await countPackets(track, format, index) : null;
  // With an index mediabunny is asked for nothing that would make it read the index too: it takes far more memory for it.
  const bitrate = packets?.bitrate || (index ? 0 : await track.getAverageBitrate());
  const duration = index ? index.shown : await track.getDurationFromMetadata();
  const language = await track.getLanguageCode();
  const stream: SourceStream = {
    index: place,
    kind: track.type,
    codec: codec ? codecName(codec) : null,
    ...(duration ? { duration: microseconds(duration) } : {}),
    ...(bitrate ? { bitrate: Math.round(bitrate) } : {}),
    ...(language === "und" ? {} : { language }),
  };
  return { track, stream, packets };
}

async function soundFacts(audio: InputAudioTrack): Promise<{ channels: number; sample_rate: number }> {
  return { channels: await audio.getNumberOfChannels(), sample_rate: await audio.getSampleRate() };
}

async function durationOf(
  input: Input,
  format: string,
  size: number,
  packets: Packets | null,
): Promise<number | null> {
  const told = await withinBounds(() => input.getDurationFromMetadata());
  if (told && told > 0) return microseconds(told);
  const measured = size <= (MEASURED[format] ?? size);
  // The frames of ADTS are much the same size all along.
  const guessed = !measured && format === "aac" && packets ? (size * 8) / packets.bitrate : null;
  const seconds = measured ? await withinBounds(() => input.computeDuration()) : guessed;
  return seconds && seconds > 0 ? microseconds(seconds) : null;
}

function microseconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
