/** How the peaks of a waveform are measured and written. */
export interface WaveformPlan {
  /** Samples in a point, points in a second, or points for all of so many seconds. */
  zoom: { samples_per_pixel: number } | { pixels_per_second: number } | { points: number; seconds: number };
  /** Whether each channel has its own peaks, in place of the peaks of their mean. */
  split: boolean;
  /** Bits of a peak. */
  bits: 8 | 16;
  /** The picture of the kind's format png; null for peaks alone. */
  picture: WaveformPicture | null;
}

/** A drawn waveform: a point in each column of pixels, channels below one another. */
export interface WaveformPicture {
  width: number;
  height: number;
  /** `0xRRGGBB` or `0xRRGGBBAA`. */
  color: string;
  background: string;
}

/** Most points of all channels together: 32 MB of peaks. */
export const MOST_POINTS = 8_000_000;

/** Fewest samples in a point, as in audiowaveform; with fewer, the peaks show no more than the sound itself. */
export const LEAST_SAMPLES = 2;

/** Returns how many samples a point of a zoom spans at a sample rate in hertz. */
export function samplesPerPixel(zoom: WaveformPlan["zoom"], sample_rate: number): number {
  if ("samples_per_pixel" in zoom) return zoom.samples_per_pixel;
  if ("pixels_per_second" in zoom) return Math.floor(sample_rate / zoom.pixels_per_second);
  return Math.max(1, Math.ceil(Math.round(zoom.seconds * sample_rate) / zoom.points));
}
