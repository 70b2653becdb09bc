import { EncodedPacket } from "mediabunny";
import { MediaError } from "../../media/errors.ts";
import type { VideoCodec } from "../../media/formats.ts";
import type { Size } from "../../media/picture-geometry.ts";
import type { Rate } from "../../media/plan.ts";
import { type Anchors, between, bitsFor } from "../../media/rates.ts";
import { MIB } from "../../util/bytes.ts";
import * as errors from "../errors.ts";

export interface PictureEncoding {
  codec: VideoCodec;
  config: CodecConfig;
  rateControl: RateControl;
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

// With a variable rate, VP9 and AV1 undershoot the average by a fifth (measured on noise).
const BITRATE_MODES = {
  h264: "variable",
  h265: "variable",
  vp9: "constant",
  av1: "constant",
} as const satisfies Record<VideoCodec, VideoEncoderBitrateMode>;

const MAX_QUEUED_BYTES = 64 * MIB;
const MAX_QUEUED = 12;

export function startPictureEncoder({ codec, config, rateControl, write }: PictureEncoding): PictureEncoder {
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  let written = Promise.resolve();
  const fail = (thrown: unknown) => {
    broken.reject(
      thrown instanceof MediaError ? thrown : errors.browserEncoderFailed({ codec, cause: thrown }),
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
    ...("bitrate" in rateControl
      ? { bitrate: rateControl.bitrate, bitrateMode: BITRATE_MODES[codec] }
      : { bitrateMode: "quantizer" }),
  });
  const options = "quantizer" in rateControl ? quantizerOptions(codec, rateControl.quantizer) : {};
  const room = Math.max(
    2,
    Math.min(MAX_QUEUED, Math.floor(MAX_QUEUED_BYTES / (config.width * config.height * 1.5))),
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
      fail(errors.encodeCancelled());
    },
  };
}

async function rejectClosed(): Promise<never> {
  throw errors.browserEncoderClosed();
}

/** The WebCodecs configuration of a codec, except its rate. */
interface CodecConfig extends VideoEncoderConfig {
  /** How H.265 carries its parameter sets; missing from some type definitions. */
  hevc?: { format: "hevc" };
}

/** Encode options of one picture; some are missing from type definitions. */
export interface PictureOptions extends VideoEncoderEncodeOptions {
  hevc?: { quantizer: number };
  vp9?: { quantizer: number };
  av1?: { quantizer: number };
}

interface Level {
  /** The level as it appears in the codec string. */
  name: string;
  /** Maximum units per picture and per second: 16x16 macroblocks for h264, pixels for the others. */
  picture: number;
  second: number;
}

const level = (name: string, picture: number, second: number): Level => ({ name, picture, second });

// H.264 Table A-1; VP9 levels of webmproject.org/vp9/levels; AV1 Annex A.3; H.265 Table A.8 and A.9.
const LEVELS = {
  h264: [
    level("1e", 1620, 40_500),
    level("1f", 3600, 108_000),
    level("28", 8192, 245_760),
    level("2a", 8704, 522_240),
    level("33", 36_864, 983_040),
    level("34", 36_864, 2_073_600),
    level("3e", 139_264, 16_711_680),
  ],
  h265: [
    level("L90", 552_960, 16_588_800),
    level("L93", 983_040, 33_177_600),
    level("L120", 2_228_224, 66_846_720),
    level("L123", 2_228_224, 133_693_440),
    level("L153", 8_912_896, 534_773_760),
    level("L156", 8_912_896, 1_069_547_520),
    level("L186", 35_651_584, 4_278_190_080),
  ],
  vp9: [
    level("21", 245_760, 9_216_000),
    level("30", 552_960, 20_736_000),
    level("31", 983_040, 36_864_000),
    level("40", 2_228_224, 83_558_400),
    level("41", 2_228_224, 160_432_128),
    level("51", 8_912_896, 588_251_136),
    level("62", 35_651_584, 4_706_009_088),
  ],
  av1: [
    level("01", 278_784, 8_363_520),
    level("04", 665_856, 19_975_680),
    level("05", 1_065_024, 31_950_720),
    level("08", 2_359_296, 70_778_880),
    level("09", 2_359_296, 141_557_760),
    level("13", 8_912_896, 534_773_760),
    level("18", 35_651_584, 4_278_190_080),
  ],
} as const satisfies Record<VideoCodec, readonly Level[]>;

