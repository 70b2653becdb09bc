import { pictureFormat } from "./containers.ts";
import { shrinkPictures } from "./features.ts";
import type { ImageFormat } from "./formats.ts";
import { type Size, storedPicture } from "./picture-geometry.ts";
import type { Geometry, ImagePlan, Plan } from "./plan.ts";
import { imageQuality } from "./rates.ts";
import type { Source } from "./source.ts";

/** One attempt to stay within a limit in bytes. */
export interface ImageTrial {
  /** Quality on the format's scale; null when the format has none. */
  quality: number | null;
  /** Factor of both sides, at most 1. */
  scale: number;
}

/** A trial and the size of its file in bytes. */
export interface TriedImage extends ImageTrial {
  bytes: number;
}

const TARGET_SHARE = 0.95;
const ACCEPTED_SHARE = { quality: 0.9, scale: 0.85 } as const;
const MAX_TRIALS = 8;
const MAX_INTERPOLATIONS = 4;
// Typical decrease of the logarithm of the file size per step of quality, assumed until two trials bracket the limit.
const LOG_DECREASE: Readonly<Partial<Record<ImageFormat, number>>> = { jpeg: 0.018, webp: 0.018, avif: 0.06 };
const SIDE_EXPONENT = 1.6;
const MIN_SIDE = 16;
const MIN_RATIO = 1.03;

/**
 * Returns the next trial for an image that must stay within its plan's `max_bytes`; null when the search is over. Searches for the
 * best quality that fits, down to `very_low`, then for the largest picture at that quality.
 */
export function nextTrial(plan: Plan, tried: readonly TriedImage[]): ImageTrial | null {
  const { image } = plan;
  const { quality = null, max_bytes = 0 } = image ?? {};
  const [first] = tried;
  if (!image || !first) return { quality, scale: 1 };
  if (first.bytes <= max_bytes) return null;
  const floor = floorOf(plan.format as ImageFormat, quality);
  const fullSize = tried.filter(({ scale }) => scale === 1);
  const worst = fullSize.find((trial) => trial.quality === floor);
  if (!worst || worst.bytes <= max_bytes) {
    const search = { quality: quality ?? 0, floor: floor ?? 0, format: plan.format, max_bytes };
    const step = nextQuality(fullSize, search);
    return step === null ? null : { quality: step, scale: 1 };
  }
  const atFloor = tried.filter((trial) => trial.quality === floor);
  const scale = nextScale(atFloor, minScale(image), max_bytes);
  return scale === null ? null : { quality: floor, scale };
}

/** Returns the best trial within the limit; undefined when none is. */
export function bestTrial<T extends TriedImage>(plan: Plan, tried: readonly T[]): T | undefined {
  const max_bytes = plan.image?.max_bytes ?? Number.POSITIVE_INFINITY;
  const candidates = tried.filter(({ bytes }) => bytes <= max_bytes);
  return candidates.toSorted((a, b) => b.scale - a.scale || b.bytes - a.bytes)[0];
}

/** Returns the plan of a trial. */
export function trialPlan(plan: Plan, source: Source, { quality, scale }: ImageTrial): Plan {
  const { image } = plan;
  if (!image) return plan;
  if (scale === 1) return { ...plan, image: { ...image, quality } };
  const geometry = scaleGeometry(image.geometry, source, scale);
  const { width, height } = geometry;
  const features = shrinkPictures(image, { width, height, scale });
  return { ...plan, image: { ...image, quality, geometry, ...features } };
}

function floorOf(format: ImageFormat, quality: number | null): number | null {
  const worst = imageQuality(format, "very_low");
  if (quality === null || worst === null) return null;
  return isInverse(format) ? Math.max(quality, worst) : Math.min(quality, worst);
}

function isInverse(format: string): boolean {
  return pictureFormat(format).worst_quality !== undefined;
}

interface QualitySearch {
  quality: number;
  floor: number;
  format: string;
  max_bytes: number;
}

