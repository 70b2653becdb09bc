import type { AudioCodec, ImageFormat, Quality, VideoCodec } from "../core/formats.ts";
import type { Rate } from "./plan.ts";

type ByQuality = Readonly<Record<Quality, number>>;

const byQuality = (
  very_low: number,
  low: number,
  medium: number,
  high: number,
  very_high: number,
): ByQuality => ({
  very_low,
  low,
  medium,
  high,
  very_high,
});

/** Frames per second assumed for a source that does not state them. */
export const DEFAULT_FPS = 30;

/** Constant rate factor of each video codec; adjacent quality levels differ by about 40 % in size, as in Zencoder. */
export const CRF = {
  h264: byQuality(31, 27, 23, 20, 17),
  h265: byQuality(36, 32, 28, 24, 21),
  vp9: byQuality(43, 37, 32, 27, 22),
  av1: byQuality(50, 43, 35, 30, 25),
} as const satisfies Record<VideoCodec, ByQuality>;

const AAC_MP3 = byQuality(64_000, 96_000, 128_000, 192_000, 256_000);
const OPUS_VORBIS = byQuality(48_000, 64_000, 96_000, 128_000, 192_000);

/** Bits per second of each audio codec that has a bitrate. */
export const AUDIO_BITRATE = { aac: AAC_MP3, mp3: AAC_MP3, opus: OPUS_VORBIS, vorbis: OPUS_VORBIS } as const;

/** FLAC compression level: the sound is identical, the file smaller and the encode slower. */
export const FLAC_COMPRESSION = byQuality(0, 3, 5, 8, 12);

const JPEG_WEBP = byQuality(40, 60, 78, 87, 94);

/** Image quality on each format's scale: 1 to 100 for jpeg and webp, 63 to 0 for avif; png and gif have none. */
export const IMAGE_QUALITY = {
  jpeg: JPEG_WEBP,
  webp: JPEG_WEBP,
  avif: byQuality(45, 38, 30, 23, 16),
  png: null,
  gif: null,
} as const satisfies Record<ImageFormat, ByQuality | null>;

/** Trade-off between size and quality; `bitrate`, in bits per second, overrides `quality` (default `medium`). */
export interface RateOptions {
  quality?: Quality | undefined;
  bitrate?: number | undefined;
}

/** Returns the rate of a video stream. */
export function videoRate(codec: VideoCodec, options: RateOptions): Rate {
  if (options.bitrate !== undefined) return { bitrate: options.bitrate };
  return { crf: CRF[codec][options.quality ?? "medium"] };
}

/** Returns the bits per second of an audio stream; null for lossless codecs. */
export function audioBitrate(codec: AudioCodec, options: RateOptions): number | null {
  if (!(codec in AUDIO_BITRATE)) return null;
  return options.bitrate ?? AUDIO_BITRATE[codec as keyof typeof AUDIO_BITRATE][options.quality ?? "medium"];
}

/** Returns the quality of an image on its format's scale; null when the format has none. */
export function imageQuality(format: ImageFormat, quality: Quality = "medium"): number | null {
  return IMAGE_QUALITY[format]?.[quality] ?? null;
}

/** Returns the exact frames per second behind a rounded number: 30000/1001 for 29.97, and so on; others are unchanged. */
export function exactFps(fps: number): number {
  const whole = ntscRate(fps);
  return whole === null ? fps : (whole * 1000) / 1001;
}

/** Returns the nominal whole number of an NTSC rate, such as 30 for 29.97 (30000/1001); null for any other rate. */
export function ntscRate(fps: number): number | null {
  const whole = Math.round(fps * 1.001);
  return !Number.isInteger(fps) && Math.abs(fps - (whole * 1000) / 1001) < 0.005 ? whole : null;
}

/** Returns whether an average rate looks like that of evenly spaced frames; an average of uneven ones matches no usual rate. */
export function isEven(fps: number): boolean {
  return Math.abs(2 * fps - Math.round(2 * fps)) < 0.01 || ntscRate(fps) !== null;
}
