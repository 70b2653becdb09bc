import { shrinkOverlay } from "./features/overlay.ts";
import type { ImageFormat } from "./formats.ts";
import { type Size, storedPicture } from "./picture-geometry.ts";
import type { Geometry, ImagePlan, Plan } from "./plan.ts";
import { imageQuality } from "./rates.ts";
import type { Source } from "./source.ts";

/** One attempt at a limit in bytes: a quality on the format's scale, null where it has none, and the factor by which sides shrink. */
export interface ImageTrial {
  quality: number | null;
  scale: number;
}

/** A trial and the size of its file. */
export interface TriedImage extends ImageTrial {
  bytes: number;
}

// The share of the limit that is aimed at, and the one that is good enough.
const AIM = 0.95;
const ENOUGH = { quality: 0.9, scale: 0.85 } as const;
// Most trials of quality, and of size; past the first few, interpolation gives way to halving.
const MOST = 8;
const INTERPOLATED = 4;
// By how much the logarithm of a file's size usually falls with each step of quality, until two trials show it.
const FALL: Readonly<Partial<Record<ImageFormat, number>>> = { jpeg: 0.018, webp: 0.018, avif: 0.06 };
// A picture's bytes grow a little more slowly than its pixels.
const POWER = 1.6;
// Pixels: smaller pictures show nothing.
const LEAST_SIDE = 16;
// Factors of sides closer than this make pictures alike.
const ALIKE = 1.03;

/**
 * Returns what to try next, so that an image stays within its plan's `max_bytes`; null when the search is over. Searches for the
 * best quality that fits, down to `very_low`, then for the largest picture of that quality.
 */
export function nextTrial(plan: Plan, tried: readonly TriedImage[]): ImageTrial | null {
  const { image } = plan;
  const { quality = null, max_bytes: most = 0 } = image ?? {};
  const [first] = tried;
  if (!image || !first) return { quality, scale: 1 };
  if (first.bytes <= most) return null;
  const floor = floorOf(plan.format as ImageFormat, quality);
  const whole = tried.filter(({ scale }) => scale === 1);
  const least = whole.find((trial) => trial.quality === floor);
  if (!least || least.bytes <= most) {
    const step = nextStep(whole, { quality: quality ?? 0, floor: floor ?? 0, format: plan.format, most });
    return step === null ? null : { quality: step, scale: 1 };
  }
  const small = tried.filter((trial) => trial.quality === floor);
  const scale = nextScale(small, leastScale(image), most);
  return scale === null ? null : { quality: floor, scale };
}

/** Returns the trial that is the best of those within the limit; undefined when none is. */
export function bestTrial<T extends TriedImage>(plan: Plan, tried: readonly T[]): T | undefined {
  const most = plan.image?.max_bytes ?? Number.POSITIVE_INFINITY;
  const fits = tried.filter(({ bytes }) => bytes <= most);
  return fits.toSorted((a, b) => b.scale - a.scale || b.bytes - a.bytes)[0];
}

/** Returns the plan of a trial. */
export function trialPlan(plan: Plan, source: Source, { quality, scale }: ImageTrial): Plan {
  const { image } = plan;
  if (!image) return plan;
  if (scale === 1) return { ...plan, image: { ...image, quality } };
  const geometry = scaleGeometry(image.geometry, source, scale);
  const overlay = image.overlay && { overlay: shrinkOverlay(image.overlay, scale) };
  return { ...plan, image: { ...image, quality, geometry, ...overlay } };
}

// The worst quality that has a name is the lowest that is tried.
function floorOf(format: ImageFormat, quality: number | null): number | null {
  const worst = imageQuality(format, "very_low");
  if (quality === null || worst === null) return null;
  return isInverse(format) ? Math.max(quality, worst) : Math.min(quality, worst);
}

// Of AVIF's quantizers, a lower one is better.
function isInverse(format: string): boolean {
  return format === "avif";
}

interface Qualities {
  quality: number;
  floor: number;
  format: string;
  most: number;
}

