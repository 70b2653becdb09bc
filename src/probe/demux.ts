import {
  ADTS,
  FLAC,
  type Input,
  type InputAudioTrack,
  type InputFormat,
  type InputTrack,
  type InputVideoTrack,
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
import { type FileChapter, readChapters, readCommentChapters } from "../media/chapters.ts";
import { EPSILON_SECONDS, roundTime } from "../media/clock.ts";
import { containerOf, isMatroska, type TagScheme } from "../media/containers.ts";
import { USUAL_DEPTH } from "../media/features/audio-format.ts";
import * as mediaErrors from "../media/ffmpeg/errors.ts";
import { mimeOf } from "../media/ffmpeg/ffprobe.ts";
import { mainTrack, type TrackFacts } from "../media/main-tracks.ts";
import { displayedSize, type Orientation } from "../media/picture-geometry.ts";
import type { Source, SourceColor, SourceStream } from "../media/source.ts";
import { COVER_CODECS, readTags, type TagFacts } from "../media/tags.ts";
import type { ByteReader } from "../runs/ports.ts";
import { bytesOf } from "../util/bytes.ts";
import { type Pixels, readPixels } from "./codec-headers.ts";
import {
  countPackets,
  durationOf,
  type Measures,
  type Packets,
  type RestStream,
  restStream,
  timeStreams,
} from "./durations.ts";
import * as errors from "./errors.ts";
import { readMatroskaStart } from "./matroska.ts";
import type { MatroskaExtras } from "./matroska-extras.ts";
import { openUncached, startTime } from "./mediabunny.ts";
import { isOtherLayer, readBroadcastTags, readChunkId3, readId3, readMp3Start } from "./mp3.ts";
import { type MovieIndex, readMovieChapters, readMovieExtras } from "./mp4.ts";
import type { TrackIndex } from "./mp4-boxes.ts";
import { type FileStart, withinBounds } from "./reader.ts";

export interface Demuxed {
  source: Source;
  /** Whether planning has all facts that it needs: codecs, the pixel format, and whether pictures are interlaced. */
  complete: boolean;
  /** Whether the sound may have a higher rate or more channels than the headers state, as in HE-AAC. */
  implicit: boolean;
  rest: RestStream | null;
}

// By default, mediabunny prints unknown codecs to the page's console.
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

/** Reads a file's headers by ranges; null when its format differs or mediabunny supports none of its streams. */
export async function demux(
  reader: ByteReader,
  formats: InputFormat[],
  movie: MovieIndex | null,
  url: string,
): Promise<Demuxed | null> {
  if (formats.includes(MP3) && (await isOtherLayer(reader))) return null;
  const matroska = formats.includes(MATROSKA) ? await readMatroskaStart(reader) : null;
  const start = formats.includes(MP3) ? await readMp3Start(reader) : (matroska?.start ?? null);
  const measure = () => withInput(reader, formats, (whole) => whole.computeDuration());
  const index = movie?.tracks ?? null;
  return withInput(start?.reader ?? reader, formats, (input) =>
    readInput(input, {
      index,
      start,
      size: reader.size,
      url,
      measure,
      extras: { reader, movie, matroska: matroska?.extras ?? null },
      delays: matroska?.delays ?? new Map(),
      hidden: (matroska?.disabled.size ?? 0) > 0,
    }),
  );
}

/** End in seconds of the last packet of each track, from the start of the file's first stream, by the stream's index. */
export type TrackEnds = ReadonlyMap<number, number>;

/** Reads the ends of the tracks of a fragmented MP4, whose index lists no packets; empty when that takes too many reads. */
export async function readFragmentEnds(
  movie: MovieIndex,
  formats: InputFormat[],
  reader: ByteReader,
): Promise<TrackEnds> {
  const { places } = readMovieExtras(movie);
  const read = () =>
    withInput(reader, formats, async (input) => {
      const origin = await startTime(input);
      const ends = new Map<number, number>();
      for (const track of await input.getTracks()) {
        const index = places.get(track.id);
        if (index !== undefined) ends.set(index, roundTime((await track.computeDuration()) - origin));
      }
      return ends;
    });
  return (await withinBounds(read)) ?? new Map();
}

interface DemuxContext extends Measures {
  index: ReadonlyMap<number, TrackIndex> | null;
  url: string;
  extras: ExtrasSource;
  delays: ReadonlyMap<number, number>;
  /** Whether mediabunny does not list all tracks. */
  hidden: boolean;
}

async function withInput<T>(
  reader: ByteReader,
  formats: InputFormat[],
  use: (input: Input) => Promise<T>,
): Promise<T> {
  const input = openUncached(reader, formats);
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
  facts: TrackFacts;
  /** Channels and sample rate of an audio track. */
  sound: { channels: number; sample_rate: number } | null;
}

function hasPackets({ packets }: Track): boolean {
  return packets?.any !== false;
}

async function readInput(input: Input, context: DemuxContext): Promise<Demuxed | null> {
  const { index, size, url } = context;
  if (!(await input.canRead())) return null;
  const format = FORMATS.get(await input.getFormat()) ?? "";
  const all: Track[] = [];
  const inputTracks = await input.getTracks();
  for (const track of inputTracks) {
    const read = await readTrack(track, format, all.length, context);
    // Only an index proves that there are no packets; otherwise mediabunny may have missed them.
    if (read.packets?.any === false && !index) return null;
    all.push(read);
  }
  const first = all.find(hasPackets);
  if (!first && inputTracks.length > 0) throw errors.emptyStreams();
  // ffmpeg counts an empty track before another of its kind.
  const tracks = all.filter(({ track }, at) =>
    all.slice(at).some((other) => hasPackets(other) && other.track.type === track.type),
  );
  const main = (type: "video" | "audio") => {
    const own = tracks.filter(({ track }) => track.type === type);
    const place = mainTrack(
      type,
      own.map(({ facts }) => facts),
    );
    return [own[place], place] as const;
  };
  const [[video, video_track], [audio, sound_track]] = [main("video"), main("audio")];
  if (!first || (!video && !audio)) return null;
  const kind = video ? "video" : "audio";
  const trackIndex = video && index?.get(video.track.id);
  const picture = video?.track.isVideoTrack()
    ? await pictureFacts(video.track, video.packets, trackIndex)
    : null;
  const sound = audio?.sound ?? null;
  if (context.extras.matroska) await checkStart(video?.track, audio?.track);
  const mime = mimeOf(format, kind);
  const extras = await readExtras(input, format, context.extras);
  // The duration comes last, because it may exceed the bounds.
  const duration = index
    ? Math.max(...tracks.map(({ stream }) => stream.duration ?? 0)) || null
    : await durationOf(input, format, context, first.packets);
  const priming = await primingOf(inputTracks, context.delays);
  const streams = tracks.map((each) => ({
    ...each.stream,
    index: extras.places.get(each.track.id) ?? each.stream.index,
    ...(each === audio && sound_track === 0 ? {} : each.sound),
  }));
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
    streams: timeStreams(streams, context.start, duration),
    ...(video_track > 0 && { video_track }),
    ...(sound_track > 0 && { sound_track }),
  };
  const hasCodecs = tracks.every(({ stream }) => stream.codec !== null);
  const timed = duration !== null || containerOf({ format }).max_measured > 0;
  const origin = context.extras.matroska ? await startTime(input) : 0;
  return {
    source: withExtras(source, extras, origin),
    complete: hasCodecs && timed && !context.hidden && (picture?.complete ?? true),
    implicit: (
      await Promise.all(tracks.map(({ track }) => track.isAudioTrack() && isImplicit(track)))
    ).includes(true),
    rest: restStream(streams, context.start),
  };
}

