import {
  ALL_FORMATS,
  type AudioCodec,
  CustomSource,
  EncodedPacket,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
  type InputTrack,
  type InputVideoTrack,
  MovOutputFormat,
  Mp4OutputFormat,
  type OutputFormat,
  type PacketRetrievalOptions,
  type VideoCodec,
  type VideoTrackMetadata,
  WebMOutputFormat,
} from "mediabunny";
import { isIsobmff, isQuickTime } from "../media/containers.ts";
import type { VideoFormat } from "../media/formats.ts";
import { startTime } from "../probe/mediabunny.ts";
import type { ByteReader } from "../runs/ports.ts";
import { bytesOf, toHex } from "../util/bytes.ts";
import * as errors from "./errors.ts";

/** Returns mediabunny's muxer of a video format; `fastStart` places the index of an MP4 or MOV. */
export function muxerFormat(format: VideoFormat, fastStart: "reserve" | "in-memory"): OutputFormat {
  if (!isIsobmff(format)) return new WebMOutputFormat();
  return isQuickTime(format) ? new MovOutputFormat({ fastStart }) : new Mp4OutputFormat({ fastStart });
}

/** An encoded part of the video, and its start in the output in seconds. */
export interface VideoPart {
  input: ByteReader;
  at: number;
  /** Index of the track among those of pictures that mediabunny lists. Default 0. */
  place?: number;
}

/** A track to copy into a muxer. */
export interface CopiedTrack<C, D> {
  codec: C;
  config: D;
  /** Counts the packets, reading a file without an index to its end. */
  count(): Promise<number>;
  /** Yields the packets in decoding order; when `rehearsing`, zeros replace bytes that need not be read. */
  packets(rehearsing: boolean): AsyncGenerator<EncodedPacket, void>;
}

/** Pictures to copy into a muxer, with facts that their configuration does not state. */
export interface CopiedPictures extends CopiedTrack<VideoCodec, VideoDecoderConfig> {
  metadata?: VideoTrackMetadata;
}

/** Opens the parts of a file for {@link openPictures} and {@link openSound}. */
export interface Opener {
  open(reader: ByteReader): Input;
  /** Closes a part and frees what is cached of it. */
  release(input: Input): void;
  close(): void;
}

/** Creates an {@link Opener}. With `cached` false every read reaches the reader, which can then stop an endless loop. */
export function createOpener(signal: AbortSignal | undefined, cached = true): Opener {
  const inputs = new Set<Input>();
  const reading = cached
    ? ({ prefetchProfile: "network" } as const)
    : { maxCacheSize: 0, handleUnhandledError: () => {} };
  return {
    open(reader) {
      const read = (start: number, end: number) => reader.read({ start, end }, signal);
      const source = new CustomSource({
        getSize: () => reader.size,
        read,
        ...reading,
      });
      const input = new Input({ source, formats: ALL_FORMATS });
      inputs.add(input);
      return input;
    },
    release(input) {
      inputs.delete(input);
      input.dispose();
    },
    close() {
      for (const input of inputs) input.dispose();
    },
  };
}

/**
 * Opens the pictures of consecutive parts as one track; skips parts without pictures, because sound may outlast them. The last
 * picture ends at `until` seconds, if known. Rejects with `encode_failed` when there are no pictures at all, their encodings
 * differ, or parts overlap.
 */
export async function openPictures(
  parts: readonly VideoPart[],
  opener: Opener,
  until: number | null,
): Promise<CopiedTrack<VideoCodec, VideoDecoderConfig>> {
  const withPictures: VideoPart[] = [];
  let first: { codec: VideoCodec; config: VideoDecoderConfig } | null = null;
  for (const part of parts) {
    const kind = await withTrack(part, opener, readKind);
    if (!kind) continue;
    first ??= kind;
    if (!isSame(kind.config, first.config)) throw errors.encodingsDiffer();
    withPictures.push(part);
  }
  if (!first) throw errors.noPictures();
  return {
    ...first,
    async count() {
      let count = 0;
      for (const part of withPictures) {
        count += await withTrack(part, opener, (track) => (track ? countPackets(track) : 0));
      }
      return count;
    },
    async *packets(rehearsing) {
      let latest = Number.NEGATIVE_INFINITY;
      // Holds the picture with the latest timestamp, followed by the pictures decoded after it.
      let pending: EncodedPacket[] = [];
      for (const part of withPictures) {
        const before = latest;
        const file = opener.open(part.input);
        const track = await trackOf(file, part);
        if (!track) throw errors.partsDamaged();
        for await (const packet of copyPackets(track, part.at, rehearsing)) {
          if (packet.timestamp <= before) throw errors.partsOverlap();
          if (packet.timestamp > latest) {
            yield* pending;
            pending = [];
            latest = packet.timestamp;
          }
          pending.push(packet);
        }
        opener.release(file);
      }
      yield* withEnd(pending, until);
    },
  };
}

// The muxer derives the track's end from the last picture shown, and its time table's end from the last one decoded.
function withEnd(pending: readonly EncodedPacket[], until: number | null): readonly EncodedPacket[] {
  const [latest] = pending;
  if (!latest || until === null || until <= latest.timestamp) return pending;
  const duration = until - latest.timestamp;
  return pending.map((packet, index) =>
    index === 0 || index === pending.length - 1 ? packet.clone({ duration }) : packet,
  );
}

