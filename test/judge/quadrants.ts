import type { Fit, Position } from "../../src/media/formats.ts";
import { QUADRANT_COLORS } from "./clips.ts";
import { colorDistance, type Picture, type Rgba } from "./picture.ts";

/** The requested placing of a quadrant picture. */
export interface Placing {
  /** Displayed size of the source. */
  source: { width: number; height: number };
  /** Clockwise degrees of its display matrix. */
  turned?: 0 | 90 | 180 | 270;
  width: number;
  height: number;
  fit: Fit;
  position: Position;
  /** Color of the bars. */
  background: string;
}

export interface WrongPoint {
  x: number;
  y: number;
  expected: Rgba;
  actual: Rgba;
}

// The quadrants (top left, top right, bottom left, bottom right) after each clockwise rotation.
const TURNED = { 0: [0, 1, 2, 3], 90: [2, 0, 3, 1], 180: [3, 2, 1, 0], 270: [1, 3, 0, 2] } as const;
const SHARE = { start: 0, middle: 0.5, end: 1 } as const;
const EDGE = 4;

/**
 * Returns the points of a fine grid over the output whose color is wrong for the placing, which is computed here from the
 * meaning of the options alone. Skips points closer than 4 pixels to an edge between colors.
 */
export function wrongPoints(picture: Picture, placing: Placing, tolerance: number): WrongPoint[] {
  const wrong: WrongPoint[] = [];
  for (let y = 2; y < picture.height; y += 3) {
    for (let x = 2; x < picture.width; x += 3) {
      const expected = colorAt(placing, x + 0.5, y + 0.5);
      if (!expected) continue;
      const actual = picture.at(x, y);
      if (colorDistance(actual, expected) > tolerance) wrong.push({ x, y, expected, actual });
    }
  }
  return wrong;
}

function colorAt(placing: Placing, x: number, y: number): Rgba | null {
  const { source, width, height, fit, background } = placing;
  const ratios = [width / source.width, height / source.height] as const;
  const same = fit === "contain" ? Math.min(...ratios) : Math.max(...ratios);
  const [scaleX, scaleY] = fit === "fill" ? ratios : [same, same];
  // Position of the whole scaled source relative to the output; cover makes it overhang.
  const left = (width - source.width * scaleX) * SHARE[column(placing.position)];
  const top = (height - source.height * scaleY) * SHARE[row(placing.position)];
  const right = left + source.width * scaleX;
  const bottom = top + source.height * scaleY;
  const middle = { x: (left + right) / 2, y: (top + bottom) / 2 };
  if (isNear(x, [left, middle.x, right], width) || isNear(y, [top, middle.y, bottom], height)) return null;
  if (x < left || x > right || y < top || y > bottom) return parseColor(background);
  const quadrant = (y > middle.y ? 2 : 0) + (x > middle.x ? 1 : 0);
  return parseColor(QUADRANT_COLORS[TURNED[placing.turned ?? 0][quadrant] ?? 0]);
}

// An edge at the output's border or beyond does not separate colors.
function isNear(at: number, edges: readonly number[], end: number): boolean {
  return edges.some((edge) => edge > 0.5 && edge < end - 0.5 && Math.abs(at - edge) < EDGE);
}

function column(position: Position): keyof typeof SHARE {
  return position.endsWith("left") ? "start" : position.endsWith("right") ? "end" : "middle";
}

function row(position: Position): keyof typeof SHARE {
  return position.startsWith("top") ? "start" : position.startsWith("bottom") ? "end" : "middle";
}

/** Parses `#rrggbb`. */
export function parseColor(text: string): Rgba {
  const value = Number.parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255, 255];
}
