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
  type VideoCodec,
} from "mediabunny";
import { MediaError } from "../core/errors.ts";
import type { ByteReader } from "../core/ports.ts";

/** An encoded stretch of video, and the second of the output at which it starts. */
export interface Stretch {
  input: ByteReader;
  at: number;
}

/** A track that is copied, with what a muxer asks of it. */
export interface CopiedTrack<C, D> {
  codec: C;
  config: D;
  /** Packets in all. */
  count: number;
  /** Gives the packets in decoding order; `rehearsing` gives as many bytes, all zero, without reading them. */
  packets(rehearsing: boolean): AsyncGenerator<EncodedPacket, void>;
}

/**
 * Opens the parts of a file for {@link openPictures} and {@link openSound}; `close` lets go of them all. With `cached` false
 * every read reaches the reader, which can then stop an endless one.
 */
export function createOpener(signal: AbortSignal | undefined, cached = true) {
  const inputs: Input[] = [];
  // Without a cache, what is read ahead would be read again.
  const reading = cached
    ? ({ prefetchProfile: "network" } as const)
    : { maxCacheSize: 0, handleUnhandledError: () => {} };
  return {
    open(reader: ByteReader): Input {
      const read = (start: number, end: number) => reader.read({ start, end }, signal);
      const source = new CustomSource({
        getSize: () => reader.size,
        read,
        ...reading,
      });
      const input = new Input({ source, formats: ALL_FORMATS });
      inputs.push(input);
      return input;
    },
    close(): void {
      for (const input of inputs) input.dispose();
    },
  };
}

/**
 * Opens the pictures of stretches as one track; a stretch without any is passed over, as sound may be longer than pictures.
 * Rejects with `encode_failed` when there are none at all, they are not of one kind, or stretches overlap.
 */
export async function openPictures(
  stretches: readonly Stretch[],
  open: (reader: ByteReader) => Input,
): Promise<CopiedTrack<VideoCodec, VideoDecoderConfig>> {
  const parts: { track: InputVideoTrack; config: VideoDecoderConfig; count: number; at: number }[] = [];
  for (const { input, at } of stretches) {
    const track = await open(input).getPrimaryVideoTrack();
    const count = track ? await countPackets(track) : 0;
    const config = count > 0 ? await track?.getDecoderConfig() : null;
    if (track && config) parts.push({ track, config, count, at });
  }
  const [first] = parts;
  const codec = await first?.track.getCodec();
  if (!first || !codec) throw misfit("there are no pictures");
  if (!parts.every(({ config }) => isSame(config, first.config))) {
    throw misfit("two stretches were encoded in different ways");
  }
  return {
    codec,
    config: first.config,
    count: parts.reduce((sum, { count }) => sum + count, 0),
    async *packets(rehearsing) {
      let latest = Number.NEGATIVE_INFINITY;
      for (const { track, at } of parts) {
        const before = latest;
        for await (const packet of copies(track, at, rehearsing)) {
          if (packet.timestamp <= before) throw misfit("two stretches overlap");
          latest = Math.max(latest, packet.timestamp);
          yield packet;
        }
      }
    },
  };
}

/** Sound that is copied. */
export interface CopiedSound extends CopiedTrack<AudioCodec, AudioDecoderConfig> {
  /** Seconds of priming that the packets' times do not show: what a player hears first is that much later. */
  delay: number;
}

/** Opens the sound of a file as a track; its packets before 0 (the encoder's priming) keep their times. */
export async function openSound(input: Input): Promise<CopiedSound> {
  const track: InputAudioTrack | null = await input.getPrimaryAudioTrack();
  const codec = await track?.getCodec();
  const config = await track?.getDecoderConfig();
  if (!track || !codec || !config) throw misfit("the sound is missing");
  const count = await countPackets(track);
  const first = await track.getFirstTimestamp();
  const delay = codec === "opus" && first >= 0 ? preSkip(config) : 0;
  return { codec, config, count, delay, packets: (rehearsing) => copies(track, 0, rehearsing) };
}

/** The error of parts that do not make one file. */
export function misfit(why: string, cause?: unknown): MediaError {
  return new MediaError("encode_failed", `The encoded parts could not be put together: ${why}.`, { cause });
}

// RFC 7845, 5.1: samples at 48 kHz that a decoder drops, in bytes 10 and 11 of the header.
function preSkip({ description }: AudioDecoderConfig): number {
  const [low = 0, high = 0] = bytesOf(description).subarray(10, 12);
  return (low + high * 256) / 48_000;
}

const FACTS_ONLY = { metadataOnly: true } as const;

async function countPackets(track: InputTrack): Promise<number> {
  let count = 0;
  for await (const _ of new EncodedPacketSink(track).packets(undefined, undefined, FACTS_ONLY)) count++;
  return count;
}

async function* copies(
  track: InputTrack,
  at: number,
  rehearsing: boolean,
): AsyncGenerator<EncodedPacket, void> {
  const options = rehearsing ? FACTS_ONLY : {};
  for await (const packet of new EncodedPacketSink(track).packets(undefined, undefined, options)) {
    const data = rehearsing ? new Uint8Array(packet.byteLength) : packet.data;
    yield new EncodedPacket(data, packet.type, packet.timestamp + at, packet.duration);
  }
}

function isSame(a: VideoDecoderConfig, b: VideoDecoderConfig): boolean {
  const same = a.codec === b.codec && a.codedWidth === b.codedWidth && a.codedHeight === b.codedHeight;
  return same && hex(a.description) === hex(b.description);
}

function hex(bytes: VideoDecoderConfig["description"]): string {
  return Array.from(bytesOf(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(bytes: VideoDecoderConfig["description"]): Uint8Array {
  if (!bytes) return new Uint8Array();
  if (!ArrayBuffer.isView(bytes)) return new Uint8Array(bytes);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