const STRINGS: Readonly<Record<VideoCodec, (level: string) => string>> = {
  h264: (name) => `avc1.6400${name}`,
  h265: (name) => `hvc1.1.6.${name}.B0`,
  vp9: (name) => `vp09.00.${name}.08`,
  av1: (name) => `av01.0.${name}M.08`,
};

/**
 * Returns the WebCodecs configuration of a codec: 8 bits, the lowest level that fits the pictures, parameter sets out of band.
 */
export function codecConfig(codec: VideoCodec, { width, height }: Size, fps: number): CodecConfig {
  const units = codec === "h264" ? Math.ceil(width / 16) * Math.ceil(height / 16) : width * height;
  const levels: readonly Level[] = LEVELS[codec];
  const lowest = levels.find(({ picture, second }) => units <= picture && units * fps <= second);
  const { name } = lowest ?? levels[levels.length - 1] ?? { name: "" };
  return {
    codec: STRINGS[codec](name),
    width,
    height,
    framerate: fps,
    ...(codec === "h264" && { avc: { format: "avc" as const } }),
    ...(codec === "h265" && { hevc: { format: "hevc" as const } }),
  };
}

/** Additional configuration for temporal layers. */
export const LAYERED = { scalabilityMode: "L1T3" } as const satisfies Partial<VideoEncoderConfig>;

export function quantizerOptions(codec: VideoCodec, quantizer: number): PictureOptions {
  return { [OPTIONS[codec]]: { quantizer } };
}

const OPTIONS = { h264: "avc", h265: "hevc", vp9: "vp9", av1: "av1" } as const satisfies Record<
  VideoCodec,
  string
>;

/** Rate control of a WebCodecs encoder: a quantizer for each picture, or an average in bits per second. */
export type RateControl = { quantizer: number } | { bitrate: number };

/** The quantizer closest in SSIM to a CRF of the native encoders, by codec; see bench/constants/webcodecs-rate.ts. */
const QUANTIZER = {
  h264: [
    [17, 17],
    [31, 31],
  ],
  h265: [
    [21, 21],
    [36, 36],
  ],
  vp9: [
    [22, 71],
    [27, 90],
    [32, 107],
    [37, 122],
    [43, 144],
  ],
  av1: [
    [25, 74],
    [30, 95],
    [35, 114],
    [43, 146],
    [50, 162],
  ],
} as const satisfies Record<VideoCodec, Anchors>;

const SCALE = { h264: 51, h265: 51, vp9: 255, av1: 255 } as const satisfies Record<VideoCodec, number>;

export interface RateFacts extends Size {
  codec: VideoCodec;
  rate: Rate;
  fps: number;
  /** The coarsest quantizer that the encoder accepts; null when it accepts none. */
  coarsest: number | null;
  /** The source's bits per second for as many pixels; null when unknown. */
  source_bits: number | null;
}

/** Returns the rate control closest to the rate of a plan. */
export function rateControlFor(needs: RateFacts): RateControl {
  const { codec, rate, width, height, fps, coarsest, source_bits } = needs;
  if ("bitrate" in rate) return { bitrate: rate.bitrate };
  if (coarsest !== null) {
    const share = between(QUANTIZER[codec], rate.crf) / SCALE[codec];
    return { quantizer: Math.round(Math.min(1, Math.max(0, share)) * coarsest) };
  }
  return { bitrate: bitsFor(codec, rate.crf, { width, height, fps, source_bits }) };
}
