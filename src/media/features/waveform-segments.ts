import { containerOf } from "../containers.ts";
import type { Chunk, Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { samplesPerPixel } from "./waveform-zoom.ts";

/** A segment of a waveform's audio, and the number of points before it. */
export interface Segment {
  chunk: Chunk;
  points_before: number;
  /** Samples of each channel up to the next segment; null for the last one, which ends with the sound. */
  samples: number | null;
}

const MIN_SECONDS = 300;
// An MP3 packet depends on the previous one and on up to 511 earlier bytes: at most a second of audio, at the lowest bitrate.
const LEAD_SECONDS = 1;

/**
 * Divides a waveform's audio into at most `max` segments to measure in parallel, in order of time; a single one if the result would
 * not be exact. Each starts at a point.
 */
export function segmentsOf(plan: Plan, chunk: Chunk, source: Source, max: number): Segment[] {
  const whole = [{ chunk, points_before: 0, samples: null }];
  const { sample_rate = 0 } = source.audio ?? {};
  if (!plan.waveform || !containerOf(source).exact_seek || sample_rate < 1 || chunk.start > 0) return whole;
  const samples = samplesPerPixel(plan.waveform.zoom, sample_rate);
  const seconds = (chunk.end ?? plan.duration ?? 0) - chunk.start;
  const count = Math.min(max, Math.floor(seconds / MIN_SECONDS));
  const points = (seconds * sample_rate) / samples;
  const firsts = Array.from({ length: count }, (_, at) => Math.round((at * points) / count));
  if (count < 2 || new Set(firsts).size < count) return whole;
  return firsts.map((first, at) => {
    const next = firsts[at + 1];
    const timeOf = (point: number) => (point * samples) / sample_rate;
    const start = timeOf(first);
    return {
      chunk: {
        ...chunk,
        start,
        end: next === undefined ? chunk.end : timeOf(next),
        ...(at > 0 && { decode_from: start - LEAD_SECONDS }),
      },
      points_before: first,
      samples: next === undefined ? null : (next - first) * samples,
    };
  });
}