// Sound that only primes a decoder is shorter, in seconds.
const MAX_PRIMING = 0.1;

// ffmpeg (5.1) drops times before 0 in Matroska and guesses others, which cuts and copies by the file's own times would contradict.
async function checkStart(video: InputTrack | undefined, audio: InputTrack | undefined): Promise<void> {
  const early = {
    pictures: -((await video?.getFirstTimestamp()) ?? 0),
    sound: -((await audio?.getFirstTimestamp()) ?? 0),
  };
  if (early.pictures > EPSILON_SECONDS || early.sound > MAX_PRIMING)
    throw errors.timesBeforeZero({ seconds: roundTime(Math.max(early.pictures, early.sound)) });
}

async function readTrack(
  track: InputTrack,
  format: string,
  place: number,
  context: DemuxContext,
): Promise<Track> {
  const index = context.index?.get(track.id);
  const codec = (await isOtherMpeg4(track)) ? null : await track.getCodec();
  const packets = codec ? await countPackets(track, format, index, context.start) : null;
  // Calls without our own index make mediabunny read the file's, which takes far more memory.
  const bitrate = packets?.bitrate || (index ? 0 : await track.getAverageBitrate());
  const duration = index ? index.visibleSeconds : await track.getDurationFromMetadata();
  const language = await track.getLanguageCode();
  const end = index ? index.end : await endOf(track, context.start);
  const flags = await track.getDisposition();
  const disabled = containerOf({ format }).disabled_tracks === "not_default" && !flags.default;
  const stream: SourceStream = {
    index: place,
    kind: track.type,
    codec: codec ? codecName(codec) : null,
    ...(duration ? { duration: roundTime(duration) } : {}),
    ...(end ? { end } : {}),
    ...(bitrate ? { bitrate: Math.round(bitrate) } : {}),
    ...(language === "und" ? {} : { language }),
    ...(disabled && { disabled }),
  };
  const pixels = track.isVideoTrack() ? (await track.getCodedWidth()) * (await track.getCodedHeight()) : 0;
  const facts = {
    codec: stream.codec,
    empty: packets?.any === false,
    ...(disabled && { disabled }),
    default: flags.default,
    pixels,
    seconds: stream.duration,
  };
  return { track, stream, packets, facts, sound: track.isAudioTrack() ? await soundFacts(track) : null };
}

