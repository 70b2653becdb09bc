import { readSound } from "../judge/sound.ts";
import { TONE } from "./numbered.ts";

/** The rising tone as heard in a numbered clip or its output. */
export interface Tone {
  /** Seconds of sound, from the number of samples. */
  seconds: number;
  /** The second of the source heard at each sampled second; NaN where there is no tone. */
  heard: { at: number; source: number }[];
}

const SAMPLE_RATE = 16_000;
const WINDOW = 0.1;
// An encoder's first frames contain priming silence.
const FIRST = 0.25;
// Two codec frames plus the error of the measured frequency.
const TOLERANCE = 0.06;
const STEP = 0.25;
const QUIET = 0.05;

/** Decodes the sound of a file or playlist with native ffmpeg, by options after the input, and derives the time from its frequency. */
export async function readTone(path: string, after: readonly string[] = []): Promise<Tone> {
  const { channels, duration } = await readSound(path, { channels: 1, sample_rate: SAMPLE_RATE, after });
  const [samples = new Float32Array(0)] = channels;
  const count = Math.max(0, Math.floor((duration - FIRST - WINDOW) / STEP) + 1);
  const tones = Array.from({ length: count }, (_, index) => {
    const from = FIRST + index * STEP;
    const window = samples.subarray(from * SAMPLE_RATE, (from + WINDOW) * SAMPLE_RATE);
    const source = (frequencyOf(window) - TONE.start_hz) / TONE.hz_per_second;
    return { at: from + WINDOW / 2, source };
  });
  return { seconds: duration, heard: tones };
}

// Measures the frequency from the upward zero crossings.
function frequencyOf(samples: Float32Array): number {
  const rises: number[] = [];
  let loudest = 0;
  let before = samples[0] ?? 0;
  for (const [at, sample] of samples.entries()) {
    if (before < 0 && sample >= 0) rises.push(at - sample / (sample - before));
    loudest = Math.max(loudest, Math.abs(sample));
    before = sample;
  }
  const [first = 0] = rises;
  const span = (rises.at(-1) ?? first) - first;
  return loudest < QUIET || span === 0 ? Number.NaN : ((rises.length - 1) * SAMPLE_RATE) / span;
}

/** Returns the seconds that have the sound of another second of the source. */
export function findWrongTone({ heard }: Tone, start: number): number[] {
  return heard.filter(({ at, source }) => !(Math.abs(source - at - start) <= TOLERANCE)).map(({ at }) => at);
}
