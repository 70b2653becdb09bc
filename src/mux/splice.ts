import {
  type EncodedPacket,
  EncodedPacketSink,
  type Input,
  type InputVideoTrack,
  type PacketRetrievalOptions,
} from "mediabunny";
import { EPSILON_SECONDS, roundTime } from "../media/clock.ts";
import { isIsobmff } from "../media/containers.ts";
import { DEFAULT_FPS } from "../media/features/fps.ts";
import type {
  CopiedRange,
  SourceRange,
  Splice,
  SpliceRefusal,
  SpliceRequest,
} from "../media/features/splice-plan.ts";
import type { Source } from "../media/source.ts";
import { startsFresh } from "../probe/codec-headers.ts";
import { openPackets } from "../probe/entries.ts";
import { listsTracks, pictureTrack, soundTrack } from "../probe/mediabunny.ts";
import type { ByteReader } from "../runs/ports.ts";
import { bytesOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { type CopiedPictures, type CopiedSound, copyPacket, openedSound } from "./packets.ts";

const FACTS_ONLY = { metadataOnly: true } as const;

/** Finds the packets that {@link SpliceRequest.ranges} copy. Rejects only when aborted, or when the file cannot be read. */
export async function readSplice(
  reader: ByteReader,
  source: Source,
  { ranges }: SpliceRequest,
  signal: AbortSignal,
): Promise<Splice | SpliceRefusal> {
  const input = listsTracks(source) ? await openPackets(reader, source, signal) : null;
  if (!input) return { fault: "format" };
  try {
    const track = await openTrack(input, source);
    if (!track) return { fault: "codec" };
    const parts: CopiedRange[] = [];
    for (const [part, range] of ranges.entries()) {
      const key = await lastFresh(track, range.start);
      if (!key) return { fault: "entry", part };
      parts.push(await copyUntil(track, key, range.end));
    }
    return { parts };
  } catch {
    signal.throwIfAborted();
    return { fault: "damaged" };
  } finally {
    input.dispose();
  }
}

/** The pictures of a source, and the time of its start on their clock. */
interface SourceTrack {
  track: InputVideoTrack;
  sink: EncodedPacketSink;
  origin: number;
  /** Seconds of a picture whose duration the container does not state. */
  frame: number;
  /** Returns whether a decoder discards all earlier pictures at a packet that is marked as a keyframe. */
  isFresh(packet: EncodedPacket): Promise<boolean>;
}

async function openTrack(input: Input, source: Source): Promise<SourceTrack | null> {
  const track = await pictureTrack(input, source);
  const codec = await track?.getCodec();
  const config = codec && (await track?.getDecoderConfig());
  if (!track || !codec || !config) return null;
  const description = config.description ? bytesOf(config.description) : null;
  return {
    track,
    sink: new EncodedPacketSink(track),
    origin: Math.max(0, await input.getFirstTimestamp()),
    frame: 1 / (source.fps ?? DEFAULT_FPS),
    isFresh: async (packet) =>
      codec === "avc" || codec === "hevc"
        ? startsFresh(packet.data, codec, description)
        : (await track.determinePacketType(packet)) === "key",
  };
}

// A source of open groups has no fresh start but its first, which would repeat most of it in each part.
const MAX_TRIES = 2;

/** Returns the last packet at or before a time at which decoding can begin afresh; null when it is far, or there is none. */
async function lastFresh(
  { sink, origin, isFresh }: SourceTrack,
  time: number,
): Promise<EncodedPacket | null> {
  let key = await sink.getKeyPacket(origin + time + EPSILON_SECONDS);
  for (let left = MAX_TRIES; key && left > 0; left--) {
    if (await isFresh(key)) return key.timestamp >= origin - EPSILON_SECONDS ? key : null;
    key = await sink.getKeyPacket(key.timestamp - EPSILON_SECONDS);
  }
  return null;
}

/** Returns the packets from a keyframe up to the first cut at or after a time, or to the end of the track. */
async function copyUntil(track: SourceTrack, key: EncodedPacket, end: number): Promise<CopiedRange> {
  let cut = { time: key.timestamp, pictures: 0 };
  for await (cut of cutsAfter(track, key)) if (cut.time - track.origin >= end - EPSILON_SECONDS) break;
  return rangeOf(track, key, cut);
}

function rangeOf({ origin }: SourceTrack, key: EncodedPacket, cut: Cut): CopiedRange {
  return {
    start: roundTime(Math.max(0, key.timestamp - origin)),
    end: roundTime(cut.time - origin),
    pictures: cut.pictures,
  };
}

/** A time up to which all pictures are decoded before all later ones, and the number of packets up to there. */
interface Cut {
  time: number;
  pictures: number;
}

// H.264 and H.265 reorder at most 16 pictures, which may have two fields each.
const MAX_REORDER = 33;

/** Yields the cuts after a keyframe, and at last the end of the track. */
async function* cutsAfter({ sink, frame }: SourceTrack, key: EncodedPacket): AsyncGenerator<Cut, void> {
  const pending: EncodedPacket[] = [];
  let [pictures, shown, end] = [0, Number.NEGATIVE_INFINITY, key.timestamp];
  function* next() {
    const [packet] = pending;
    if (!packet) return;
    if (pictures > 0 && packet.timestamp > shown) {
      const time = Math.min(...pending.map(({ timestamp }) => timestamp));
      if (time > shown) yield { time, pictures };
    }
    pending.shift();
    pictures++;
    shown = Math.max(shown, packet.timestamp);
    end = Math.max(end, packet.timestamp + (packet.duration || frame));
  }
  for await (const packet of packetsFrom(sink, key, FACTS_ONLY)) {
    pending.push(packet);
    if (pending.length > MAX_REORDER) yield* next();
  }
  while (pending.length > 0) yield* next();
  yield { time: end, pictures };
}

/** Yields the packets from a keyframe on, without those that are shown before it and may refer to earlier ones. */
async function* packetsFrom(
  sink: EncodedPacketSink,
  key: EncodedPacket,
  options: { metadataOnly?: boolean },
): AsyncGenerator<EncodedPacket, void> {
  for (let packet: EncodedPacket | null = key; packet; packet = await sink.getNextPacket(packet, options))
    if (packet.timestamp >= key.timestamp) yield packet;
}

/** A part of the output: a range of the source that is copied. */
export interface SplicePiece {
  /** Start in the output, in seconds. */
  at: number;
  range: CopiedRange;
}

/** The sound of a range of the source, and its start in the output, in seconds. */
export interface SoundPart extends SourceRange {
  at: number;
}

/** The source of a file whose packets are copied range by range. */
export interface SpliceOptions {
  source: Source;
  reader: ByteReader;
  pieces: readonly SplicePiece[];
  /** The parts whose sound is copied; absent when it is encoded or left out. */
  sound?: { track: number; parts: readonly SoundPart[] };
  format: string;
  signal: AbortSignal;
}

/** The tracks of a spliced file. */
export interface OpenSplice {
  pictures(delay: number): Promise<CopiedPictures>;
  /** The copied sound; null for none. */
  sound: CopiedSound | null;
  /** Seconds of sound that each part has received so far. */
  heard: readonly number[];
  close(): void;
}

/** Opens the source of a spliced file. Rejects with `input_unsupported` when it can no longer be read. */
export async function openSplice(options: SpliceOptions): Promise<OpenSplice> {
  const { source, reader, signal } = options;
  const input = await openPackets(reader, source, signal);
  const track = input && (await openTrack(input, source));
  if (!input || !track) throw errors.sourceDamaged({ cause: null });
  const heard: number[] = [];
  return {
    pictures: (delay) => openPieces(track, options, delay),
    sound: options.sound ? await openParts(input, track.origin, options, heard) : null,
    heard,
    close: () => input.dispose(),
  };
}

async function openPieces(
  { track, sink, origin }: SourceTrack,
  { pieces }: SpliceOptions,
  delay: number,
): Promise<CopiedPictures> {
  const codec = await track.getCodec();
  const config = await track.getDecoderConfig();
  if (!codec || !config) throw errors.noPictures();
  const mustParse = config.description === undefined && (codec === "avc" || codec === "hevc");
  return {
    codec,
    config,
    metadata: { transformationMatrix: await track.getTransformationMatrix() },
    count: async () => pieces.reduce((sum, { range }) => sum + range.pictures, 0),
    async *packets(rehearsing) {
      const empty = rehearsing && !mustParse;
      const options = empty ? FACTS_ONLY : {};
      for (const { at, range } of pieces) {
        const key = await sink.getKeyPacket(origin + range.start + EPSILON_SECONDS, options);
        if (!key) throw errors.partsDamaged();
        let left = range.pictures;
        for await (const packet of packetsFrom(sink, key, options)) {
          yield copyPacket(packet, packet.timestamp - origin - range.start + at + delay, empty);
          if (--left === 0) break;
        }
        if (left > 0) throw errors.partsDamaged();
      }
    },
  };
}

/**
 * Opens the sound of parts. A packet lasts 20 to 30 milliseconds and does not end with a part, so each part takes the packets that are
 * nearest to where the one before ended: the sound has no gap, and is never off by more than half a packet.
 */
async function openParts(
  input: Input,
  origin: number,
  { source, sound: { track: place, parts } = { track: 0, parts: [] }, format }: SpliceOptions,
  heard: number[],
): Promise<CopiedSound> {
  const track = await soundTrack(input, source, place);
  const opened = track && (await openedSound(track, 0));
  if (!track || !opened) throw errors.soundMissing();
  const sink = new EncodedPacketSink(track);
  const last = parts.length - 1;
  // An edit list hides the packet before the first one, with which decoders begin.
  const primes = isIsobmff(format) && opened.delay === 0;
  /** Returns the packet of a part that is nearest to `goal` seconds of the output; null when there is none. */
  async function nearest(goal: number, shift: number, options: PacketRetrievalOptions) {
    const packet = await sink.getPacket(goal - shift + TINY, options);
    const next = packet ? await sink.getNextPacket(packet, options) : await sink.getFirstPacket(options);
    const off = (each: EncodedPacket) => Math.abs(each.timestamp + shift - goal);
    return packet && (!next || off(packet) <= off(next)) ? packet : next;
  }
  async function primed(goal: number, shift: number, options: PacketRetrievalOptions) {
    const packet = await sink.getPacket(goal - shift + TINY, options);
    if (!packet) return sink.getFirstPacket(options);
    return (await sink.getPacket(packet.timestamp - TINY, options)) ?? packet;
  }
  async function* copies(rehearsing: boolean) {
    const empty = rehearsing && (opened?.codec !== "aac" || opened.config.description !== undefined);
    const options = empty ? FACTS_ONLY : {};
    let clock: number | null = null;
    for (const [index, { start, end, at }] of parts.entries()) {
      const until = at + end - start;
      const shift = at - start - origin;
      const goal: number = clock ?? at;
      let packet: EncodedPacket | null =
        clock === null && primes ? await primed(goal, shift, options) : await nearest(goal, shift, options);
      if (clock === null && primes && packet) clock = packet.timestamp + shift;
      // Sound that ended before the part, or begins after its start, keeps its own time.
      const off: number = packet ? goal - shift - packet.timestamp : 0;
      const joins = clock !== null && index > 0 && Math.abs(off) <= MAX_MOVE_SECONDS;
      const move = joins ? shift + off : shift;
      heard[index] = 0;
      for (let next: EncodedPacket | null; packet; packet = next) {
        next = await sink.getNextPacket(packet, options);
        // mediabunny (1.61) does not know the duration of the last packet of a cluster.
        const length: number = packet.duration || (next ? next.timestamp - packet.timestamp : 0);
        const begin: number = packet.timestamp + move;
        if (begin + (index === last ? 0 : length / 2) >= until - TINY) break;
        if (begin < (clock ?? 0) - TINY) continue;
        yield copyPacket(packet, begin, empty, length);
        clock = begin + length;
        heard[index] = (heard[index] ?? 0) + Math.max(0, Math.min(clock, until) - Math.max(begin, at));
      }
    }
  }
  return {
    ...opened,
    async count() {
      let count = 0;
      for await (const _ of copies(true)) count++;
      return count;
    },
    packets: copies,
  };
}

const TINY = 1e-6;
// The longest packets of any codec last 120 ms, and the nearest one is at most half a packet away.
const MAX_MOVE_SECONDS = 0.06;
