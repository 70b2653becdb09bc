import type { VideoCodec } from "../../media/formats.ts";
import type { Size } from "../../media/picture-geometry.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import { within } from "../../util/async.ts";
import { codecConfig, LAYERED, type PictureOptions, quantizerOptions } from "./picture-encoder.ts";

/** The abilities of this machine's encoder of a codec at a size, as tested. */
export interface Ability {
  /** The coarsest quantizer; null when it accepts none. */
  quantizer: number | null;
  /** Whether it scales pictures of another size to its own. */
  scales: boolean;
  /** Whether temporal layers help: the upper layers refer further back and are coarser. */
  layers: boolean;
}

const PICTURES = 3;
const FPS = 30;
const TRIAL_MS = 10_000;

/**
 * Encodes a few pictures and decodes them again, because browsers claim support that they lack. Returns the encoder's abilities, or the
 * reason why it cannot be used; never rejects.
 */
export async function tryCodec(codec: VideoCodec, size: Size): Promise<Ability | RefusalReason> {
  if (typeof VideoEncoder === "undefined" || typeof VideoDecoder === "undefined") {
    return { code: "no_webcodecs" };
  }
  for (const quantizer of [await coarsest(codec), null]) {
    const config: VideoEncoderConfig = {
      ...codecConfig(codec, size, FPS),
      ...(quantizer === null ? { bitrate: 1_000_000 } : { bitrateMode: "quantizer" }),
    };
    if (!(await isSupported(config))) continue;
    const options = quantizer === null ? {} : quantizerOptions(codec, Math.round(quantizer / 2));
    for (const scales of [true, false]) {
      const inputSize = scales ? { width: 64, height: 64 } : size;
      if (!(await attempt(config, inputSize, options))) continue;
      const layers = quantizer === null && (await gainsFromLayers(codec, config, inputSize));
      return { quantizer, scales, layers };
    }
  }
  const small = { ...codecConfig(codec, SMALL, FPS), bitrate: 500_000 };
  if (!(await isSupported(small))) return { code: "output_codec", codec };
  return { code: "output_size", codec, width: size.width, height: size.height };
}

// Layers save OpenH264 an eighth of the bytes at equal quality (bench/constants/webcodecs-rate.ts); hardware is untested.
async function gainsFromLayers(
  codec: VideoCodec,
  config: VideoEncoderConfig,
  inputSize: Size,
): Promise<boolean> {
  if (codec !== "h264" || (await isSupported({ ...config, hardwareAcceleration: "prefer-hardware" })))
    return false;
  const layered = { ...config, ...LAYERED };
  return (await isSupported(layered)) && (await attempt(layered, inputSize, {}));
}

async function isSupported(config: VideoEncoderConfig): Promise<boolean> {
  const answer = await VideoEncoder.isConfigSupported(config).catch(() => null);
  return answer?.supported === true;
}

const SMALL: Size = { width: 320, height: 180 };
const COARSEST = { h264: 51, h265: 51, vp9: 63, av1: 255 } as const satisfies Record<VideoCodec, number>;
// Some browsers use libvpx's own scale for VP9.
const LIBVPX_COARSEST = 255;

async function coarsest(codec: VideoCodec): Promise<number> {
  if (codec !== "vp9") return COARSEST[codec];
  const [standard, libvpx] = [
    await noiseBytes(codec, COARSEST.vp9),
    await noiseBytes(codec, LIBVPX_COARSEST),
  ];
  return libvpx > 0 && libvpx * 3 < standard ? LIBVPX_COARSEST : COARSEST.vp9;
}

