import { EncodedPacket } from "mediabunny";
import { MediaError } from "../../core/errors.ts";
import type { VideoCodec } from "../../core/formats.ts";
import { MIB } from "../../util/bytes.ts";
import { type CodecConfig, quantizerOptions } from "./webcodecs-config.ts";
import type { Hold } from "./webcodecs-rate.ts";

export interface PictureEncoding {
  codec: VideoCodec;
  config: CodecConfig;
  hold: Hold;
  /** Receives each packet in decoding order, with the encoder's metadata if any; rejects to stop the encode. */
  write(packet: EncodedPacket, metadata: EncodedVideoChunkMetadata | undefined): Promise<void>;
}

export interface PictureEncoder {
  /** Encodes a picture as soon as the queue has room, and closes it. Rejects with `encode_failed` when the encoder has failed. */
  add(frame: VideoFrame, key: boolean): Promise<void>;
  /** Encodes the remaining pictures; resolves when every packet is written. */
  finish(): Promise<void>;
  /** Stops at once; safe to call at any time, and repeatedly. */
  close(): void;
}

// Measured on noise, where VP9 and AV1 with a variable rate undershoot an average by a fifth.
const STEADY = {
  h264: "variable",
  h265: "variable",
  vp9: "constant",
  av1: "constant",
} as const satisfies Record<VideoCodec, VideoEncoderBitrateMode>;

// Limits on queued pictures: their bytes, and their number.
const WAITING = 64 * MIB;
const MOST_WAITING = 12;

export function startPictureEncoder({ codec, config, hold, write }: PictureEncoding): PictureEncoder {
  const broken = Promise.withResolvers<never>();
  // Observed where it is raced.
  broken.promise.catch(() => {});
  let written = Promise.resolve();
  const fail = (thrown: unknown) => {
    broken.reject(
      thrown instanceof MediaError
        ? thrown
        : new MediaError("encode_failed", `The browser's ${codec} encoder failed.`, { cause: thrown }),
    );
  };
  const encoder = new VideoEncoder({
    output: (chunk, metadata) => {
      const packet = EncodedPacket.fromEncodedChunk(chunk);
      written = written.then(() => write(packet, metadata));
      written.catch(fail);
    },
    error: fail,
  });
  encoder.configure({
    ...config,
    latencyMode: "quality",
    ...("bitrate" in hold
      ? { bitrate: hold.bitrate, bitrateMode: STEADY[codec] }
      : { bitrateMode: "quantizer" }),
  });
  const options = "quantizer" in hold ? quantizerOptions(codec, hold.quantizer) : {};
  const room = Math.max(
    2,
    Math.min(MOST_WAITING, Math.floor(WAITING / (config.width * config.height * 1.5))),
  );
  const hasRoom = async () => {
    while (encoder.state === "configured" && encoder.encodeQueueSize >= room) {
      const { promise, resolve } = Promise.withResolvers<void>();
      encoder.addEventListener("dequeue", () => resolve(), { once: true });
      await Promise.race([promise, broken.promise]);
    }
  };
  return {
    async add(frame, key) {
      try {
        await hasRoom();
        if (encoder.state !== "configured") await Promise.race([broken.promise, rejectClosed()]);
        encoder.encode(frame, { ...options, keyFrame: key });
      } finally {
        frame.close();
      }
    },
    async finish() {
      await Promise.race([encoder.flush(), broken.promise]);
      await Promise.race([written, broken.promise]);
    },
    close() {
      if (encoder.state !== "closed") encoder.close();
      fail(new MediaError("encode_failed", "The encode was cancelled."));
    },
  };
}

async function rejectClosed(): Promise<never> {
  throw new MediaError("encode_failed", "The browser's encoder is closed.");
}
