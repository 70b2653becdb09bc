import { invalid } from "../core/errors.ts";
import { toPixels } from "../core/fields.ts";
import { ANCHORS } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import type { GeometryOptions } from "../media/features/geometry.ts";
import { displayedSize, type Size, type StoredPicture, storedPicture, toRightAngle } from "./size.ts";

/** A part of a picture, in pixels. */
export interface Rect extends Size {
  x: number;
  y: number;
}

/** What of a stored picture is shown, and which way up, before it is sized. */
export interface View {
  /** Clockwise degrees from the stored picture to the one shown. */
  rotate: StoredPicture["rotate"];
  /** How many of them the options ask for; players apply the rest. */
  turn: StoredPicture["rotate"];
  /** Whether the turned picture is mirrored, left to right. */
  mirror: boolean;
  /** The turned picture, in stored pixels. */
  turned: Size;
  /** The part that is shown, in stored pixels after turning and mirroring; null for all. */
  crop: Rect | null;
  /** The size that players show it at. */
  shown: Size;
}

/** Turns, mirrors and cuts a stored picture as the options say; throws `invalid_options` for a part beyond the picture. */
export function createView(
  stored: StoredPicture,
  options: Pick<GeometryOptions, "rotate" | "flip" | "crop" | "position">,
): View {
  const { flip } = options;
  // Upside down is half a turn of the mirrored picture.
  const upset = flip === "vertical" || flip === "both";
  const turn = toRightAngle((options.rotate ?? 0) + (upset ? 180 : 0));
  const flipped = flip === "horizontal" || flip === "vertical";
  // Turning the mirrored picture clockwise turns the stored one counterclockwise.
  const rotate = toRightAngle(stored.rotate + (stored.mirror ? -turn : turn));
  const whole = displayedSize({ ...stored, rotate });
  const sideways = rotate % 180 !== 0;
  const turned = sideways
    ? { width: stored.height, height: stored.width }
    : { width: stored.width, height: stored.height };
  const view = { rotate, turn, mirror: flipped !== (stored.mirror === true), turned };
  const part = options.crop === undefined ? null : partOf(whole, options.crop, options.position);
  if (!part || (part.width === whole.width && part.height === whole.height)) {
    return { ...view, crop: null, shown: whole };
  }
  const across = span(part.x, part.width, turned.width / whole.width, turned.width);
  const down = span(part.y, part.height, turned.height / whole.height, turned.height);
  const crop = { x: across.at, y: down.at, width: across.length, height: down.length };
  return { ...view, crop, shown: { width: part.width, height: part.height } };
}

/**
 * Returns what of a source's pictures the options `rotate`, `flip` and `crop` show, and which way up; null when its size is unknown.
 *
 * @throws `invalid_options` for a part that reaches beyond the picture.
 */
export function viewOf(
  source: Source,
  options: Pick<GeometryOptions, "rotate" | "flip" | "crop" | "position">,
): View | null {
  const stored = storedPicture(source);
  return stored && createView(stored, options);
}

type Crop = NonNullable<GeometryOptions["crop"]>;

function partOf(whole: Size, crop: Crop, position: GeometryOptions["position"] = "center"): Rect {
  if (typeof crop === "string") {
    const [across = 1, down = 1] = crop.split(":").map(Number);
    const scale = Math.min(whole.width / across, whole.height / down);
    const side = (ratio: number, most: number) => Math.min(most, Math.max(1, Math.round(ratio * scale)));
    const size = { width: side(across, whole.width), height: side(down, whole.height) };
    const [left, top] = ANCHORS[position];
    const x = Math.floor((whole.width - size.width) * left);
    return { x, y: Math.floor((whole.height - size.height) * top), ...size };
  }
  const pixels = (given: number | string | undefined, of: number) => Math.round(toPixels(given, of) ?? 0);
  const part = {
    x: pixels(crop.x, whole.width),
    y: pixels(crop.y, whole.height),
    width: pixels(crop.width, whole.width),
    height: pixels(crop.height, whole.height),
  };
  const within = part.x + part.width <= whole.width && part.y + part.height <= whole.height;
  if (within && part.width > 0 && part.height > 0) return part;
  const rule = `must lie within the picture of ${whole.width}x${whole.height} pixels and hold at least one.`;
  throw invalid("options.crop", rule, "invalid_options");
}

// A stretch of displayed pixels in stored ones.
function span(from: number, length: number, scale: number, most: number): { at: number; length: number } {
  const at = Math.min(most - 1, Math.round(from * scale));
  return { at, length: Math.min(most - at, Math.max(1, Math.round(length * scale))) };
}