async function withTrack<T>(
  part: VideoPart,
  opener: Opener,
  use: (track: InputVideoTrack | null) => T | Promise<T>,
): Promise<T> {
  const file = opener.open(part.input);
  try {
    return await use(await trackOf(file, part));
  } finally {
    opener.release(file);
  }
}

async function trackOf(file: Input, { place = 0 }: VideoPart): Promise<InputVideoTrack | null> {
  return (await file.getVideoTracks())[place] ?? null;
}

async function readKind(track: InputVideoTrack | null) {
  const packet = track && (await new EncodedPacketSink(track).getFirstPacket(FACTS_ONLY));
  const [codec, config] = packet ? [await track.getCodec(), await track.getDecoderConfig()] : [];
  return codec && config ? { codec, config } : null;
}

export interface CopiedSound extends CopiedTrack<AudioCodec, AudioDecoderConfig> {
  /** Seconds of priming that the timestamps do not include; playback starts that much later. */
  delay: number;
}

/** Returns the time at which a source starts to play, in seconds of its clock; priming before 0 is inaudible. */
export async function readStart(source: ByteReader, signal: AbortSignal): Promise<number> {
  const { open, close } = createOpener(signal);
  try {
    return await startTime(open(source));
  } finally {
    close();
  }
}

/**
 * Opens an audio track of a file, by its index, to play from `from` seconds of its clock; earlier packets, the encoder's priming, get
 * negative times.
 */
export async function openSound(input: Input, from = 0, place = 0): Promise<CopiedSound> {
  const track: InputAudioTrack | null = (await input.getAudioTracks())[place] ?? null;
  const sound = track && (await openSoundTrack(track, from));
  if (!sound) throw errors.soundMissing();
  return sound;
}

/** Opens an audio track as {@link openSound} does; null when its codec is unknown. */
export async function openSoundTrack(track: InputAudioTrack, from: number): Promise<CopiedSound | null> {
  const codec = await track.getCodec();
  const config = await track.getDecoderConfig();
  if (!codec || !config) return null;
  const first = (await track.getFirstTimestamp()) - from;
  const delay = codec === "opus" && first >= 0 ? preSkip(config) : 0;
  return {
    codec,
    config,
    delay,
    count: () => countPackets(track),
    // mediabunny's muxers (1.61) parse the bytes of AAC that has no description, as in transport streams.
    packets: (rehearsing) =>
      copyPackets(track, -from, rehearsing && (codec !== "aac" || !!config.description)),
  };
}

// RFC 7845, 5.1: bytes 10 and 11 of the header hold the samples at 48 kHz that a decoder drops.
function preSkip({ description }: AudioDecoderConfig): number {
  const [low = 0, high = 0] = bytesOf(description ?? new ArrayBuffer(0)).subarray(10, 12);
  return (low + high * 256) / 48_000;
}

const FACTS_ONLY = { metadataOnly: true } as const;

/**
 * Iterates over the packets of a track in decoding order. mediabunny's own iterator prefetches as many packets as it returned
 * within the last second: tens of thousands here, and all of them where clocks stand still between reads.
 */
export async function* packetsOf(track: InputTrack, options: PacketRetrievalOptions) {
  const sink = new EncodedPacketSink(track);
  let packet = await sink.getFirstPacket(options);
  while (packet) {
    yield packet;
    packet = await sink.getNextPacket(packet, options);
  }
}

export async function countPackets(track: InputTrack): Promise<number> {
  let count = 0;
  for await (const _ of packetsOf(track, FACTS_ONLY)) count++;
  return count;
}

/** Yields the packets of a track, `at` seconds later, with zeros in place of their bytes if `empty` is true. */
export async function* copyPackets(
  track: InputTrack,
  at: number,
  empty: boolean,
): AsyncGenerator<EncodedPacket, void> {
  const options = empty ? FACTS_ONLY : {};
  for await (const packet of packetsOf(track, options)) {
    yield copyPacket(packet, packet.timestamp + at, empty);
  }
}

/** Returns a packet at another time, in seconds, with zeros in place of its bytes if `empty` is true. */
export function copyPacket(
  packet: EncodedPacket,
  time: number,
  empty: boolean,
  duration = packet.duration,
): EncodedPacket {
  const data = empty ? new Uint8Array(packet.byteLength) : packet.data;
  const { alpha, alphaByteLength = alpha?.length } = packet.sideData;
  const sideData = alpha && { alpha: empty ? new Uint8Array(alphaByteLength ?? 0) : alpha };
  return new EncodedPacket(data, packet.type, time, duration, undefined, undefined, sideData);
}

function isSame(a: VideoDecoderConfig, b: VideoDecoderConfig): boolean {
  const same = a.codec === b.codec && a.codedWidth === b.codedWidth && a.codedHeight === b.codedHeight;
  return same && hex(a.description) === hex(b.description);
}

function hex(description: VideoDecoderConfig["description"]): string {
  return description ? toHex(bytesOf(description)) : "";
}
