import { QUALITIES, type Quality } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import { DEFAULT_FPS } from "../media/features/fps.ts";
import { bitsFor, sourceBits } from "./bits.ts";
import type { VideoPlan } from "./plan.ts";
import { CRF } from "./rate.ts";

// The bits of each quality were measured on noise; camera footage takes about 5 Mbit/s at 1080p and x264's CRF 23.
const USUAL = 0.4;

/** Returns the quality that typical pictures have at a plan's bitrate; `poor` below the lowest, null when no bitrate applies. */
export function usualQuality(video: VideoPlan | null, source: Source): Quality | "poor" | null {
  if (video?.mode !== "encode" || !("bitrate" in video.rate)) return null;
  const { width, height } = video.geometry;
  const { codec, rate } = video;
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const pictures = { width, height, fps };
  const needed = (quality: Quality) => {
    const crf = CRF[codec][quality];
    const usual = USUAL * bitsFor(codec, crf, { ...pictures, source_bits: null });
    return Math.min(usual, bitsFor(codec, crf, { ...pictures, source_bits: sourceBits(source, pictures) }));
  };
  return QUALITIES.findLast((quality) => needed(quality) <= rate.bitrate) ?? "poor";
}
