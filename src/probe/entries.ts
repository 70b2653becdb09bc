import { type EncodedPacket, EncodedPacketSink, type Input, type InputVideoTrack } from "mediabunny";
import { EPSILON_SECONDS, roundTime } from "../media/clock.ts";
import { type ContainerFamily, containerOf } from "../media/containers.ts";
import { FFMPEG_FPS } from "../media/features/fps.ts";
import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";
import { bytesOf, KIB } from "../util/bytes.ts";
import { h264Entry, isShown } from "./codec-headers.ts";
import { readCueTimes } from "./matroska.ts";
import { openSource, openUncached, pictureTrack, soundTrack, startTime } from "./mediabunny.ts";
import { readMp3Delay } from "./mp3.ts";
import { readMovieIndex, readSyncTimes } from "./mp4.ts";
import { boundReader, type ProbeBounds, watchReader } from "./reader.ts";

/** Finds a position in a source by a time, both in seconds; null when unknown. */
export type Find = (time: number) => Promise<number | null>;

/** Finds the keyframe, picture and sound packet at the start of a cut. */
export interface Finder {
  /** Finds where decoding must start so that every picture from a given time on is complete. */
  entry: Find;
  /** Finds the start of the picture visible at a time; it is below 0 if an edit list hides the start of that picture. */
  visibleFrom: Find;
  /** Finds the start of the audio packet that plays at a given time, in one of the source's audio tracks (default 0). */
  packetStart: (time: number, track?: number) => Promise<number | null>;
  /** Lists the times from which every picture is complete, ascending; null when unknown. */
  list: () => Promise<number[] | null>;
}

const BOUNDS: ProbeBounds = { reads: 1_000_000, blocks: 4096, jumps: 4000 };
const MAX_TRIES = 40;
const EPSILON_SOUND = 0.0001;

/** Returns whether a source's entry points can be verified; otherwise only the container's keyframe flags are available. */
export function hasEntries(source: Source): boolean {
  return containerOf(source).entries?.test(source.codecs?.video ?? "none") ?? false;
}

/**
 * Opens a source to find its entry points and pictures. Examines the pictures themselves, because a frame that the container
 * flags as a keyframe may refer to earlier ones. Reads the fragments of an MP4 or MOV one after the other if `fragments` is true;
 * otherwise finds nothing in a fragmented one. Rejects when aborted, and as the reader does.
 */
export async function withEntries<T>(
  reader: ByteReader,
  source: Source,
  signal: AbortSignal,
  use: (finder: Finder) => Promise<T>,
  { fragments = false } = {},
): Promise<T> {
  const watched = watchReader(reader, signal);
  let input: Input | null = null;
  const open = async () => {
    const readable = await openSource(watched, source.format, signal, fragments);
    if (!readable) return null;
    const bounded = boundReader(blockReader(readable), BOUNDS, signal);
    input = openUncached(bounded);
    const track = await pictureTrack(input, source);
    const origin = await startTime(input);
    const pictures = track && (await createFinder(track, origin, source));
    return {
      ...(pictures ?? { entry: unknown, visibleFrom: unknown, list: unknown }),
      packetStart: createSoundFinder(input, source, origin, await delayOf(readable, source)),
    };
  };
  const quietly = async <R>(work: () => Promise<R | null>) => {
    try {
      const result = await work();
      watched.throwFailure();
      return result;
    } catch {
      // The encoder reports a damaged file better.
      signal.throwIfAborted();
      watched.throwFailure();
      return null;
    }
  };
  try {
    const finder = await quietly(open);
    return await use({
      entry: async (time) => finder && quietly(() => finder.entry(time)),
      visibleFrom: async (time) => finder && quietly(() => finder.visibleFrom(time)),
      packetStart: async (time, sound) => finder && quietly(() => finder.packetStart(time, sound)),
      list: async () => finder && quietly(finder.list),
    });
  } finally {
    (input as Input | null)?.dispose();
  }
}

const unknown = async () => null;

// mediabunny's audio timestamps exceed the playback time by these seconds.
async function delayOf(reader: ByteReader, { format, priming = 0, audio }: Source): Promise<number> {
  return containerOf({ format }).info_frame && audio
    ? (await readMp3Delay(reader)) / audio.sample_rate
    : priming;
}

function createSoundFinder(
  input: Input,
  source: Source,
  origin: number,
  delay: number,
): Finder["packetStart"] {
  return async (time, track = 0) => {
    const sound = await soundTrack(input, source, track);
    const at = origin + delay + time + EPSILON_SOUND;
    const packet = sound && (await new EncodedPacketSink(sound).getPacket(at, { metadataOnly: true }));
    if (!packet) return null;
    return Number(Math.max(0, Math.min(time, packet.timestamp - origin - delay)).toFixed(6));
  };
}

