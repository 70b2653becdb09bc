import type { VideoCodec } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import type { Size } from "./size.ts";

/** Values measured at some rate factors, in ascending order. */
export type Anchors = readonly (readonly [crf: number, value: number])[];

// Bits per pixel at 640x360 that match a CRF of the native encoders in SSIM: bench/constants/webcodecs-rate.ts.
const BITS_PER_PIXEL = {
  h264: [
    [17, 1.71],
    [20, 0.91],
    [23, 0.43],
    [27, 0.26],
    [31, 0.15],
  ],
  h265: [
    [21, 1.2],
    [24, 0.65],
    [28, 0.32],
    [32, 0.19],
    [36, 0.11],
  ],
  vp9: [
    [22, 0.83],
    [27, 0.6],
    [32, 0.51],
    [37, 0.43],
    [43, 0.28],
  ],
  av1: [
    [25, 0.63],
    [30, 0.53],
    [35, 0.37],
    [43, 0.2],
    [50, 0.13],
  ],
} as const satisfies Record<VideoCodec, Anchors>;

// Plain pictures show in the source's own bitrate; more than this many times that is wasted.
const TIMES_SOURCE = {
  h264: [
    [17, 3],
    [31, 0.75],
  ],
  h265: [
    [21, 2.5],
    [36, 0.6],
  ],
  vp9: [
    [22, 2.5],
    [43, 0.6],
  ],
  av1: [
    [25, 2.5],
    [50, 0.6],
  ],
} as const satisfies Record<VideoCodec, Anchors>;

const REFERENCE = 640 * 360;
// Neighboring pixels of a larger picture are more alike.
const LARGER = -0.25;

export interface PictureRate extends Size {
  fps: number;
  /** The source's bits per second for as many pixels; null when unknown. */
  source_bits: number | null;
}

/** Returns the bits per second at which typical pictures match a CRF; fewer for pictures that their source shows to be plain. */
export function bitsFor(codec: VideoCodec, crf: number, pictures: PictureRate): number {
  const pixels = pictures.width * pictures.height;
  const anchors = BITS_PER_PIXEL[codec].map(([at, bits]) => [at, Math.log(bits)] as const);
  const bits = Math.exp(between(anchors, crf)) * (pixels / REFERENCE) ** LARGER;
  const wanted = bits * pixels * pictures.fps;
  const { source_bits } = pictures;
  const most = source_bits === null ? wanted : source_bits * between(TIMES_SOURCE[codec], crf);
  return Math.round(Math.min(wanted, most));
}

// Fewer pixels take more bits each, because neighbors are less alike.
const FEWER = 0.75;

/** Scales a source's bits per second to pictures of another size and rate, but never above its own; null when unknown. */
export function sourceBits(source: Source, { width, height, fps }: Size & { fps: number }): number | null {
  const bitrate = streamBits(source, "video");
  const pixels = (source.coded_width ?? width) * (source.coded_height ?? height) * (source.fps ?? fps);
  return bitrate === null ? null : bitrate * Math.min(1, (width * height * fps) / pixels) ** FEWER;
}

/**
 * Returns the bits per second of a source's pictures or sound, estimated as the file's minus the other's if necessary; null
 * when neither is known.
 */
export function streamBits(source: Source, kind: "video" | "audio"): number | null {
  const own = ownBits(source, kind);
  if (own) return own;
  // The file's total includes pictures and says nothing about the sound.
  if (kind === "audio" && source.codecs?.video) return null;
  const all = source.bitrate ?? 0;
  const sound = kind === "video" ? ownBits(source, "audio") : 0;
  return (all > sound ? all - sound : all) || null;
}

function ownBits(source: Source, kind: "video" | "audio"): number {
  return source.streams?.find((stream) => stream.kind === kind)?.bitrate ?? 0;
}

/** Interpolates between the two nearest anchors; extrapolates beyond the last. */
export function between(anchors: Anchors, crf: number): number {
  const found = anchors.findIndex(([at]) => at >= crf);
  const above = found === -1 ? anchors.length - 1 : Math.max(1, found);
  const [low, high] = [anchors[above - 1], anchors[above]];
  if (!low || !high) throw new RangeError("The rate has too few anchors.");
  return low[1] + ((crf - low[0]) / (high[0] - low[0])) * (high[1] - low[1]);
}
