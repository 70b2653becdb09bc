import {
  type EncodedPacket,
  EncodedPacketSink,
  type Input,
  type InputVideoTrack,
  type PacketRetrievalOptions,
} from "mediabunny";
import { EPSILON_SECONDS, roundTime } from "../media/clock.ts";
import { DEFAULT_FPS } from "../media/features/fps.ts";
import {
  type CopiedRange,
  isBefore,
  type Splice,
  type SpliceRefusal,
  type SpliceRequest,
} from "../media/features/splice-plan.ts";
import type { SourceRange } from "../media/plan.ts";
import type { Source } from "../media/source.ts";
import { operatingPoints, resetsDecoder } from "../probe/codec-headers.ts";
import { openPackets } from "../probe/entries.ts";
import { listsTracks, pictureTrack, startTime } from "../probe/mediabunny.ts";
import { watchReader } from "../probe/reader.ts";
import type { ByteReader } from "../runs/ports.ts";
import { bytesOf } from "../util/bytes.ts";
import {
  chooseIds,
  isCra,
  isSameSets,
  planSets,
  readInBandSets,
  readRecordSets,
  type SetsCodec,
  type StreamSets,
  setsCodec,
} from "./parameter-sets.ts";

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
