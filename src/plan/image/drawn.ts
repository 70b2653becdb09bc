import type { Source } from "../../core/source.ts";
import type { Geometry, Plan } from "../plan.ts";
import type { Size } from "../size.ts";

/** Limits of a drawn picture. */
export interface DrawnLimits {
  pixels: number;
  side: number;
}

/**
 * Returns at which size to draw a vector source for a plan, so that its output is as sharp as its pixels allow, and the plan for a
 * source of that size.
 */
export function drawnPlan(plan: Plan, source: Source, limits: DrawnLimits): { plan: Plan; size: Size } {
  const { image } = plan;
  const own = { width: source.width ?? 1, height: source.height ?? 1 };
  if (!image?.geometry.scale) return { plan, size: own };
  const { size, crop } = scaled(own, image.geometry, image.geometry.scale, limits);
  return { plan: { ...plan, image: { ...image, geometry: { ...image.geometry, crop } } }, size };
}

function scaled(own: Size, { rotate, crop }: Geometry, scale: Size, limits: DrawnLimits) {
  const lies = rotate % 180 !== 0;
  const turned = lies ? { width: own.height, height: own.width } : own;
  const kept = crop ?? turned;
  const wanted = {
    width: (turned.width * scale.width) / kept.width,
    height: (turned.height * scale.height) / kept.height,
  };
  const { pixels, side } = limits;
  const share = Math.min(
    1,
    Math.sqrt(pixels / (wanted.width * wanted.height)),
    side / Math.max(wanted.width, wanted.height),
  );
  const drawn = {
    width: length(wanted.width * share),
    height: length(wanted.height * share),
  };
  const [across, down] = [drawn.width / turned.width, drawn.height / turned.height];
  return {
    size: lies ? { width: drawn.height, height: drawn.width } : drawn,
    crop: crop && {
      ...{ x: Math.floor(crop.x * across), y: Math.floor(crop.y * down) },
      ...{ width: length(crop.width * across), height: length(crop.height * down) },
    },
  };
}

// Not longer than what is drawn, since the start is rounded down too.
function length(pixels: number): number {
  return Math.max(1, Math.floor(pixels + 1e-6));
}
