import { type AutoQuality, QUALITIES, type Quality } from "./formats.ts";

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

/** Returns whether options ask for measured rates: for a quality, or for the renditions of a stream. */
export function isMeasured(options: object): boolean {
  return isAutoQuality(options) || ("ladder" in options && options.ladder === "auto");
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
  /** The renditions of a measured stream, by codec, and the best of each codec first; absent for other outputs. */
  rungs?: { name: string; crf: number; score: number }[];
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

/** Returns the levels at which each rendition of a measured ladder is tried: `quality`, and those below it down to `low`. */
export function ladderLevels(quality: Quality = "medium"): Quality[] {
  const best = QUALITIES.indexOf(quality);
  return QUALITIES.slice(Math.min(best, QUALITIES.indexOf(LOWEST_LEVEL)), best + 1);
}

// Below it, a smaller rendition looks better for the same bits.
const LOWEST_LEVEL: Quality = "low";

/** A measured encode of a rendition: its score at the size of the best rendition, and its bits per second. */
export interface MeasuredRendition {
  name: string;
  /** Pixels of a picture. */
  pixels: number;
  crf: number;
  score: number;
  bits: number;
}

// A rendition that saves less than a third of the bits of the one above it helps no viewer.
const MAX_SHARE = 2 / 3;
// Each step down at least doubles the lack, as from 0.97 to 0.94 and 0.88.
const LACK_STEP = 2;
// Bits per second that every connection carries.
const SLOW_LINE = 400_000;

/**
 * Chooses the renditions of one codec, best first. The first is the one with the fewest bits that looks the same as the source or, if
 * none does, the best of the full size, which takes more bits than the source only if all do. Each later one is smaller, and the best
 * whose lack is at least twice that of the one before, until a rendition fits a slow connection. `source_bits` is the bitrate of the
 * source in the samples; null sets no limit.
 */
export function chooseRenditions(
  measured: readonly MeasuredRendition[],
  source_bits: number | null,
): MeasuredRendition[] {
  const usable = measured.filter(
    (one) => !measured.some((other) => other !== one && isBetter(other, one, measured)),
  );
  const byBits = usable.toSorted((one, other) => one.bits - other.bits);
  const full = Math.max(...measured.map(({ pixels }) => pixels));
  const whole = measured.filter(({ pixels }) => pixels === full).toSorted((a, b) => a.bits - b.bits);
  const within = whole.filter(({ bits }) => source_bits === null || bits <= source_bits);
  const best = within.toSorted((one, other) => other.score - one.score)[0] ?? whole[0];
  const top = byBits.find(({ score }) => score >= SAME_LOOK) ?? best;
  const rungs: MeasuredRendition[] = [];
  let rung: MeasuredRendition | undefined = top;
  while (rung) {
    rungs.push(rung);
    rung = rung.bits > SLOW_LINE ? stepDown(rung, byBits) : undefined;
  }
  return rungs;
}

function stepDown(
  { pixels, bits, score }: MeasuredRendition,
  byBits: readonly MeasuredRendition[],
): MeasuredRendition | undefined {
  const below = byBits
    .filter((each) => each.pixels < pixels && each.bits <= bits * MAX_SHARE)
    .toSorted((one, other) => other.score - one.score);
  return below.find((each) => 1 - each.score >= LACK_STEP * (1 - score)) ?? below.at(-1);
}

/** Returns whether a rendition has at least the score of another for no more bits; of two equals, the first is better. */
function isBetter(
  one: MeasuredRendition,
  other: MeasuredRendition,
  order: readonly MeasuredRendition[],
): boolean {
  if (one.score < other.score || one.bits > other.bits) return false;
  return one.score > other.score || one.bits < other.bits || order.indexOf(one) < order.indexOf(other);
}
