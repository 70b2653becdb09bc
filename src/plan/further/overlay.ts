import type { z } from "zod";
import type { VideoOptions } from "../../core/options.ts";
import type * as schema from "../plan-schema.ts";
import { PLACES, type Size, toPixels } from "../size.ts";

export interface Overlay extends z.infer<typeof schema.Overlay> {}

/** Plans an overlay on pictures of a size. */
export function createOverlay(
  options: NonNullable<VideoOptions["overlay"]>,
  input: number,
  on: Size,
): Overlay {
  const { position = "center", opacity = 1, start = 0, end = null } = options;
  const width = toPixels(options.width, on.width);
  const pixels = (given: number | string | undefined, side: number) => Math.round(toPixels(given, side) ?? 0);
  const [x, y] = typeof position === "string" ? PLACES[position] : [0, 0];
  return {
    input,
    width: width === undefined ? null : Math.max(1, Math.round(width)),
    place:
      typeof position === "string"
        ? { x, y, of: "room" }
        : { x: pixels(position.x, on.width), y: pixels(position.y, on.height), of: "pixels" },
    ...{ opacity, start, end },
  };
}

/** Returns the overlay of an output whose sides are multiplied by a factor. */
export function shrinkOverlay(overlay: Overlay, by: number): Overlay {
  const { width, place } = overlay;
  const x = Math.round(place.x * by);
  const y = Math.round(place.y * by);
  return {
    ...overlay,
    ...(width === null ? { shrink: by } : { width: Math.max(1, Math.round(width * by)) }),
    place: place.of === "room" ? place : { ...place, x, y },
  };
}
