import type { VideoCodec } from "../../core/formats.ts";
import { type Anchors, between, bitsFor } from "../../plan/bits.ts";
import type { Rate } from "../../plan/plan.ts";
import type { Size } from "../../plan/size.ts";

/** How an encoder of WebCodecs is held: by the quantizer of each picture, or by an average in bits per second. */
export type Hold = { quantizer: number } | { bitrate: number };

/** The quantizer that comes close to a CRF of the native encoders in SSIM, for each codec; see bench/constants/webcodecs-rate.ts. */
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

// The coarsest quantizer in the scale of the table.
const SCALE = { h264: 51, h265: 51, vp9: 255, av1: 255 } as const satisfies Record<VideoCodec, number>;

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
  return { bitrate: bitsFor(codec, rate.crf, { width, height, fps, source_bits }) };
}
