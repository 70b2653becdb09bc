import type { Position } from "../core/formats.ts";

/** Horizontal (0 left, 1 right) and vertical (0 top, 1 bottom) coordinates of each position. */
export const PLACES = {
  center: [0.5, 0.5],
  top: [0.5, 0],
  bottom: [0.5, 1],
  left: [0, 0.5],
  right: [1, 0.5],
  "top-left": [0, 0],
  "top-right": [1, 0],
  "bottom-left": [0, 1],
  "bottom-right": [1, 1],
} as const satisfies Record<Position, readonly [number, number]>;