function nextQuality(
  tried: readonly TriedImage[],
  { quality, floor, format, max_bytes }: QualitySearch,
): number | null {
  const points = tried.map((trial) => ({ at: Math.abs((trial.quality ?? 0) - quality), bytes: trial.bytes }));
  const { over, under } = bracket(points, max_bytes);
  const last = Math.abs(floor - quality);
  const isDone = under && (under.bytes >= max_bytes * ACCEPTED_SHARE.quality || under.at - over.at <= 1);
  if (isDone || points.length >= MAX_TRIALS) return null;
  const logOver = Math.log(over.bytes / (max_bytes * TARGET_SHARE));
  let at: number;
  if (under) {
    const share = logOver / Math.log(over.bytes / under.bytes);
    const guess = points.length > MAX_INTERPOLATIONS ? 0.5 : share;
    at = Math.min(under.at - 1, Math.max(over.at + 1, Math.round(over.at + (under.at - over.at) * guess)));
  } else {
    const decrease = LOG_DECREASE[format as ImageFormat] ?? 0.02;
    at = points.length > 2 ? last : Math.min(last, over.at + Math.max(1, Math.ceil(logOver / decrease)));
  }
  return isInverse(format) ? quality + at : quality - at;
}

function nextScale(tried: readonly TriedImage[], min: number, max_bytes: number): number | null {
  const points = tried.map(({ scale, bytes }) => ({ at: 1 / scale, bytes }));
  const { over, under } = bracket(points, max_bytes);
  const isDone = under && (under.bytes >= max_bytes * ACCEPTED_SHARE.scale || under.at / over.at < MIN_RATIO);
  if (isDone || points.length >= MAX_TRIALS || (!under && 1 / over.at <= min)) return null;
  const logOver = Math.log(over.bytes / (max_bytes * TARGET_SHARE));
  if (under) {
    const share = points.length > MAX_INTERPOLATIONS ? 0.5 : logOver / Math.log(over.bytes / under.bytes);
    return 1 / (over.at * (under.at / over.at) ** Math.min(0.9, Math.max(0.1, share)));
  }
  const guess = points.length > MAX_INTERPOLATIONS ? min : Math.exp(-logOver / SIDE_EXPONENT) / over.at;
  return Math.max(min, guess);
}

interface Point {
  /** Position in the search; grows as the file becomes smaller. */
  at: number;
  bytes: number;
}

function bracket(points: readonly Point[], max_bytes: number): { over: Point; under: Point | undefined } {
  const sorted = points.toSorted((a, b) => a.at - b.at);
  const over = sorted.findLast(({ bytes }) => bytes > max_bytes) ?? { at: 0, bytes: max_bytes };
  return { over, under: sorted.find(({ at, bytes }) => bytes <= max_bytes && at > over.at) };
}

function minScale({ geometry }: ImagePlan): number {
  return Math.min(1, MIN_SIDE / Math.max(geometry.width, geometry.height));
}

function scaleGeometry(geometry: Geometry, source: Source, by: number): Geometry {
  const width = evenSide(geometry.width * by);
  const size = { width, height: evenSide((width * geometry.height) / geometry.width) };
  const { pad } = geometry;
  if (!pad) return { ...geometry, ...size, scale: size };
  const inner = geometry.scale ?? geometry.crop ?? turnedSize(geometry, source);
  const scale = {
    width: Math.min(size.width, Math.max(1, Math.round(inner.width * by))),
    height: Math.min(size.height, Math.max(1, Math.round(inner.height * by))),
  };
  const place = {
    x: Math.min(size.width - scale.width, Math.round(pad.x * by)),
    y: Math.min(size.height - scale.height, Math.round(pad.y * by)),
  };
  return { ...geometry, ...size, scale, pad: { ...pad, ...size, ...place } };
}

// Even sides keep chroma subsampled: the stock core encodes a JPEG of odd sides in 4:4:4, which takes more bytes.
function evenSide(pixels: number): number {
  return pixels < 2 ? 1 : 2 * Math.round(pixels / 2);
}

function turnedSize({ rotate, width, height }: Geometry, source: Source): Size {
  const stored = storedPicture(source) ?? { width, height };
  return rotate % 180 === 0 ? stored : { width: stored.height, height: stored.width };
}
