import type { VideoCodec } from "../../core/formats.ts";
import { type Anchors, between, bitsFor } from "../../plan/bits.ts";
import type { Rate } from "../../plan/plan.ts";
import type { Size } from "../../plan/size.ts";

/** Rate control of a WebCodecs encoder: a quantizer for each picture, or an average in bits per second. */
export type Hold = { quantizer: number } | { bitrate: number };

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

// The coarsest quantizer on the table's scale.
const SCALE = { h264: 51, h265: 51, vp9: 255, av1: 255 } as const satisfies Record<VideoCodec, number>;

export interface HoldNeeds extends Size {
  codec: VideoCodec;
  rate: Rate;
  fps: number;
  /** The coarsest quantizer that the encoder accepts; null when it accepts none. */
  coarsest: number | null;
  /** The source's bits per second for as many pixels; null when unknown. */
  source_bits: number | null;
}

/** Returns the rate control that comes closest to the rate of a plan. */
export function holdFor(needs: HoldNeeds): Hold {
  const { codec, rate, width, height, fps, coarsest, source_bits } = needs;
  if ("bitrate" in rate) return { bitrate: rate.bitrate };
  if (coarsest !== null) {
    const share = between(QUANTIZER[codec], rate.crf) / SCALE[codec];
    return { quantizer: Math.round(Math.min(1, Math.max(0, share)) * coarsest) };
  }
  return { bitrate: bitsFor(codec, rate.crf, { width, height, fps, source_bits }) };
}
