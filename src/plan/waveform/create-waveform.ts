import { invalid } from "../../core/errors.ts";
import { DEFAULT_FORMAT, WAVEFORM_DEFAULTS } from "../../core/formats.ts";
import type { Source } from "../../core/source.ts";
import type { WaveformOptions } from "../../core/waveform/waveform-options.ts";
import { MOST_POINTS } from "../../media/limits.ts";
import { parseColor } from "../color.ts";
import type { Span } from "../span.ts";
import { LEAST_SAMPLES, samplesPerPixel, type WaveformPlan } from "./waveform-plan.ts";

/**
 * Plans the peaks of a source's sound.
 *
 * @throws `invalid_options` for more points than samples, or than fit into memory, and for points of an unknown duration.
 */
export function createWaveform(source: Source, options: WaveformOptions, span: Span): WaveformPlan {
  const { format = DEFAULT_FORMAT.waveform, split_channels: split = false } = options;
  const { channels = 2, sample_rate = 48_000 } = source.audio ?? {};
  const zoom = zoomOf(options, span);
  const samples = samplesPerPixel(zoom, sample_rate);
  if ("pixels_per_second" in zoom && samples < LEAST_SAMPLES) {
    const most = Math.floor(sample_rate / LEAST_SAMPLES);
    const rule = `must be at most ${most} for this source, which has ${sample_rate} samples a second.`;
    throw invalid("options.pixels_per_second", rule, "invalid_options");
  }
  const points = ((span.duration ?? 0) * sample_rate * (split ? channels : 1)) / samples;
  if (format !== "png" && points > MOST_POINTS) {
    const rule = `would make ${Math.ceil(points)} points of this source; ${MOST_POINTS} is the most, so use more samples per pixel.`;
    throw invalid(`options.${Object.keys(zoom)[0]}`, rule, "invalid_options");
  }
  return { zoom, split, bits: options.bits ?? WAVEFORM_DEFAULTS.bits, picture: pictureOf(options) };
}

function zoomOf(options: WaveformOptions, { duration }: Span): WaveformPlan["zoom"] {
  const { samples_per_pixel, pixels_per_second, format, width = WAVEFORM_DEFAULTS.width } = options;
  if (samples_per_pixel !== undefined) return { samples_per_pixel };
  if (pixels_per_second !== undefined) return { pixels_per_second };
  const points = format === "png" ? width : options.points;
  if (points === undefined) return { samples_per_pixel: WAVEFORM_DEFAULTS.samples_per_pixel };
  if (duration !== null) return { points, seconds: duration };
  const name = format === "png" ? "width" : "points";
  const rule =
    "needs a source whose duration is known; give options.samples_per_pixel or options.pixels_per_second.";
  throw invalid(`options.${name}`, rule, "invalid_options");
}

function pictureOf(options: WaveformOptions): WaveformPlan["picture"] {
  if (options.format !== "png") return null;
  const usual = WAVEFORM_DEFAULTS;
  const { width = usual.width, height = usual.height } = options;
  const { waveform_color = usual.waveform_color, background_color = usual.background_color } = options;
  return {
    width,
    height,
    color: parseColor(waveform_color, true),
    background: parseColor(background_color, true),
  };
}
