import { EncodedPacket } from "mediabunny";
import { MediaError } from "../../core/errors.ts";
import type { VideoCodec } from "../../core/formats.ts";
import { MIB } from "../../util/bytes.ts";
import { type CodecConfig, quantizerOptions } from "./webcodecs-config.ts";
import type { Hold } from "./webcodecs-rate.ts";

/** How pictures are encoded. */
export interface PictureEncoding {
  codec: VideoCodec;
  config: CodecConfig;
  hold: Hold;
  /** Takes each packet in decoding order, with its facts where the encoder gives some; rejects to end the work. */
  write(packet: EncodedPacket, metadata: EncodedVideoChunkMetadata | undefined): Promise<void>;
}

/** Encodes pictures one after the other. */
export interface PictureEncoder {
  /** Takes a picture, which is closed, when there is room for it; rejects with `encode_failed` when the encoder broke. */
  add(frame: VideoFrame, key: boolean): Promise<void>;
  /** Encodes what is left; every packet has been written by then. */
  finish(): Promise<void>;
  /** Ends the work at once; may be called at any time, and again. */
  close(): void;
}

// Measured on noise, with which VP9 and AV1 fall short of an average by a fifth when their rate may vary.
const STEADY = {
  h264: "variable",
  h265: "variable",
  vp9: "constant",
  av1: "constant",
} as const satisfies Record<VideoCodec, VideoEncoderBitrateMode>;

// Bytes of pictures that wait to be encoded, and the most pictures.
const WAITING = 64 * MIB;
const MOST_WAITING = 12;

/** Starts the browser's encoder. */
export function startPictureEncoder({ codec, config, hold, write }: PictureEncoding): PictureEncoder {
  const broken = Promise.withResolvers<never>();
  // It is heard of where it is raced for.
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
        if (encoder.state !== "configured") await Promise.race([broken.promise, gone()]);
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
      fail(new MediaError("encode_failed", "The encode was ended."));
    },
  };
}

async function gone(): Promise<never> {
  throw new MediaError("encode_failed", "The browser's encoder is closed.");
}
