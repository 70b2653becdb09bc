import type { WaveformPicture } from "../../media/features/waveform.ts";
import { encodePng } from "./encode-png.ts";

const LEVELS = 65_536;

/**
 * Draws peaks as a PNG of two colors: in each column of pixels a line from the least sample to the greatest, channels below one
 * another. `peaks` has a minimum and a maximum for each channel of each point.
 */
export function drawWaveform(
  peaks: Int16Array,
  channels: number,
  { width, height, color, background }: WaveformPicture,
): Uint8Array<ArrayBuffer> {
  // A line of one bit a pixel, after a byte that names its filter: none.
  const stride = 1 + Math.ceil(width / 8);
  const lines = new Uint8Array(stride * height);
  const columns = Math.min(width, peaks.length / (2 * channels));
  for (let channel = 0; channel < channels; channel++) {
    const top = Math.floor((channel * height) / channels);
    const room = Math.floor(((channel + 1) * height) / channels) - top;
    // The lowest sample is on the last line, the highest on the first.
    const lineOf = (sample: number) => top + room - 1 - Math.floor(((sample + LEVELS / 2) * room) / LEVELS);
    for (let column = 0; column < columns && room > 0; column++) {
      const at = 2 * (column * channels + channel);
      const last = lineOf(peaks[at] as number);
      const byte = 1 + (column >> 3);
      const bit = 0x80 >> (column & 7);
      for (let line = lineOf(peaks[at + 1] as number); line <= last; line++) {
        const place = line * stride + byte;
        lines[place] = (lines[place] as number) | bit;
      }
    }
  }
  return encodePng({ width, height, colors: [background, color], lines });
}
