import { productsOf } from "./correlation.ts";
import { runNative } from "./native.ts";
import { remember } from "./remember.ts";

export interface Sound {
  /** Samples from -1 to 1, one array per channel. */
  channels: Float32Array[];
  sample_rate: number;
  /** Seconds, from the number of samples. */
  duration: number;
}

/** How one channel of an output compares with the original. */
export interface Echo {
  /** Seconds by which the output is late; negative if early. */
  lag: number;
  /** Normalized correlation at that lag: 1 is identical except for loudness. */
  correlation: number;
  /** Decibels by which the output is louder. */
  gain: number;
}

/** `before` and `after` are ffmpeg options before and after the input. */
export interface SoundOptions {
  before?: readonly string[];
  after?: readonly string[];
  sample_rate?: number;
  channels: number;
}

/** Decodes the sound of a constant clip once per test file. */
export function recallSound(path: string, options: SoundOptions): Promise<Sound> {
  return remember([path, options], () => readSound(path, options));
}

/** Decodes the sound of a file with native ffmpeg. */
export async function readSound(path: string, options: SoundOptions): Promise<Sound> {
  const { before = [], after = [], sample_rate = 48_000, channels: count } = options;
  const { output } = await runNative([
    ...[...before, "-i", path, "-vn", ...after],
    ...["-ac", `${count}`, "-ar", `${sample_rate}`, "-f", "f32le", "-"],
  ]);
  return parseSound(output, count, sample_rate);
}

/** Parses interleaved samples of 32-bit floats. */
export function parseSound(output: Buffer, count: number, sample_rate: number): Sound {
  const samples = Math.floor(output.length / 4 / count);
  const channels = Array.from({ length: count }, () => new Float32Array(samples));
  for (let at = 0; at < samples; at++) {
    for (let channel = 0; channel < count; channel++) {
      const into = channels[channel];
      if (into) into[at] = output.readFloatLE((at * count + channel) * 4);
    }
  }
  return { channels, sample_rate, duration: samples / sample_rate };
}

/** Returns the root mean square in dB relative to full scale. */
export function levelOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return 10 * Math.log10(sum / Math.max(1, samples.length) + 1e-12);
}

/** Compares each channel with its original at the best match within `reach` seconds of delay either way. */
export function compareSound(output: Sound, original: Sound, reach = 0.1): Echo[] {
  const furthest = Math.round(reach * original.sample_rate);
  return original.channels.map((expected, index) => {
    const channel = output.channels[index] ?? new Float32Array(0);
    const correlate = createCorrelation(channel, expected, furthest);
    let best = { lag: 0, correlation: -1 };
    // Nearest delays first, so that a periodic sound matches at the nearest of equal delays.
    for (let step = 0; step <= furthest; step++) {
      for (const lag of step === 0 ? [0] : [step, -step]) {
        const correlation = correlate(lag);
        if (correlation > best.correlation + 1e-4) best = { lag, correlation };
      }
    }
    return {
      lag: best.lag / original.sample_rate,
      correlation: best.correlation,
      gain: levelOf(channel) - levelOf(expected),
    };
  });
}

/** Returns the seconds by which a video's sound plays later than another's, each counted from the start of its file. */
export async function soundLag(path: string, original: string): Promise<number> {
  const options = { channels: 1, after: ["-af", "aresample=async=1:first_pts=0"] };
  const [got, expected] = [await readSound(path, options), await readSound(original, options)];
  const [echo] = compareSound(got, expected);
  return echo && echo.correlation > 0.9 ? echo.lag : Number.NaN;
}

// Normalized over the samples that both signals have at the lag.
function createCorrelation(got: Float32Array, expected: Float32Array, furthest: number) {
  const products = productsOf(got, expected, furthest);
  const [gotPower, wantedPower] = [got, expected].map(powerUpTo) as [Float64Array, Float64Array];
  return (lag: number): number => {
    const from = Math.max(0, -lag);
    const to = Math.max(from, Math.min(expected.length, got.length - lag));
    const power = between(gotPower, from + lag, to + lag) * between(wantedPower, from, to);
    return products.at(lag) / Math.sqrt(power + 1e-12);
  };
}

function powerUpTo(samples: Float32Array): Float64Array {
  const sums = new Float64Array(samples.length + 1);
  let sum = 0;
  for (const [at, sample] of samples.entries()) {
    sum += sample * sample;
    sums[at + 1] = sum;
  }
  return sums;
}

function between(sums: Float64Array, from: number, to: number): number {
  return (sums[to] ?? 0) - (sums[from] ?? 0);
}
