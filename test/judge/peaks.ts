import { runNative } from "./native.ts";

/** The sound to take peaks of, and the zoom. */
export interface PeakWish {
  channels: number;
  samples_per_pixel: number;
  /** Each channel by itself; else their mean. */
  split?: boolean;
  /** ffmpeg options after the input. */
  after?: readonly string[];
}

/** The samples of a file by native ffmpeg, of 16 bits, and their peaks: a minimum and a maximum for each channel of each point. */
export interface MeasuredPeaks {
  /** Samples of a channel. */
  samples: number;
  data: number[];
}

/** Takes the peaks of a file's sound, sample by sample. */
export async function measurePeaks(path: string, wish: PeakWish): Promise<MeasuredPeaks> {
  const { channels, samples_per_pixel, split = false, after = [] } = wish;
  const args = ["-i", path, "-vn", ...after, "-c:a", "pcm_s16le", "-f", "s16le", "-"];
  const { output } = await runNative(args);
  const values = new Int16Array(output.buffer.slice(output.byteOffset, output.byteOffset + output.length));
  const samples = values.length / channels;
  const rows = split ? channels : 1;
  const data: number[] = [];
  for (let point = 0; point * samples_per_pixel < samples; point++) {
    const end = Math.min(samples, (point + 1) * samples_per_pixel);
    for (let row = 0; row < rows; row++) {
      let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let at = point * samples_per_pixel; at < end; at++) {
        const value = split || channels === 1 ? read(at, row) : mean(at);
        if (value < least) least = value;
        if (value > most) most = value;
      }
      data.push(least, most);
    }
  }
  return { samples, data };

  function read(at: number, channel: number): number {
    return values[at * channels + channel] ?? Number.NaN;
  }

  function mean(at: number): number {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += read(at, channel);
    return Math.trunc(sum / channels) || 0;
  }
}