// ISO/IEC 14496-3, table 1.17: MPEG-1 layers and lossless codings (32 to 38), USAC (42). mediabunny (1.61) takes all for AAC.
const OTHER_MPEG4 = /^mp4a\.40\.(3[2-8]|42)$/;

async function isOtherMpeg4(track: InputTrack): Promise<boolean> {
  return OTHER_MPEG4.test((await track.getCodecParameterString()) ?? "");
}

async function endOf(track: InputTrack, start: FileStart | null): Promise<number | null> {
  const end = start?.ends.get(track.id);
  return end === undefined ? null : roundTime(end - (await startTime(track.input)));
}

// mediabunny (1.61) counts from the first packet and ignores codec delays; ffmpeg subtracts the first packet's delay.
async function primingOf(
  tracks: readonly InputTrack[],
  delays: ReadonlyMap<number, number>,
): Promise<number> {
  if (![...delays.values()].some((delay) => delay > 0)) return 0;
  const firsts = await Promise.all(tracks.map((track) => track.getFirstTimestamp()));
  const starts = firsts.map((first, place) => first - (delays.get(tracks[place]?.id ?? 0) ?? 0));
  return roundTime(Math.max(0, Math.min(...firsts)) - Math.min(...starts));
}

const MAX_CORE_RATE = 24_000;
const SBR = "mp4a.40.5";

// ISO/IEC 14496-3, 1.6.5: SBR and PS (two channels from one) need not be signaled; mediabunny (1.61) reads signaled ones only.
async function isImplicit(audio: InputAudioTrack): Promise<boolean> {
  if ((await audio.getCodec()) !== "aac") return false;
  if ((await audio.getSampleRate()) <= MAX_CORE_RATE) return true;
  return (await audio.getNumberOfChannels()) === 1 && (await audio.getCodecParameterString()) === SBR;
}

async function soundFacts(audio: InputAudioTrack): Promise<NonNullable<Source["audio"]>> {
  const [channels, sample_rate] = [await audio.getNumberOfChannels(), await audio.getSampleRate()];
  const bit_depth = (await audio.getCodec()) === "flac" ? await flacDepth(audio) : 0;
  return { channels, sample_rate, ...(bit_depth > USUAL_DEPTH && { bit_depth }) };
}

// RFC 9639, 8.2: after the signature and a block header, the bits of a sample minus one follow the rate and the channels.
async function flacDepth(audio: InputAudioTrack): Promise<number> {
  const { description } = (await audio.getDecoderConfig()) ?? {};
  const bytes = description ? bytesOf(description) : new Uint8Array();
  return bytes.length < 22 ? 0 : (((bytes[20] ?? 0) & 1) << 4) + ((bytes[21] ?? 0) >> 4) + 1;
}

