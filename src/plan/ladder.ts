import type { Quality } from "../core/formats.ts";
import type { GeometryOptions } from "../media/features/geometry.ts";
import { geometryFor } from "./geometry.ts";
import type { Rendition } from "./plan.ts";
import { CRF } from "./rate.ts";
import { type Size, type StoredPicture, snap, targetSize } from "./size.ts";
import { createView } from "./view.ts";

/** The rungs of adaptive video: pixels of the short side, and the highest bits per second. */
export const RUNGS = [
  { side: 240, maxrate: 400_000 },
  { side: 360, maxrate: 900_000 },
  { side: 480, maxrate: 1_600_000 },
  { side: 720, maxrate: 3_000_000 },
  { side: 1080, maxrate: 5_500_000 },
  { side: 1440, maxrate: 9_000_000 },
  { side: 2160, maxrate: 16_000_000 },
] as const;

const RULES = { even: true, alpha: false } as const;

/**
 * Chooses the renditions of an h264 ladder, best first: the rungs up to the source's or requested size, never upscaled, and
 * that size itself.
 */
export function createLadder(
  stored: StoredPicture,
  options: GeometryOptions & { quality?: Quality | undefined },
): Rendition[] {
  const view = createView(stored, options);
  const { top, aspect } = topSize(view.shown, options);
  const square = stored.pixel_aspect === 1;
  const side = Math.min(top.width, top.height);
  const sides = [side, ...RUNGS.map((rung) => rung.side).filter((rung) => rung < side)];
  const crf = CRF.h264[options.quality ?? "medium"];
  return sides
    .toSorted((a, b) => b - a)
    .map((wanted) => ({
      name: `${wanted}p`,
      geometry: geometryFor(view, wanted === side ? top : sizeOf(wanted, aspect), options, RULES, square),
      rate: { crf, maxrate: maxrateFor(wanted) },
      fps: null,
    }));
}

function sizeOf(side: number, aspect: number): Size {
  const width = side * Math.max(1, aspect);
  const height = side / Math.min(1, aspect);
  return { width: snap(width, true), height: snap(height, true) };
}

/** Returns the highest bits per second for a short side in pixels, interpolated between rungs. */
export function maxrateFor(side: number): number {
  const above = RUNGS.findIndex((rung) => rung.side >= side);
  const upper = RUNGS[above] ?? RUNGS[RUNGS.length - 1];
  const lower = RUNGS[above - 1];
  if (!upper) throw new RangeError("The ladder has no rungs.");
  if (!lower || upper.side <= side) return upper.maxrate;
  const share = (side - lower.side) / (upper.side - lower.side);
  return Math.round(lower.maxrate + share * (upper.maxrate - lower.maxrate));
}

// The requested size sets the aspect ratio; when it would enlarge the picture, the ratio stays and the size shrinks.
function topSize(shown: Size, options: GeometryOptions): { top: Size; aspect: number } {
  const asked = targetSize(shown, options, { even: true });
  const across = asked.width / shown.width;
  const down = asked.height / shown.height;
  const contains = (options.fit ?? (options.background === undefined ? "fill" : "contain")) === "contain";
  const enlarged = contains ? Math.min(across, down) : Math.max(across, down);
  const highest = RUNGS[RUNGS.length - 1]?.side ?? Number.POSITIVE_INFINITY;
  const scale = Math.min(1, 1 / enlarged, highest / Math.min(asked.width, asked.height));
  const both = options.width !== undefined && options.height !== undefined;
  return {
    top: { width: snap(asked.width * scale, true), height: snap(asked.height * scale, true) },
    // A single requested side keeps the source's ratio, more exactly than its even size does.
    aspect: both ? asked.width / asked.height : shown.width / shown.height,
  };
}
