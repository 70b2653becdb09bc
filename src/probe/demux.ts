import {
  ADTS,
  CustomSource,
  FLAC,
  Input,
  type InputAudioTrack,
  type InputFormat,
  type InputTrack,
  Logging,
  LogLevel,
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
import { type ExtrasSource, readExtras, withExtras } from "./extras.ts";
import type { FileStart } from "./file-start.ts";
import type { MovieIndex } from "./isobmff/isobmff.ts";
import type { TrackIndex } from "./isobmff/sample-index.ts";
import { readMatroskaStart } from "./matroska/matroska-start.ts";
import { codecName } from "./names.ts";
import { countPackets, type Packets } from "./packets.ts";
import { pictureFacts } from "./picture-facts.ts";
import { unsupported } from "./sniff.ts";
import { readMp3Start } from "./sound/mp3-start.ts";
import { completeStreams, durationOf, type Measures, microseconds } from "./whole-file.ts";

export interface Demuxed {
  source: Source;
  /** False when something needed for planning is missing: a known codec, the pixel format, or whether pictures are interlaced. */
  complete: boolean;
  /** Whether packets may hold sound of another rate and more channels than headers state, as those of HE-AAC do. */
  implicit: boolean;
}

// Each time it opens a file, mediabunny would print the codecs that it does not know to the console of the page; the probe itself names them.
Logging.level = LogLevel.Errors;

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

/** Reads a file's headers by ranges; null when it turns out to be of another format, or has no streams that mediabunny knows. */
export async function demux(
  reader: ByteReader,
  formats: InputFormat[],
  movie: MovieIndex | null,
  url: string,
): Promise<Demuxed | null> {
  const matroska = formats.includes(MATROSKA) ? await readMatroskaStart(reader) : null;
  const start = formats.includes(MP3) ? await readMp3Start(reader) : (matroska?.start ?? null);
  const measure = () => withInput(reader, formats, (whole) => whole.computeDuration());
  const index = movie?.tracks ?? null;
  return withInput(start?.reader ?? reader, formats, (input) =>
    readInput(input, {
      ...{ index, start, size: reader.size, url, measure },
      extras: { reader, movie, matroska: matroska?.extras ?? null },
      delays: matroska?.delays ?? new Map(),
    }),
  );
}

/** Seconds at which the last packet of the first track of each kind ends, counted from the start of the file's first stream. */
export type TrackEnds = ReadonlyMap<SourceStream["kind"], number>;

/** Reads the ends of the tracks of a fragmented MP4, whose index lists none of their packets; empty where that takes too many reads. */
export async function readFragmentEnds(reader: ByteReader, formats: InputFormat[]): Promise<TrackEnds> {
  const read = () =>
    withInput(reader, formats, async (input) => {
      const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
      const tracks = [video, audio].filter((track) => track !== null);
      const origin = Math.max(0, await input.getFirstTimestamp());
      const ends = new Map<SourceStream["kind"], number>();
      for (const track of tracks)
        ends.set(track.type, microseconds((await track.computeDuration()) - origin));
      return ends;
    });
  return (await withinBounds(read)) ?? new Map();
}

interface Given extends Measures {
  index: ReadonlyMap<number, TrackIndex> | null;
  url: string;
  extras: ExtrasSource;
  delays: ReadonlyMap<number, number>;
}

async function withInput<T>(
  reader: ByteReader,
  formats: InputFormat[],
  use: (input: Input) => Promise<T>,
): Promise<T> {
  const input = new Input({
    formats,
    source: new CustomSource({
      getSize: () => reader.size,
      read: (start, end) => reader.read({ start, end }),
      // Failures are observed where they are awaited.
      handleUnhandledError: () => {},
      // So that every read passes through the bounds, which stop an endless loop over a malformed file.
      maxCacheSize: 0,
    }),
  });
  try {
    return await use(input);
  } finally {
    input.dispose();
  }
}

interface Track {
  track: InputTrack;
  stream: SourceStream;
  packets: Packets | null;
}

async function readInput(input: Input, known: Given): Promise<Demuxed | null> {
  const { index, size, url } = known;
  if (!(await input.canRead())) return null;
  const format = FORMATS.get(await input.getFormat()) ?? "";
  const tracks: Track[] = [];
  const given = await input.getTracks();
  for (const track of given) {
    const more = tracks.some((other) => other.track.isAudioTrack() && track.isAudioTrack());
    const read = await readTrack(track, format, tracks.length, known, more);
    // Only an index proves that there are no packets; without one, mediabunny may just not find them.
    if (read.packets?.any === false && !index) return null;
    if (read.packets?.any !== false) tracks.push(read);
  }
  const video = tracks.find(({ track }) => track.isVideoTrack());
  const audio = tracks.find(({ track }) => track.isAudioTrack());
  const [first] = tracks;
  if (!first && given.length > 0) throw unsupported("The file's streams are empty.");
  if (!first || (!video && !audio)) return null;
  const kind = video ? "video" : "audio";
  const picture = video?.track.isVideoTrack() ? await pictureFacts(video.track, video.packets?.rate) : null;
  const sound = audio?.track.isAudioTrack() ? await soundFacts(audio.track) : null;
  const mime = mimeOf(format, kind);
  const extras = await readExtras(input, format, known.extras);
  // Last, because it may exceed the bounds.
  const duration = index
    ? Math.max(...tracks.map(({ stream }) => stream.duration ?? 0)) || null
    : await durationOf(input, format, known, first.packets);
  const priming = await primingOf(given, known.delays);
  const source: Source = {
    object: "source",
    url,
    kind,
    format,
    ...(mime ? { mime } : {}),
    filesize: size,
    ...picture?.facts,
    ...(duration ? { duration, bitrate: Math.round((size * 8) / duration) } : {}),
    ...(priming > 0 ? { priming } : {}),
    codecs: { video: video?.stream.codec ?? null, audio: audio?.stream.codec ?? null },
    ...(sound ? { audio: sound } : {}),
    streams: completeStreams(
      tracks.map(({ track, stream }) => ({ ...stream, index: extras.places.get(track.id) ?? stream.index })),
      known.start,
      duration,
    ),
  };
  const named = tracks.every(({ stream }) => stream.codec !== null);
  const timed = duration !== null || format !== "flac";
  // Only Matroska counts chapters from elsewhere.
  const origin = known.extras.matroska ? Math.max(0, await input.getFirstTimestamp()) : 0;
  return {
    source: withExtras(source, extras, origin),
    complete: named && timed && (picture?.complete ?? true),
    implicit: (
      await Promise.all(tracks.map(({ track }) => track.isAudioTrack() && isImplicit(track)))
    ).includes(true),
  };
}

async function readTrack(
  track: InputTrack,
  format: string,
  place: number,
  known: Given,
  more: boolean,
): Promise<Track> {
  const index = known.index?.get(track.id);
  const codec = await track.getCodec();
  const packets = codec ? await countPackets(track, format, index, known.start) : null;
  // With an index of our own, avoid what would make mediabunny read the index too: it takes far more memory.
  const bitrate = packets?.bitrate || (index ? 0 : await track.getAverageBitrate());
  const duration = index ? index.shown : await track.getDurationFromMetadata();
  const language = await track.getLanguageCode();
  const end = index ? index.end : await endOf(track, known.start);
  const stream: SourceStream = {
    index: place,
    kind: track.type,
    codec: codec ? codecName(codec) : null,
    ...(duration ? { duration: microseconds(duration) } : {}),
    ...(end ? { end } : {}),
    ...(bitrate ? { bitrate: Math.round(bitrate) } : {}),
    ...(language === "und" ? {} : { language }),
    // What the first track has is known of the source itself.
    ...(more && track.isAudioTrack() ? await soundFacts(track) : {}),
  };
  return { track, stream, packets };
}

// Playback of a file starts with its first stream.
async function endOf(track: InputTrack, start: FileStart | null): Promise<number | null> {
  const end = start?.ends.get(track.id);
  return end === undefined ? null : microseconds(end - Math.max(0, await track.input.getFirstTimestamp()));
}

// mediabunny (1.61) counts from the first packet and ignores delays; ffmpeg subtracts the first packet's delay.
async function primingOf(
  tracks: readonly InputTrack[],
  delays: ReadonlyMap<number, number>,
): Promise<number> {
  if (![...delays.values()].some((delay) => delay > 0)) return 0;
  const firsts = await Promise.all(tracks.map((track) => track.getFirstTimestamp()));
  const starts = firsts.map((first, place) => first - (delays.get(tracks[place]?.id ?? 0) ?? 0));
  return microseconds(Math.max(0, Math.min(...firsts)) - Math.min(...starts));
}

// In hertz; the packets of HE-AAC hold the double of its core.
const HIGHEST_CORE = 24_000;
const SBR = "mp4a.40.5";

// ISO/IEC 14496-3, 1.6.5: SBR need not be signaled, nor what makes two channels of one, PS. mediabunny (1.61) reads what is signaled.
async function isImplicit(audio: InputAudioTrack): Promise<boolean> {
  if ((await audio.getCodec()) !== "aac") return false;
  if ((await audio.getSampleRate()) <= HIGHEST_CORE) return true;
  return (await audio.getNumberOfChannels()) === 1 && (await audio.getCodecParameterString()) === SBR;
}

async function soundFacts(audio: InputAudioTrack): Promise<{ channels: number; sample_rate: number }> {
  return { channels: await audio.getNumberOfChannels(), sample_rate: await audio.getSampleRate() };
}
