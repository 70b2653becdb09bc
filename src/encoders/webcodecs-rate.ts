import type { VideoCodec } from "../core/formats.ts";
import type { Rate } from "../plan/plan.ts";
import type { Size } from "../plan/size.ts";

/** How an encoder of WebCodecs is held: by the quantizer of each picture, or by an average in bits per second. */
export type Hold = { quantizer: number } | { bitrate: number };

type Anchors = readonly (readonly [crf: number, value: number])[];

/** The quantizer that comes close to a CRF of the native encoders in SSIM, for each codec; see bench/webcodecs-rate.ts. */
export const QUANTIZER = {
  h264: [
    [17, 17],
    [31, 31],
  ],
  h265: [
    [21, 21],
    [36, 36],
  ],
  vp9: [
    [22, 22],
    [43, 43],
  ],
  av1: [
    [25, 25],
    [50, 50],
  ],
} as const satisfies Record<VideoCodec, Anchors>;

/** Bits per pixel at 640x360 that come close to a CRF in SSIM, where an encoder has no quantizer. */
export const BITS_PER_PIXEL = {
  h264: [
    [17, 0.5],
    [20, 0.35],
    [23, 0.24],
    [27, 0.15],
    [31, 0.1],
  ],
  h265: [
    [21, 0.35],
    [24, 0.24],
    [28, 0.16],
    [32, 0.1],
    [36, 0.07],
  ],
  vp9: [
    [22, 0.4],
    [27, 0.27],
    [32, 0.18],
    [37, 0.12],
    [43, 0.08],
  ],
  av1: [
    [25, 0.35],
    [30, 0.24],
    [35, 0.16],
    [43, 0.1],
    [50, 0.07],
  ],
} as const satisfies Record<VideoCodec, Anchors>;

// Where pictures are plain, a source shows it by its own bitrate; more than so many times that is wasted.
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

// The coarsest quantizer in the scale of the table.
const SCALE = { h264: 51, h265: 51, vp9: 255, av1: 255 } as const satisfies Record<VideoCodec, number>;

const REFERENCE = 640 * 360;
// Neighboring pixels of a larger picture are more alike.
const LARGER = -0.25;

/** What decides how an encoder is held. */
export interface HoldNeeds extends Size {
  codec: VideoCodec;
  rate: Rate;
  fps: number;
  /** The coarsest quantizer that the encoder takes; null where it takes none. */
  coarsest: number | null;
  /** Bits that the source takes for a second of as many pixels; null where unknown. */
  source_bits: number | null;
}

/** Gives how an encoder is held so that it comes close to the rate of a plan. */
export function holdFor(needs: HoldNeeds): Hold {
  const { codec, rate, width, height, fps, coarsest, source_bits } = needs;
  if ("bitrate" in rate) return { bitrate: rate.bitrate };
  if (coarsest !== null) {
    const share = between(QUANTIZER[codec], rate.crf) / SCALE[codec];
    return { quantizer: Math.round(Math.min(1, Math.max(0, share)) * coarsest) };
  }
  const pixels = width * height;
  const anchors = BITS_PER_PIXEL[codec].map(([crf, bits]) => [crf, Math.log(bits)] as const);
  const bits = Math.exp(between(anchors, rate.crf)) * (pixels / REFERENCE) ** LARGER;
  const wanted = bits * pixels * fps;
  const most = source_bits === null ? wanted : source_bits * between(TIMES_SOURCE[codec], rate.crf);
  return { bitrate: Math.round(Math.min(wanted, most)) };
}

function between(anchors: Anchors, crf: number): number {
  const above = Math.max(
    1,
    anchors.findIndex(([at], index) => index > 0 && at >= crf),
  );
  const [low, high] = [anchors[above - 1], anchors[above]];
  if (!low || !high) throw new RangeError("The rate has too few anchors.");
  return low[1] + ((crf - low[0]) / (high[0] - low[0])) * (high[1] - low[1]);
}
