import type { AutoQuality, Quality } from "./formats.ts";

/**
 * The SSIM at which an output looks the same as its source: viewers call pictures good from 0.95 and excellent from 0.99. See
 * docs/quality.md.
 */
export const SAME_LOOK = 0.97;

/** The levels between which `quality: "auto"` searches. */
export const AUTO_RANGE = { lowest: "very_low", highest: "high" } as const satisfies Record<string, Quality>;

/** Returns whether options ask for a measured quality. */
export function isAutoQuality(options: object): boolean {
  return "quality" in options && options.quality === "auto";
}

/** Returns the level to plan with; for a quality that is not measured yet, the best that the search may choose. */
export function plannedQuality(quality: AutoQuality = "medium"): Quality {
  return quality === "auto" ? AUTO_RANGE.highest : quality;
}

/** Returns the level of a fixed quality; undefined for a measured one. */
export function fixedQuality(quality: AutoQuality | undefined): Quality | undefined {
  return quality === "auto" ? undefined : quality;
}

/** One measured encode: a rate on the format's own scale, and its score; null when the pictures are too small to measure. */
export interface MeasuredRate {
  rate: number;
  score: number | null;
}

/** The result of a search. */
export interface ChosenRate extends MeasuredRate {
  /** The rate of each sample, by its time in the source in seconds, ascending; absent unless a video has several chunks. */
  rates?: { at: number; crf: number }[];
}

/** The rates of the lowest and the highest quality of a search, on the format's own scale; either may be the higher number. */
export interface RateRange {
  lowest: number;
  highest: number;
}

const MAX_TRIALS = 6;
// A score this close above the threshold is not worth another trial.
const CLOSE = 0.002;
// A score's lack is its difference from 1. The logarithm of the lack typically falls by this much over the whole range.
const TYPICAL_DECREASE = 1.5;
const MIN_LACK = 1e-5;

/**
 * Returns the next rate to measure in the search for the lowest rate whose score is at least {@link SAME_LOOK}; null when the search is
 * over. It expects scores that rise with quality.
 */
export function nextRate({ lowest, highest }: RateRange, tried: readonly MeasuredRate[]): number | null {
  const steps = Math.abs(highest - lowest);
  const rateAt = (step: number) => lowest + Math.sign(highest - lowest) * step;
  if (steps === 0 || tried.some(({ score }) => score === null)) return tried.length > 0 ? null : highest;
  const points = tried.map(({ rate, score }) => ({
    step: Math.abs(rate - lowest),
    lack: lackOf(score ?? 0),
  }));
  const goal = lackOf(SAME_LOOK);
  const [enough, better] = points.filter(({ lack }) => lack <= goal).toSorted((a, b) => a.step - b.step);
  const [short, shorter] = points.filter(({ lack }) => lack > goal).toSorted((a, b) => b.step - a.step);
  const [low, high] = [short ? short.step + 1 : 0, enough ? enough.step - 1 : steps];
  const isClose = enough !== undefined && goal - enough.lack < lackOf(SAME_LOOK) - lackOf(SAME_LOOK + CLOSE);
  if (low > high || isClose || tried.length >= MAX_TRIALS) return null;
  const from = enough ?? short;
  if (!from) return rateAt(Math.round(steps / 2));
  if (!enough && tried.length === MAX_TRIALS - 1) return highest;
  const other = enough ? (short ?? better) : shorter;
  const slope = other ? (from.lack - other.lack) / (from.step - other.step) : -TYPICAL_DECREASE / steps;
  // A score that does not rise tells nothing of the distance to the goal.
  if (slope >= 0) return rateAt(enough ? low : high);
  const step = from.step + (goal - from.lack) / slope;
  return rateAt(Math.min(high, Math.max(low, Math.round(step))));
}

function lackOf(score: number): number {
  return Math.log(Math.max(MIN_LACK, 1 - score));
}

/** Returns the lowest measured rate that reaches the goal, or else the highest; for pictures without a score, the best of the range. */
export function bestRate(
  { lowest, highest }: RateRange,
  tried: readonly MeasuredRate[],
): MeasuredRate | undefined {
  if (tried.some(({ score }) => score === null)) return { rate: highest, score: null };
  const ascending = tried.toSorted((a, b) => Math.abs(a.rate - lowest) - Math.abs(b.rate - lowest));
  return ascending.find(({ score }) => (score ?? 0) >= SAME_LOOK) ?? ascending.at(-1);
}