/** Returns the next quality, searched as a number of steps below the wanted one. */
function nextStep(tried: readonly TriedImage[], { quality, floor, format, most }: Qualities): number | null {
  const points = tried.map((trial) => ({ at: Math.abs((trial.quality ?? 0) - quality), bytes: trial.bytes }));
  const { over, under } = bracket(points, most);
  const last = Math.abs(floor - quality);
  const isDone = under && (under.bytes >= most * ENOUGH.quality || under.at - over.at <= 1);
  if (isDone || points.length >= MOST) return null;
  const logOver = Math.log(over.bytes / (most * AIM));
  let at: number;
  if (under) {
    const share = logOver / Math.log(over.bytes / under.bytes);
    const guess = points.length > INTERPOLATED ? 0.5 : share;
    at = Math.min(under.at - 1, Math.max(over.at + 1, Math.round(over.at + (under.at - over.at) * guess)));
  } else {
    const fall = FALL[format as ImageFormat] ?? 0.02;
    // Two guesses that fell short are enough.
    at = points.length > 2 ? last : Math.min(last, over.at + Math.max(1, Math.ceil(logOver / fall)));
  }
  return isInverse(format) ? quality + at : quality - at;
}

function nextScale(tried: readonly TriedImage[], least: number, most: number): number | null {
  const points = tried.map(({ scale, bytes }) => ({ at: 1 / scale, bytes }));
  const { over, under } = bracket(points, most);
  const isDone = under && (under.bytes >= most * ENOUGH.scale || under.at / over.at < ALIKE);
  if (isDone || points.length >= MOST || (!under && 1 / over.at <= least)) return null;
  const logOver = Math.log(over.bytes / (most * AIM));
  if (under) {
    const share = points.length > INTERPOLATED ? 0.5 : logOver / Math.log(over.bytes / under.bytes);
    return 1 / (over.at * (under.at / over.at) ** Math.min(0.9, Math.max(0.1, share)));
  }
  const guess = points.length > INTERPOLATED ? least : Math.exp(-logOver / POWER) / over.at;
  return Math.max(least, guess);
}

interface Point {
  /** Grows as the file becomes smaller. */
  at: number;
  bytes: number;
}

/** Returns the last point above the limit and the first one within it. */
function bracket(points: readonly Point[], most: number): { over: Point; under: Point | undefined } {
  const sorted = points.toSorted((a, b) => a.at - b.at);
  const over = sorted.findLast(({ bytes }) => bytes > most) ?? { at: 0, bytes: most };
  return { over, under: sorted.find(({ at, bytes }) => bytes <= most && at > over.at) };
}

function leastScale({ geometry }: ImagePlan): number {
  return Math.min(1, LEAST_SIDE / Math.max(geometry.width, geometry.height));
}

function scaleGeometry(geometry: Geometry, source: Source, by: number): Geometry {
  const scaled = ({ width, height }: Size) => ({
    width: scaleSide(width, by),
    height: scaleSide(height, by),
  });
  const size = scaled(geometry);
  const { pad } = geometry;
  if (!pad) return { ...geometry, ...size, scale: size };
  const inner = scaled(geometry.scale ?? geometry.crop ?? turnedSize(geometry, source));
  const scale = { width: Math.min(size.width, inner.width), height: Math.min(size.height, inner.height) };
  const place = {
    x: Math.min(size.width - scale.width, Math.round(pad.x * by)),
    y: Math.min(size.height - scale.height, Math.round(pad.y * by)),
  };
  return { ...geometry, ...size, scale, pad: { ...pad, ...size, ...place } };
}

function scaleSide(pixels: number, by: number): number {
  return Math.max(1, Math.round(pixels * by));
}

function turnedSize({ rotate, width, height }: Geometry, source: Source): Size {
  const stored = storedPicture(source) ?? { width, height };
  return rotate % 180 === 0 ? stored : { width: stored.height, height: stored.width };
}
