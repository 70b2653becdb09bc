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
import {
  type CopiedRange,
  isBefore,
  type Splice,
  type SpliceRefusal,
  type SpliceRequest,
} from "../media/features/splice-plan.ts";
import type { PlannedPart, SourceRange } from "../media/plan.ts";
import type { Source } from "../media/source.ts";
import { operatingPoints, resetsDecoder } from "../probe/codec-headers.ts";
import { openPackets } from "../probe/entries.ts";
import { listsTracks, pictureTrack, soundTrack, startTime } from "../probe/mediabunny.ts";
import { watchReader } from "../probe/reader.ts";
import type { ByteReader } from "../runs/ports.ts";
import { bytesOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import {
  type CopiedPictures,
  type CopiedSound,
  copyPacket,
  copyPackets,
  countPackets,
  type Opener,
  openSoundTrack,
} from "./packets.ts";
import {
  breakLinks,
  chooseIds,
  type HevcIds,
  isCra,
  isSameSets,
  planSets,
  readInBandSets,
  readRecordSets,
  renumberSets,
  renumberUnit,
  type SetsCodec,
  type StreamSets,
  setsCodec,
  toSizedUnit,
  writeRecord,
} from "./parameter-sets.ts";

/** A piece of the pictures: packets of the source, or a file that was encoded in their place. */
export interface SplicePiece {
  /** Start in the output, in seconds. */
  at: number;
  from: CopiedRange | ByteReader;
}

/** The source of a file whose packets are copied range by range. */
export interface SpliceOptions {
  source: Source;
  reader: ByteReader;
  pieces: readonly SplicePiece[];
  /** The parts whose sound is copied; absent when it is encoded or left out. */
  sound?: { track: number; parts: readonly PlannedPart[] };
  format: string;
  signal: AbortSignal;
}

/** The tracks of a spliced file. */
export interface OpenSplice {
  /** Opens the pictures, `delay` seconds later. */
  pictures(opener: Opener, delay: number): Promise<CopiedPictures>;
  /** The copied sound; null for none. */
  sound: CopiedSound | null;
  /** Seconds of sound that each part has received so far. */
  soundSeconds: readonly number[];
  close(): void;
}

/** Opens the source of a spliced file. Rejects with `input_unsupported` when it can no longer be read. */
export async function openSplice(options: SpliceOptions): Promise<OpenSplice> {
  const { source, reader, signal } = options;
  const input = await openPackets(reader, source, signal);
  const track = input && (await openTrack(input, source));
  if (!input || !track) throw errors.sourceDamaged({ cause: null });
  const soundSeconds: number[] = [];
  return {
    pictures: (opener, delay) => openPieces(track, options, opener, delay),
    sound: options.sound ? await openParts(input, track.origin, options, soundSeconds) : null,
    soundSeconds,
    close: () => input.dispose(),
  };
}

async function openPieces(
  source: SourceTrack,
  { pieces }: SpliceOptions,
  opener: Opener,
  delay: number,
): Promise<CopiedPictures> {
  const { track, description } = source;
  const codec = await track.getCodec();
  const config = await track.getDecoderConfig();
  if (!codec || !config) throw errors.noPictures();
  const keepsConfig = description !== null && !pieces.some(({ from }) => "read" in from);
  const own = source.codec && !keepsConfig ? await ownSets(source, pieces) : null;
  const ids = own?.codec === "hevc" ? chooseIds(own) : null;
  const sets = own && [own, ...(await encodedSets(pieces, opener, own, ids))];
  const withSizes = (packet: EncodedPacket) =>
    own && !description ? packet.clone({ data: toSizedUnit(packet.data, own) }) : packet;
  const isAnnexB = description === null && source.codec !== null;
  return {
    codec,
    config:
      sets && (sets.length > 1 || !description) ? { ...config, description: writeRecord(sets) } : config,
    metadata: { transformationMatrix: await track.getTransformationMatrix() },
    count: () => countPictures(pieces, opener),
    async *packets(rehearsing) {
      const empty = rehearsing && !isAnnexB;
      for (const { at, from } of pieces)
        if ("read" in from) yield* copyEncoded(from, at + delay, opener, { rehearsing, ids });
        else yield* copyRange(source, from, at + delay, { empty, convert: withSizes });
    },
  };
}

async function countPictures(pieces: readonly SplicePiece[], opener: Opener): Promise<number> {
  let count = 0;
  for (const { from } of pieces) {
    if (!("read" in from)) count += from.pictures;
    else count += (await withEncodedTrack(from, opener, countPackets)) ?? 0;
  }
  return count;
}

async function* copyEncoded(
  reader: ByteReader,
  at: number,
  opener: Opener,
  { rehearsing, ids }: { rehearsing: boolean; ids: HevcIds | null },
): AsyncGenerator<EncodedPacket, void> {
  const file = opener.open(reader);
  const track = await file.getPrimaryVideoTrack();
  // New ids change the packets' sizes, so a rehearsal needs their bytes, too.
  if (track && ids) yield* copyRenumbered(track, at, ids);
  else if (track) yield* copyPackets(track, at, rehearsing);
  opener.release(file);
}

async function* copyRenumbered(
  track: InputVideoTrack,
  at: number,
  ids: HevcIds,
): AsyncGenerator<EncodedPacket, void> {
  const config = await track.getDecoderConfig();
  const record = config?.description && bytesOf(config.description);
  for await (const packet of copyPackets(track, at, false)) {
    const data = record && renumberUnit(packet.data, record, ids);
    if (!data) throw errors.encodingsDiffer();
    yield packet.clone({ data });
  }
}

async function* copyRange(
  { sink, origin, codec, description }: SourceTrack,
  { start, end, pictures }: CopiedRange,
  at: number,
  { empty, convert }: { empty: boolean; convert: (packet: EncodedPacket) => EncodedPacket },
): AsyncGenerator<EncodedPacket, void> {
  const options = empty ? FACTS_ONLY : {};
  const before = await sink.getKeyPacket(origin + start + EPSILON_SECONDS, options);
  const key = before ?? (await firstKey(sink, options));
  if (!key) throw errors.partsDamaged();
  let remaining = pictures;
  for await (const packet of packetsFrom(sink, key, options)) {
    const time = packet.timestamp - origin - start;
    const duration = Math.min(packet.duration, Math.max(0, end - start - time));
    const isEntry = codec === "hevc" && !empty && remaining === pictures;
    const data = isEntry ? breakLinks(packet.data, description) : packet.data;
    yield copyPacket(convert(isEntry ? packet.clone({ data }) : packet), time + at, empty, duration);
    if (--remaining === 0) return;
  }
  throw errors.partsDamaged();
}

async function ownSets(source: SourceTrack, pieces: readonly SplicePiece[]): Promise<StreamSets> {
  const { sink, origin } = source;
  const start = pieces.flatMap(({ from }) => ("read" in from ? [] : [from.start]))[0] ?? 0;
  const key = (await sink.getKeyPacket(origin + start + EPSILON_SECONDS)) ?? (await firstKey(sink));
  const sets = key && streamSets(source, key);
  if (!sets) throw errors.partsDamaged();
  return sets;
}

async function encodedSets(
  pieces: readonly SplicePiece[],
  opener: Opener,
  { codec }: StreamSets,
  ids: HevcIds | null,
): Promise<StreamSets[]> {
  const all: StreamSets[] = [];
  for (const { from } of pieces) {
    if (!("read" in from)) continue;
    const config = await withEncodedTrack(from, opener, (track) => track.getDecoderConfig());
    if (!config) continue;
    const written = config.description ? readRecordSets(bytesOf(config.description), codec) : null;
    const sets = written && ids ? renumberSets(written, ids) : written;
    if (!sets) throw errors.encodingsDiffer();
    const [first] = all;
    // All pieces have the same ids, so they must have the same sets.
    if (first && !isSameSets(first, sets)) throw errors.encodingsDiffer();
    all.push(sets);
  }
  return all.slice(0, 1);
}

async function withEncodedTrack<T>(
  reader: ByteReader,
  opener: Opener,
  use: (track: InputVideoTrack) => Promise<T>,
): Promise<T | null> {
  const file = opener.open(reader);
  try {
    const track = await file.getPrimaryVideoTrack();
    return track && (await use(track));
  } finally {
    opener.release(file);
  }
}

/**
 * Opens the sound of parts. A packet lasts 20 to 30 milliseconds and does not end with a part, so each part takes the packets that are
 * nearest to where the one before ended: the sound has no gap, and is never off by more than half a packet.
 */
async function openParts(
  input: Input,
  origin: number,
  { source, sound: { track: place, parts } = { track: 0, parts: [] }, format }: SpliceOptions,
  soundSeconds: number[],
): Promise<CopiedSound> {
  const track = await soundTrack(input, source, place);
  const copiedSound = track && (await openSoundTrack(track, 0));
  if (!track || !copiedSound) throw errors.soundMissing();
  // Decoders start with the packet before the first one, which an edit list hides.
  const primes = isIsobmff(format) && copiedSound.delay === 0;
  const sound = { sink: new EncodedPacketSink(track), origin, parts, primes, soundSeconds };
  const isSelfContained = copiedSound.codec !== "aac" || copiedSound.config.description !== undefined;
  async function* copyParts(rehearsing: boolean) {
    const empty = rehearsing && isSelfContained;
    for await (const { packet, at, seconds } of placePackets(sound, empty ? FACTS_ONLY : {}))
      yield copyPacket(packet, at, empty, seconds);
  }
  return {
    ...copiedSound,
    async count() {
      let count = 0;
      for await (const _ of copyParts(true)) count++;
      return count;
    },
    packets: copyParts,
  };
}

interface PartsSound {
  sink: EncodedPacketSink;
  /** Start of the source on the clock of the track. */
  origin: number;
  parts: readonly PlannedPart[];
  /** Whether the packet before the first one is copied too. */
  primes: boolean;
  soundSeconds: number[];
}

/** A packet, and its time and length in the output in seconds. */
interface PlacedPacket {
  packet: EncodedPacket;
  at: number;
  seconds: number;
}

async function* placePackets(
  { sink, origin, parts, primes, soundSeconds }: PartsSound,
  options: PacketRetrievalOptions,
): AsyncGenerator<PlacedPacket, void> {
  // End of the last packet in the output.
  let clock: number | null = null;
  for (const [index, { start, end, at }] of parts.entries()) {
    const until = at + end - start;
    const shift = at - start - origin;
    // Sound that ended long before the part leaves a gap, which is silent.
    const goal: number = clock === null || at - clock > MAX_MOVE_SECONDS ? at : clock;
    const isPrimed: boolean = clock === null && primes;
    const first: EncodedPacket | null = isPrimed
      ? await primingPacket(sink, goal - shift, options)
      : await nearestPacket(sink, goal, shift, options);
    if (isPrimed && first) clock = first.timestamp + shift;
    // Sound that ended before the part, or begins after its start, keeps its own time.
    const offset: number = first ? goal - shift - first.timestamp : 0;
    const joins = clock !== null && index > 0 && Math.abs(offset) <= MAX_MOVE_SECONDS;
    const move = joins ? shift + offset : shift;
    const isLast = index === parts.length - 1;
    soundSeconds[index] = 0;
    for await (const { packet, seconds } of packetsOnwards(sink, first, options)) {
      const begin: number = packet.timestamp + move;
      if (begin + (isLast ? 0 : seconds / 2) >= until - TINY) break;
      // The times of Matroska are rounded, so a packet may begin a little before the last one ends.
      if (begin < (clock === null ? -TINY : clock - seconds / 2)) continue;
      yield { packet, at: begin, seconds };
      clock = begin + seconds;
      soundSeconds[index] =
        (soundSeconds[index] ?? 0) + Math.max(0, Math.min(clock, until) - Math.max(begin, at));
    }
  }
}

async function* packetsOnwards(
  sink: EncodedPacketSink,
  first: EncodedPacket | null,
  options: PacketRetrievalOptions,
): AsyncGenerator<{ packet: EncodedPacket; seconds: number }, void> {
  let packet = first;
  while (packet) {
    const next: EncodedPacket | null = await sink.getNextPacket(packet, options);
    // mediabunny (1.61) does not know the duration of the last packet of a cluster.
    yield { packet, seconds: packet.duration || (next ? next.timestamp - packet.timestamp : 0) };
    packet = next;
  }
}

/** Returns the packet that is nearest to `goal`, in seconds of the output, which is `shift` later than the source; null when there is none. */
async function nearestPacket(
  sink: EncodedPacketSink,
  goal: number,
  shift: number,
  options: PacketRetrievalOptions,
): Promise<EncodedPacket | null> {
  const packet = await sink.getPacket(goal - shift + TINY, options);
  const next = packet ? await sink.getNextPacket(packet, options) : await sink.getFirstPacket(options);
  const distance = (each: EncodedPacket) => Math.abs(each.timestamp + shift - goal);
  return packet && (!next || distance(packet) <= distance(next)) ? packet : next;
}

/** Returns the packet before the one at a time; the first one when there is none. */
async function primingPacket(
  sink: EncodedPacketSink,
  time: number,
  options: PacketRetrievalOptions,
): Promise<EncodedPacket | null> {
  const packet = await sink.getPacket(time + TINY, options);
  if (!packet) return sink.getFirstPacket(options);
  return (await sink.getPacket(packet.timestamp - TINY, options)) ?? packet;
}

const TINY = 1e-6;
// The longest packets of any codec last 120 ms, and the nearest one is at most half a packet away.
const MAX_MOVE_SECONDS = 0.06;

/** Options to read the times and sizes of packets without their bytes. */
export const FACTS_ONLY = { metadataOnly: true } as const;

/** Finds the packets that a request copies. Rejects when aborted, and as the reader does. */
export async function readSplice(
  reader: ByteReader,
  source: Source,
  { mode, ranges }: SpliceRequest,
  signal: AbortSignal,
): Promise<Splice | SpliceRefusal> {
  const watched = watchReader(reader, signal);
  let input: Input | null = null;
  try {
    input = listsTracks(source) ? await openPackets(watched, source, signal) : null;
    if (!input) return { fault: "format" };
    const track = await openTrack(input, source);
    if (!track) return { fault: "codec" };
    const splice = await (mode === "copy" ? readCopies : readGroups)(track, ranges);
    watched.throwFailure();
    return track.changesSets() ? { fault: "changed_sets" } : splice;
  } catch {
    signal.throwIfAborted();
    watched.throwFailure();
    return { fault: "damaged" };
  } finally {
    input?.dispose();
  }
}

async function readCopies(
  track: SourceTrack,
  ranges: readonly SourceRange[],
): Promise<Splice | SpliceRefusal> {
  const parts: CopiedRange[] = [];
  for (const [part, range] of ranges.entries()) {
    const key = await lastReset(track, range.start);
    if (!key) return { fault: "entry", part };
    parts.push(await copyUntil(track, key, range));
  }
  return { parts };
}

async function readGroups(
  track: SourceTrack,
  ranges: readonly SourceRange[],
): Promise<Splice | SpliceRefusal> {
  const parts: (CopiedRange | null)[] = [];
  let sets: StreamSets | null = null;
  for (const range of ranges) {
    const key = await firstReset(track, range);
    parts.push(key && (await copyWithin(track, key, range)));
    if (key) sets ??= streamSets(track, key);
    // After an encoded piece, a decoder needs the source's sequence header again; and encoders write streams without layers.
    if (key && track.isAv1 && operatingPoints(key.data) !== 1) return { fault: "sets" };
  }
  if (parts.every((part) => part === null)) return { fault: "short" };
  const isExact = (range: SourceRange, part: CopiedRange | null | undefined) =>
    part && !isBefore(range.start, part.start) && !isBefore(part.end, range.end);
  if (ranges.every((range, index) => isExact(range, parts[index]))) return { parts };
  if (track.codec === null) return { parts };
  if (track.codec === "hevc") return sets && chooseIds(sets) ? { parts } : { fault: "sets" };
  const facts = sets && planSets(sets);
  return facts ? { parts, sets: facts } : { fault: "sets" };
}

/** Reads the parameter sets of a stream from its configuration record, or else from a keyframe; null if neither has any. */
export function streamSets({ codec, description }: SourceTrack, { data }: EncodedPacket): StreamSets | null {
  if (codec === null) return null;
  const record = description && readRecordSets(description, codec);
  return record ?? readInBandSets(data, codec, description);
}

/** The pictures of a source, and the time of its start on their clock. */
export interface SourceTrack {
  track: InputVideoTrack;
  /** The codec if it has parameter sets; otherwise null. */
  codec: SetsCodec | null;
  isAv1: boolean;
  /** The decoder configuration record; null for packets that contain it. */
  description: Uint8Array | null;
  sink: EncodedPacketSink;
  origin: number;
  /** Seconds of a picture whose duration the container does not state. */
  frame: number;
  /** Returns whether a copy can start at a packet that is marked as a keyframe, because a decoder then needs no earlier picture. */
  isReset(packet: EncodedPacket): Promise<boolean>;
  /** Compares the parameter sets in a packet with those of earlier packets. */
  compareSets(packet: EncodedPacket): void;
  /** Returns whether the parameter sets of the compared packets differ. */
  changesSets(): boolean;
}

/** Opens the pictures of a source; null if it has none, or mediabunny cannot describe their codec. Rejects as the reader does. */
export async function openTrack(input: Input, source: Source): Promise<SourceTrack | null> {
  const track = await pictureTrack(input, source);
  const codec = await track?.getCodec();
  const config = codec && (await track?.getDecoderConfig());
  if (!track || !codec || !config) return null;
  const description = config.description ? bytesOf(config.description) : null;
  const withSets = setsCodec(codec);
  let [sets, changesSets]: [StreamSets | null, boolean] = [null, false];
  return {
    track,
    codec: withSets,
    isAv1: codec === "av1",
    description,
    sink: new EncodedPacketSink(track),
    origin: await startTime(input),
    frame: 1 / (source.fps ?? DEFAULT_FPS),
    isReset: async (packet) =>
      withSets
        ? resetsDecoder(packet.data, withSets, description) ||
          (withSets === "hevc" && isCra(packet.data, description))
        : (await track.determinePacketType(packet)) === "key",
    compareSets({ type, data }) {
      const isInBand = withSets && description === null && type === "key";
      const next = isInBand ? readInBandSets(data, withSets) : null;
      changesSets ||= sets !== null && next !== null && !isSameSets(sets, next);
      sets ??= next;
    },
    changesSets: () => changesSets,
  };
}

// A source with open groups of pictures can be entered only at its start, so each part would repeat most of it.
const MAX_TRIES = 2;

/** Returns the last packet at or before a time that resets the decoder; null if none of the last keyframes before that time does. */
async function lastReset(
  { sink, origin, isReset }: SourceTrack,
  time: number,
): Promise<EncodedPacket | null> {
  let key = (await sink.getKeyPacket(origin + time + EPSILON_SECONDS)) ?? (await firstKey(sink));
  for (let tries = MAX_TRIES; key && tries > 0; tries--) {
    if (await isReset(key)) return key.timestamp >= origin - EPSILON_SECONDS ? key : null;
    key = await sink.getKeyPacket(key.timestamp - EPSILON_SECONDS);
  }
  return null;
}

/** Returns the first packet that is marked as a keyframe; null for none. */
export async function firstKey(sink: EncodedPacketSink, options: PacketRetrievalOptions = {}) {
  const first = await sink.getFirstPacket(options);
  return first && first.type !== "key" ? sink.getNextKeyPacket(first, options) : first;
}

/** Returns the first packet within a range that resets the decoder; null for none. */
async function firstReset(
  { sink, origin, isReset }: SourceTrack,
  { start, end }: SourceRange,
): Promise<EncodedPacket | null> {
  const before = await sink.getKeyPacket(origin + start + EPSILON_SECONDS);
  let key = before ?? (await firstKey(sink));
  for (; key && key.timestamp < origin + end; key = await sink.getNextKeyPacket(key))
    if (!isBefore(key.timestamp - origin, start) && (await isReset(key))) return key;
  return null;
}

/** Returns the packets from a keyframe up to the last cut before which all pictures begin within a range; null for none. */
async function copyWithin(
  track: SourceTrack,
  key: EncodedPacket,
  { start, end }: SourceRange,
): Promise<CopiedRange | null> {
  let last: Cut | null = null;
  for await (const cut of cutsAfter(track, key)) {
    if (!isBefore(cut.lastStart - track.origin, end)) break;
    last = cut;
  }
  if (!last) return null;
  const range = await rangeOf(track, key, last, start);
  return { ...range, end: last.isEnd ? end : Math.min(end, range.end) };
}

/** Returns the packets from a keyframe up to the first cut at or after the end of a range, or to the end of the track. */
async function copyUntil(
  track: SourceTrack,
  key: EncodedPacket,
  { start, end }: SourceRange,
): Promise<CopiedRange> {
  let cut: Cut = { time: key.timestamp, lastStart: key.timestamp, pictures: 0 };
  for await (cut of cutsAfter(track, key)) if (!isBefore(cut.time - track.origin, end)) break;
  return rangeOf(track, key, cut, start);
}

async function rangeOf(
  { sink, origin }: SourceTrack,
  key: EncodedPacket,
  cut: Cut,
  start: number,
): Promise<CopiedRange> {
  const own = roundTime(Math.max(0, key.timestamp - origin));
  // No picture precedes the first one of the source, where sound may begin earlier.
  const isFirst = isBefore(start, own) && (await firstKey(sink, FACTS_ONLY))?.timestamp === key.timestamp;
  return { start: isFirst ? start : own, end: roundTime(cut.time - origin), pictures: cut.pictures };
}

/** A time such that all earlier pictures are decoded before all later ones. */
interface Cut {
  time: number;
  /** Start of the last picture before it. */
  lastStart: number;
  /** The number of packets before it. */
  pictures: number;
  /** Whether the track ends there. */
  isEnd?: true;
}

// H.264 and H.265 reorder at most 16 pictures, which may have two fields each.
const MAX_REORDER = 33;

/** Yields the cuts after a keyframe, and finally the end of the track. */
async function* cutsAfter(track: SourceTrack, key: EncodedPacket): AsyncGenerator<Cut, void> {
  const { sink, frame } = track;
  const pending: EncodedPacket[] = [];
  let [pictures, lastStart, end] = [0, Number.NEGATIVE_INFINITY, key.timestamp];
  function* next() {
    const [packet] = pending;
    if (!packet) return;
    if (pictures > 0 && packet.timestamp > lastStart) {
      const time = Math.min(...pending.map(({ timestamp }) => timestamp));
      if (time > lastStart) yield { time, lastStart, pictures };
    }
    pending.shift();
    pictures++;
    lastStart = Math.max(lastStart, packet.timestamp);
    end = Math.max(end, packet.timestamp + (packet.duration || frame));
  }
  const hasInBandSets = track.codec !== null && track.description === null;
  for await (const packet of packetsFrom(sink, key, hasInBandSets ? {} : FACTS_ONLY)) {
    track.compareSets(packet);
    pending.push(packet);
    if (pending.length > MAX_REORDER) yield* next();
  }
  while (pending.length > 0) yield* next();
  yield { time: end, lastStart, pictures, isEnd: true };
}

/** Yields the packets from a keyframe on, without its leading pictures, which may refer to earlier ones. */
export async function* packetsFrom(
  sink: EncodedPacketSink,
  key: EncodedPacket,
  options: { metadataOnly?: boolean },
): AsyncGenerator<EncodedPacket, void> {
  for (let packet: EncodedPacket | null = key; packet; packet = await sink.getNextPacket(packet, options))
    if (packet.timestamp >= key.timestamp) yield packet;
}
