import type { z } from "zod";
import type * as schema from "../plan-schema.ts";

/** How the peaks of a waveform are measured and written. */
export type WaveformPlan = z.infer<typeof schema.WaveformPlan>;
export type WaveformPicture = NonNullable<WaveformPlan["picture"]>;

/** Fewest samples in a point, as in audiowaveform; with fewer, the peaks show no more than the sound itself. */
export const LEAST_SAMPLES = 2;

/** Returns how many samples a point of a zoom spans at a sample rate in hertz. */
export function samplesPerPixel(zoom: WaveformPlan["zoom"], sample_rate: number): number {
  if ("samples_per_pixel" in zoom) return zoom.samples_per_pixel;
  if ("pixels_per_second" in zoom) return Math.floor(sample_rate / zoom.pixels_per_second);
  return Math.max(1, Math.ceil(Math.round(zoom.seconds * sample_rate) / zoom.points));
}