/** The contents of a file besides pictures and sound. */
export interface Extras {
  /** Index of each track in the file, by track id; tracks not listed keep their position. */
  places: ReadonlyMap<number, number>;
  /** Streams that are neither pictures nor sound; those without an index follow the others. */
  streams: (Omit<SourceStream, "index"> & { index?: number })[];
  tags: TagFacts;
  trackTags?: ReadonlyMap<number, readonly string[]>;
  chapters: FileChapter[];
  /** Tracks with chapter titles; they count as streams only if no chapter can be read. */
  titles?: readonly SourceStream[];
}

interface ExtrasSource {
  reader: ByteReader;
  movie: MovieIndex | null;
  matroska: MatroskaExtras | null;
}

/** Reads the tags, covers, chapters and other streams of a file from the headers that the probe reads anyway. */
async function readExtras(
  input: Input,
  format: string,
  { reader, movie, matroska }: ExtrasSource,
): Promise<Extras> {
  if (matroska) return { ...matroska, tags: readTags(matroska.tags) };
  const { tags: scheme } = containerOf({ format });
  if (scheme === "id3") {
    const { tags, covers, chapters } = await readId3(reader);
    const streams = covers.map(({ mime, common }) => coverStream(common ? mime : ""));
    return { places: new Map(), streams, tags: readTags(tags), chapters };
  }
  // mediabunny would read attachments completely.
  if (isMatroska(format)) {
    return { places: new Map(), streams: [], tags: {}, chapters: [] };
  }
  const metadata = await input.getMetadataTags();
  const texts = Object.entries(metadata.raw ?? {}).flatMap(([name, value]) => {
    return typeof value === "string" || Array.isArray(value) ? [nameTag(scheme, name, value)] : [];
  });
  const fields: (readonly [string, string | undefined])[] = [
    ["track", withTotal(metadata.trackNumber, metadata.tracksTotal)],
    ["disc", withTotal(metadata.discNumber, metadata.discsTotal)],
    ["lyrics", metadata.lyrics],
    ["comment", metadata.comment],
  ];
  const extras = movie && readMovieExtras(movie);
  const hasId3 = scheme === "riff" && texts.some(([name]) => /^(T[A-Z\d]{3}|COMM)$/.test(name));
  const tags = readTags([
    // mediabunny (1.61) reads one value of an item.
    ...(extras?.tags ?? []),
    ...(hasId3 ? await readChunkId3(reader) : []),
    ...texts,
    ...fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    ...(scheme === "riff" ? await readBroadcastTags(reader) : []),
  ]);
  if (movie && extras) {
    const chapters = await readMovieChapters(movie, extras.titleBoxes);
    return { ...extras, tags, chapters };
  }
  const covers = (metadata.images ?? []).map(({ mimeType }) => coverStream(mimeType));
  return {
    places: new Map(),
    streams: covers,
    tags,
    chapters: readCommentChapters(texts.map(([name, text]) => [name, [text].flat().join(";")])),
  };
}

/** Adds extras to the Source of a file whose first picture or sound is at `origin` seconds. */
function withExtras(
  source: Source,
  { streams, tags, trackTags, chapters, titles = [] }: Extras,
  origin: number,
): Source {
  const own = (source.streams ?? []).map((stream) => {
    const names = trackTags?.get(stream.index) ?? [];
    return names.length > 0 ? { ...stream, tag_names: [...names] } : stream;
  });
  const readable = readChapters(chapters, source.duration, origin);
  const others = readable ? streams : [...streams, ...titles];
  const more = others.map((stream, place) => ({ ...stream, index: stream.index ?? own.length + place }));
  return {
    ...source,
    ...tags,
    ...(readable && { chapters: readable }),
    streams: [...own, ...more].sort((one, other) => one.index - other.index),
  };
}

function nameTag(
  scheme: TagScheme | undefined,
  name: string,
  text: string | readonly string[],
): readonly [name: string, value: string | readonly string[]] {
  if (scheme === "vorbis" && /^description$/i.test(name)) return ["comment", text];
  return [name, scheme === "riff" && typeof text === "string" ? asUtf8(text) : text];
}

// mediabunny (1.61) reads texts of a WAV as Latin-1; most programs write UTF-8.
function asUtf8(text: string): string {
  try {
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return text;
  }
}

function coverStream(mime: string): Extras["streams"][number] {
  const kind = /jpe?g/i.test(mime) ? COVER_CODECS.mjpeg : mime.toLowerCase();
  const codec = Object.entries(COVER_CODECS).find(([, type]) => type === kind || type.endsWith(`/${kind}`));
  return { kind: "cover", codec: codec?.[0] ?? null };
}

