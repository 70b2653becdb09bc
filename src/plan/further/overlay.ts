import type { VideoOptions } from "../../core/options.ts";
import { PLACES, type Size, toPixels } from "../size.ts";

/** A picture that is laid over the sized pictures of a video; times count from the start of the output. */
export interface Overlay {
  /** Its index among the further inputs. */
  input: number;
  /** Width in pixels; null for its own. */
  width: number | null;
  /** Factor of its own width, where that is kept and the output became smaller to fit its bytes; absent for 1. */
  shrink?: number;
  /** Its place: pixels from the left and the top, or shares of the room that it leaves there. */
  place: { x: number; y: number; of: "pixels" | "room" };
  /** From 0 to 1. */
  opacity: number;
  /** When it appears, in seconds. */
  start: number;
  /** When it disappears, in seconds; null never. */
  end: number | null;
}

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
