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

/** Bits per pixel at 640x360 that come close to a CRF in SSIM, where an encoder has no quantizer. */
export const BITS_PER_PIXEL = {
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

// Between the two nearest anchors, or on their line beyond the last.
function between(anchors: Anchors, crf: number): number {
  const found = anchors.findIndex(([at]) => at >= crf);
  const above = found === -1 ? anchors.length - 1 : Math.max(1, found);
  const [low, high] = [anchors[above - 1], anchors[above]];
  if (!low || !high) throw new RangeError("The rate has too few anchors.");
  return low[1] + ((crf - low[0]) / (high[0] - low[0])) * (high[1] - low[1]);
}