async function createFinder(
  track: InputVideoTrack,
  origin: number,
  source: Source,
): Promise<Pick<Finder, "entry" | "visibleFrom" | "list">> {
  const sink = new EncodedPacketSink(track);
  const codec = await track.getCodec();
  const config = codec && (await track.getDecoderConfig());
  const description = config?.description ? bytesOf(config.description) : null;
  const frame = 1 / (source.fps ?? FFMPEG_FPS);

  const leadOf = async (key: EncodedPacket): Promise<number | null> => {
    if (codec === "avc") return h264Entry(key.data, description);
    return (await track.determinePacketType(key)) === "key" ? 0 : null;
  };

  const entry: Find = async (time) => {
    let key = await sink.getKeyPacket(origin + time + EPSILON_SECONDS);
    if (!codec) key = key && ((await sink.getKeyPacket(justBefore(key))) ?? key);
    for (let tries = MAX_TRIES; key && tries > 0; tries--) {
      const at = key.timestamp - origin;
      const lead = codec ? await leadOf(key) : 0;
      if (lead !== null && at + lead * frame <= time + EPSILON_SECONDS)
        return Math.max(0, Math.min(at, time));
      key = await sink.getKeyPacket(justBefore(key));
    }
    // If no keyframe precedes the time, decoding from the very start is always correct.
    return key ? null : 0;
  };

  const visibleFrom: Find = async (time) => {
    const options = { metadataOnly: codec !== "vp8" };
    let packet = await sink.getPacket(origin + time + EPSILON_SECONDS, options);
    // A VP8 alt-ref frame may share the next picture's time, or follow just after the previous one.
    if (packet && isHidden(packet)) {
      const next = await sink.getNextPacket(packet, options);
      const sharesTime = next && next.timestamp <= packet.timestamp;
      packet = sharesTime ? next : await sink.getPacket(justBefore(packet), options);
    }
    const at = packet && packet.timestamp - origin;
    return at === null ? null : Math.min(at, time);
  };

  const list = async (): Promise<number[] | null> => {
    if (!codec) return [];
    const times = new Set<number>();
    for (let key = await sink.getFirstPacket(); key; key = await sink.getNextKeyPacket(key)) {
      const at = key.timestamp - origin;
      if (at >= 0 && (await leadOf(key)) === 0) times.add(Number(at.toFixed(6)));
      if (times.size > MAX_KEYFRAMES) return null;
    }
    return [...times].sort((one, other) => one - other);
  };

  return { entry, visibleFrom, list };
}

function isHidden({ isMetadataOnly, data }: EncodedPacket): boolean {
  return !isMetadataOnly && !isShown(data);
}

const BLOCK = 256 * KIB;
const CACHED_BLOCKS = 8;

// mediabunny reads a few times per packet, and a film of ten hours has two million pictures.
const PACKET_BOUNDS: ProbeBounds = {
  reads: 50_000_000,
  blocks: Number.POSITIVE_INFINITY,
  jumps: Number.POSITIVE_INFINITY,
};

/**
 * Opens a source to read its packets one by one, within bounds that stop an endless loop over a damaged file; null when mediabunny cannot
 * read it. Dispose of the result.
 */
export async function openPackets(
  reader: ByteReader,
  { format }: Source,
  signal: AbortSignal,
): Promise<Input | null> {
  const readable = await openSource(reader, format, signal);
  return readable && openUncached(boundReader(blockReader(readable), PACKET_BOUNDS, signal));
}

// mediabunny reads transport streams packet by packet; blocks save requests.
function blockReader(reader: ByteReader): ByteReader {
  const blocks = new Map<number, Promise<Uint8Array>>();
  const load = (index: number, signal?: AbortSignal) => {
    const cached = blocks.get(index);
    const block = cached ?? reader.read({ start: index * BLOCK, end: (index + 1) * BLOCK }, signal);
    blocks.delete(index);
    blocks.set(index, block);
    const [oldest] = blocks.keys();
    if (blocks.size > CACHED_BLOCKS && oldest !== undefined) blocks.delete(oldest);
    return block;
  };
  return {
    size: reader.size,
    async read({ start, end }, signal) {
      const index = Math.floor(start / BLOCK);
      const last = Math.min(end, reader.size);
      if (last > (index + 1) * BLOCK) return reader.read({ start, end }, signal);
      const block = await load(index, signal);
      return block.subarray(start - index * BLOCK, last - index * BLOCK);
    },
  };
}

function justBefore({ timestamp }: EncodedPacket): number {
  return timestamp - EPSILON_SECONDS;
}

/**
 * Lists the times, in seconds and ascending, at which a source can be cut without an encode, because every picture from there on is
 * complete. Examines the keyframes themselves; where these are too many bytes to read, takes them from the container's index. Empty when
 * they are unknown, as for a codec whose pictures cannot be examined. Rejects when aborted, and as the reader does.
 */
export async function listEntries(
  reader: ByteReader,
  source: Source,
  signal: AbortSignal,
): Promise<number[]> {
  if (!hasEntries(source)) return [];
  const times = await withEntries(reader, source, signal, ({ list }) => list(), { fragments: true });
  return times ?? readKeyframes(reader, source, signal);
}

const INDEX_BOUNDS: ProbeBounds = { reads: 1000, blocks: 512, jumps: 80 };

const MAX_KEYFRAMES = 100_000;

/**
 * Returns the times of a source's keyframes in seconds, ascending, from its index, without reading media. Empty when there
 * is no index, it is damaged or too large, or does not distinguish keyframes because all pictures are. Rejects when
 * aborted, and as the reader does.
 */
export async function readKeyframes(
  reader: ByteReader,
  source: Source,
  signal: AbortSignal,
): Promise<number[]> {
  const { family } = containerOf(source);
  const read = family && READERS[family];
  if (!read) return [];
  const bounded = boundReader(reader, INDEX_BOUNDS, signal);
  try {
    const times = await read(bounded, source.video_track ?? 0, signal);
    const rounded = times.filter((time) => time >= 0).map(roundTime);
    return rounded.length > MAX_KEYFRAMES ? [] : [...new Set(rounded)].sort((a, b) => a - b);
  } catch {
    signal.throwIfAborted();
    bounded.throwFailure();
    return [];
  }
}

async function readMovie(reader: ByteReader, track: number): Promise<number[]> {
  const index = await readMovieIndex(reader);
  return index && !index.fragmented ? readSyncTimes(index.moov, track, MAX_KEYFRAMES) : [];
}

type ReadTimes = (reader: ByteReader, track: number, signal: AbortSignal) => Promise<number[]>;

const READERS: Readonly<Partial<Record<ContainerFamily, ReadTimes>>> = {
  isobmff: readMovie,
  matroska: readCueTimes,
};