function withTotal(number: number | undefined, total: number | undefined): string | undefined {
  if (number === undefined) return undefined;
  return total === undefined ? String(number) : `${number}/${total}`;
}

/** The fields of a Source about its pictures, and whether they suffice for planning. */
export interface PictureFacts {
  facts: Partial<Source>;
  complete: boolean;
}

/** Reads the facts about a video track's pictures from its headers, and their rate from its packets, if known. */
async function pictureFacts(
  video: InputVideoTrack,
  packets: Packets | null,
  index: TrackIndex | undefined,
): Promise<PictureFacts> {
  const [coded_width, coded_height] = [await video.getCodedWidth(), await video.getCodedHeight()];
  const { num, den } = await video.getPixelAspectRatio();
  // mediabunny (1.61) mistakes a mirrored picture for a rotated one.
  const own: Orientation = index?.orientation ?? { rotate: await video.getRotation(), mirror: false };
  const { rotate: rotation, mirror, tilt } = own;
  if (tilt !== undefined) throw mediaErrors.tilted({ degrees: tilt });
  const coded = { width: coded_width, height: coded_height, pixel_aspect: num / den, rotate: rotation };
  const color = await video.getColorSpace();
  const config = await video.getDecoderConfig();
  const pixels = readPixels({
    codec: await video.getCodec(),
    parameters: await video.getCodecParameterString(),
    description: config?.description ? bytesOf(config.description) : null,
    full_range: color.fullRange === true,
  });
  const facts: Partial<Source> = {
    ...displayedSize(coded),
    coded_width,
    coded_height,
    sample_aspect_ratio: `${num}:${den}`,
    rotation,
    ...(mirror && { flipped: true as const }),
    ...(packets?.rate ? { fps: Math.round(packets.rate * 1e4) / 1e4 } : {}),
    ...(packets?.rate && packets.even && { constant_fps: true as const }),
    has_alpha: await video.canBeTransparent(),
    color: colorFacts(color, pixels),
    ...(pixels ? { pixel_format: pixels.pixel_format } : {}),
    ...(pixels?.interlaced == null ? {} : { interlaced: pixels.interlaced }),
  };
  return { facts, complete: pixels !== null && pixels.interlaced !== null };
}

function colorFacts(color: VideoColorSpaceInit, pixels: Pixels | null): SourceColor {
  const { primaries, transfer, matrix, fullRange } = color;
  return {
    ...(primaries ? { primaries: colorName(primaries) } : {}),
    ...(transfer ? { transfer: colorName(transfer) } : {}),
    ...(matrix ? { space: colorName(matrix) } : {}),
    ...(fullRange == null ? {} : { range: fullRange ? "full" : "limited" }),
    ...(pixels ? { bit_depth: pixels.bit_depth } : {}),
    // mediabunny (1.61) takes wide primaries for HDR too.
    hdr: HDR_TRANSFERS.has(transfer ?? ""),
  };
}

const HDR_TRANSFERS: ReadonlySet<string> = new Set(["pq", "hlg"]);

const CODECS: Readonly<Record<string, string>> = {
  avc: "h264",
  hevc: "h265",
  "pcm-s16": "pcm_s16le",
  "pcm-s16be": "pcm_s16be",
  "pcm-s24": "pcm_s24le",
  "pcm-s24be": "pcm_s24be",
  "pcm-s32": "pcm_s32le",
  "pcm-s32be": "pcm_s32be",
  "pcm-f32": "pcm_f32le",
  "pcm-f32be": "pcm_f32be",
  "pcm-f64": "pcm_f64le",
  "pcm-f64be": "pcm_f64be",
  "pcm-u8": "pcm_u8",
  "pcm-s8": "pcm_s8",
  ulaw: "pcm_mulaw",
  alaw: "pcm_alaw",
};

const COLORS: Readonly<Record<string, string>> = {
  pq: "smpte2084",
  hlg: "arib-std-b67",
  "bt2020-ncl": "bt2020nc",
  "bt2020-cl": "bt2020c",
  rgb: "gbr",
};

function codecName(codec: string): string {
  return CODECS[codec] ?? codec;
}

function colorName(color: string): string {
  return COLORS[color] ?? color;
}
