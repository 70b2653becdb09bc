/** How much sound a point of a waveform spans. */
export type Zoom =
  | { samples_per_pixel: number }
  | { pixels_per_second: number }
  | { points: number; seconds: number };

/** Maximum points of a waveform over all channels: 32 MB of peaks. */
export const MAX_POINTS = 8_000_000;
/** Minimum samples per point, as in audiowaveform; with fewer, the peaks show no more than the samples. */
export const MIN_SAMPLES = 2;

/** Returns the samples per point of a zoom at a sample rate in hertz. */
export function samplesPerPixel(zoom: Zoom, sample_rate: number): number {
  if ("samples_per_pixel" in zoom) return zoom.samples_per_pixel;
  if ("pixels_per_second" in zoom) return Math.floor(sample_rate / zoom.pixels_per_second);
  return Math.max(1, Math.ceil(Math.round(zoom.seconds * sample_rate) / zoom.points));
}