async function noiseBytes(codec: VideoCodec, quantizer: number): Promise<number> {
  let bytes = 0;
  const failed = Promise.withResolvers<void>();
  const encoder = new VideoEncoder({
    output: (chunk) => {
      bytes += chunk.byteLength;
    },
    error: () => failed.resolve(),
  });
  const { width, height } = SMALL;
  const pixels = new Uint8Array(width * height * 1.5).map((_, index) => (index * index * 31) % 251);
  const shape = { format: "I420", codedWidth: width, codedHeight: height, timestamp: 0 } as const;
  const frame = new VideoFrame(pixels, shape);
  try {
    encoder.configure({ ...codecConfig(codec, SMALL, FPS), bitrateMode: "quantizer" });
    encoder.encode(frame, { ...quantizerOptions(codec, quantizer), keyFrame: true });
    await within(Promise.race([encoder.flush(), failed.promise]), TRIAL_MS, () => {});
    return bytes;
  } catch {
    return 0;
  } finally {
    frame.close();
    if (encoder.state !== "closed") encoder.close();
  }
}

async function attempt(
  config: VideoEncoderConfig,
  inputSize: Size,
  options: PictureOptions,
): Promise<boolean> {
  const closers: (() => void)[] = [];
  try {
    return await within(roundTrip(closers, config, inputSize, options), TRIAL_MS, () => false);
  } catch {
    return false;
  } finally {
    for (const close of closers) close();
  }
}

async function roundTrip(
  closers: (() => void)[],
  config: VideoEncoderConfig,
  inputSize: Size,
  options: PictureOptions,
): Promise<boolean> {
  const chunks: EncodedVideoChunk[] = [];
  const frames: VideoFrame[] = [];
  let decoderConfig: VideoDecoderConfig | undefined;
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  const encoder = new VideoEncoder({
    output: (chunk, metadata) => {
      chunks.push(chunk);
      decoderConfig ??= metadata?.decoderConfig;
    },
    error: broken.reject,
  });
  const decoder = new VideoDecoder({ output: (frame) => frames.push(frame), error: broken.reject });
  closers.push(() => {
    for (const codec of [encoder, decoder]) if (codec.state !== "closed") codec.close();
    for (const frame of frames) frame.close();
  });
  encoder.configure(config);
  for (let index = 0; index < PICTURES; index++) {
    const frame = createPicture(inputSize, index);
    encoder.encode(frame, { ...options, keyFrame: index === 0 });
    frame.close();
  }
  await Promise.race([encoder.flush(), broken.promise]);
  if (!decoderConfig || chunks.length !== PICTURES || chunks[0]?.type !== "key") return false;
  decoder.configure(decoderConfig);
  for (const chunk of chunks) decoder.decode(chunk);
  await Promise.race([decoder.flush(), broken.promise]);
  const [last] = frames.slice(-1);
  if (!last || frames.length !== PICTURES) return false;
  const { width, height } = last.visibleRect ?? { width: 0, height: 0 };
  return width === config.width && height === config.height && (await isShaded(last));
}

function createPicture({ width, height }: Size, index: number): VideoFrame {
  const luma = width * height;
  const pixels = new Uint8Array(luma * 1.5).fill(128);
  for (let y = 0; y < height; y++) {
    const light = pixels.subarray(y * width, (y + 1) * width);
    light.fill(40, 0, width / 2);
    light.fill(y < height / 2 ? 120 : 200, width / 2);
  }
  const timestamp = Math.round((index * 1e6) / FPS);
  return new VideoFrame(pixels, { format: "I420", codedWidth: width, codedHeight: height, timestamp });
}

async function isShaded(frame: VideoFrame): Promise<boolean> {
  const { width, height } = frame.visibleRect ?? { width: 0, height: 0 };
  const pixels = new Uint8Array(frame.allocationSize());
  const [plane] = await frame.copyTo(pixels);
  // The copy starts at the visible rectangle.
  const at = (across: number, down: number) =>
    pixels[
      (plane?.offset ?? 0) + Math.floor(down * height) * (plane?.stride ?? width) + Math.floor(across * width)
    ] ?? 0;
  return at(0.2, 0.2) < 90 && at(0.8, 0.2) > 80 && at(0.8, 0.2) < 160 && at(0.8, 0.8) > 160;
}
