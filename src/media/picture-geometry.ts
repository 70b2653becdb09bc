import type { GeometryOptions } from "./features/geometry.ts";
import { BLACK, parseColor, TRANSPARENT, toPixels } from "./fields.ts";
import { ANCHORS, BOUNDS } from "./formats.ts";
import type { Geometry } from "./plan.ts";
import * as errors from "./plan-errors.ts";
import type { Source } from "./source.ts";

/** Width and height in pixels. */
export interface Size {
  /** Width in pixels. */
  width: number;
  /** Height in pixels. */
  height: number;
}

/** A picture as stored, and how players display it. */
export interface StoredPicture extends Size {
  /** Width of a pixel divided by its height. */
  pixel_aspect: number;
  /** Clockwise degrees that players rotate it by. */
  rotate: 0 | 90 | 180 | 270;
  /** Whether players then mirror it, left to right. */
  mirror?: boolean;
}

/** Restrictions on the output size. */
export interface SizeRules {
  /** Whether both sides must be even. */
  even: boolean;
  /** Longest side in pixels; default 16384. */
  max?: number;
}

/** Rounds any number of clockwise degrees to 0, 90, 180 or 270. */
export function toRightAngle(degrees: number): 0 | 90 | 180 | 270 {
  const turns = ((Math.round(degrees / 90) % 4) + 4) % 4;
  return ([0, 90, 180, 270] as const)[turns] ?? 0;
}

/** How players rotate a stored picture, and whether they then mirror it, left to right. */
export interface Orientation {
  rotate: StoredPicture["rotate"];
  mirror: boolean;
  /** Clockwise rotation in degrees, if it is not a multiple of 90; otherwise absent. */
  tilt?: number;
}

/**
 * Returns the orientation of a display matrix (ISO/IEC 14496-12, 6.2.2), from its values a, b, c and d, with which a player moves a
 * point to (ax + cy, bx + dy).
 */
export function matrixOrientation([a, b, c, d]: readonly [number, number, number, number]): Orientation {
  const mirror = a * d - b * c < 0;
  const degrees = (Math.atan2(b, mirror ? -a : a) * 180) / Math.PI;
  return { rotate: toRightAngle(degrees), mirror, ...(isTilted(degrees) && { tilt: Math.round(degrees) }) };
}

const MAX_TILT = 1;

function isTilted(degrees: number): boolean {
  return Math.abs(degrees - 90 * Math.round(degrees / 90)) > MAX_TILT;
}

/** Parses a sample aspect ratio such as `4:3` into a number; 1 when absent, malformed or `0:1` (unknown). */
export function parsePixelAspect(ratio: string | undefined): number {
  const [, across, down] = /^(\d+)[:/](\d+)$/.exec(ratio ?? "") ?? [];
  const value = Number(across) / Number(down);
  return Number.isFinite(value) && value > 0 ? value : 1;
}

/**
 * Returns the size at which players display a stored picture: with square pixels, obtained by enlarging one side, and after rotation.
 */
export function displayedSize(stored: StoredPicture): Size {
  const { pixel_aspect: aspect, rotate } = stored;
  const width = Math.round(stored.width * Math.max(1, aspect));
  const height = Math.round(stored.height / Math.min(1, aspect));
  return rotate % 180 === 0 ? { width, height } : { width: height, height: width };
}

/** Returns the stored picture of a source; null when its size is unknown. */
export function storedPicture(source: Source): StoredPicture | null {
  const turned = { rotate: toRightAngle(source.rotation ?? 0), ...(source.flipped && { mirror: true }) };
  const { coded_width, coded_height, width, height } = source;
  if (coded_width && coded_height) {
    const pixel_aspect = parsePixelAspect(source.sample_aspect_ratio);
    return { width: coded_width, height: coded_height, pixel_aspect, ...turned };
  }
  if (!width || !height) return null;
  const size = turned.rotate % 180 === 0 ? { width, height } : { width: height, height: width };
  return { ...size, pixel_aspect: 1, ...turned };
}

/**
 * Derives the output size from the displayed size; with only one side in the options, the aspect ratio stays. Without `enlarge`,
 * neither side exceeds the displayed one. Throws `invalid_options` when the result is empty or too large.
 */
export function targetSize(displayed: Size, options: GeometryOptions, rules: SizeRules): Size {
  const target = {
    width: toPixels(options.width, displayed.width),
    height: toPixels(options.height, displayed.height),
  };
  const { width: widest, height: highest } = options.enlarge === false ? displayed : NO_LIMIT;
  const width = Math.min(
    target.width ?? displayed.width * ((target.height ?? displayed.height) / displayed.height),
    widest,
  );
  const height = Math.min(
    target.height ?? displayed.height * ((target.width ?? displayed.width) / displayed.width),
    highest,
  );
  const max = Math.min(rules.max ?? BOUNDS.pixels.max, BOUNDS.pixels.max);
  const size = { width: snap(width, rules.even), height: snap(height, rules.even) };
  const withinBounds = {
    width: inBounds(width, size.width, max),
    height: inBounds(height, size.height, max),
  };
  if (withinBounds.width && withinBounds.height) return size;
  const sides = (["width", "height"] as const).toSorted(
    (a, b) => Number(withinBounds[a]) - Number(withinBounds[b]),
  );
  const side = sides.find((each) => options[each] !== undefined) ?? "width";
  throw errors.sizeOutOfBounds({ side, width: Math.round(width), height: Math.round(height), max });
}

const NO_LIMIT: Size = { width: Number.POSITIVE_INFINITY, height: Number.POSITIVE_INFINITY };

function inBounds(exact: number, snapped: number, max: number): boolean {
  return Math.round(exact) >= 1 && snapped <= max;
}

/** Rounds to whole pixels (at least 1), or to an even number if required (ties round down; at least 2). */
export function snap(pixels: number, even: boolean): number {
  if (!even) return Math.max(1, Math.round(pixels));
  return Math.max(2, 2 * Math.ceil(pixels / 2 - 0.5));
}

interface Rect extends Size {
  x: number;
  y: number;
}

/** The orientation and crop of a stored picture, before scaling. */
export interface View {
  /** Clockwise degrees from the stored picture to the output. */
  rotate: StoredPicture["rotate"];
  /** The part of `rotate` that comes from the options; players apply the rest themselves. */
  turn: StoredPicture["rotate"];
  /** Whether the rotated picture is mirrored, left to right. */
  mirror: boolean;
  /** Size of the rotated picture, in stored pixels. */
  turned: Size;
  /** The part to keep, in stored pixels after rotating and mirroring; null for all. */
  crop: Rect | null;
  /** The size at which players display the view. */
  displaySize: Size;
}

/** Applies the options `rotate`, `flip` and `crop` to a stored picture; throws `invalid_options` for a crop beyond its edges. */
export function createView(
  stored: StoredPicture,
  options: Pick<GeometryOptions, "rotate" | "flip" | "crop" | "position">,
): View {
  const { flip } = options;
  const upsideDown = flip === "vertical" || flip === "both";
  const turn = toRightAngle((options.rotate ?? 0) + (upsideDown ? 180 : 0));
  const flipped = flip === "horizontal" || flip === "vertical";
  // Rotating a mirrored picture clockwise rotates the stored one counterclockwise.
  const rotate = toRightAngle(stored.rotate + (stored.mirror ? -turn : turn));
  const whole = displayedSize({ ...stored, rotate });
  const sideways = rotate % 180 !== 0;
  const turned = sideways
    ? { width: stored.height, height: stored.width }
    : { width: stored.width, height: stored.height };
  const view = { rotate, turn, mirror: flipped !== (stored.mirror === true), turned };
  const part = options.crop === undefined ? null : partOf(whole, options.crop, options.position);
  if (!part || (part.width === whole.width && part.height === whole.height)) {
    return { ...view, crop: null, displaySize: whole };
  }
  const across = span(part.x, part.width, turned.width / whole.width, turned.width);
  const down = span(part.y, part.height, turned.height / whole.height, turned.height);
  const crop = { x: across.at, y: down.at, width: across.length, height: down.length };
  return { ...view, crop, displaySize: { width: part.width, height: part.height } };
}

/**
 * Returns the orientation and crop of a source's pictures under the options `rotate`, `flip` and `crop`; null when its size is unknown.
 *
 * @throws `invalid_options` for a crop that reaches beyond the picture.
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
    const side = (ratio: number, max: number) => Math.min(max, Math.max(1, Math.round(ratio * scale)));
    const size = { width: side(across, whole.width), height: side(down, whole.height) };
    const [left, top] = ANCHORS[position];
    const x = Math.floor((whole.width - size.width) * left);
    return { x, y: Math.floor((whole.height - size.height) * top), ...size };
  }
  const pixels = (length: number | string | undefined, of: number) => Math.round(toPixels(length, of) ?? 0);
  const part = {
    x: pixels(crop.x, whole.width),
    y: pixels(crop.y, whole.height),
    width: pixels(crop.width, whole.width),
    height: pixels(crop.height, whole.height),
  };
  const within = part.x + part.width <= whole.width && part.y + part.height <= whole.height;
  if (within && part.width > 0 && part.height > 0) return part;
  throw errors.cropOutside(whole);
}

function span(from: number, length: number, scale: number, max: number): { at: number; length: number } {
  const at = Math.min(max - 1, Math.round(from * scale));
  return { at, length: Math.min(max - at, Math.max(1, Math.round(length * scale))) };
}

/** Restrictions on the output picture. */
export interface FrameRules extends SizeRules {
  /** Whether padding may be transparent. */
  alpha: boolean;
}

/** Plans how a stored picture becomes the output picture; throws `invalid_options` when the result is empty or too large. */
export function createGeometry(stored: StoredPicture, options: GeometryOptions, rules: FrameRules): Geometry {
  const view = createView(stored, options);
  return geometryFor(
    view,
    targetSize(view.displaySize, options, rules),
    options,
    rules,
    stored.pixel_aspect === 1,
  );
}

/** Returns whether the options leave a stored picture as players display it: neither turned, cropped, scaled nor padded. */
export function keepsPicture(stored: StoredPicture, options: GeometryOptions): boolean {
  const geometry = createGeometry(stored, options, { even: false, alpha: false });
  const { width, height } = displayedSize(stored);
  return (
    geometry.rotate === stored.rotate &&
    geometry.mirror === (stored.mirror === true) &&
    geometry.crop === null &&
    geometry.pad === null &&
    geometry.width === width &&
    geometry.height === height
  );
}

/** Plans how a view becomes an output picture of a size, according to the options `fit`, `position` and `background`. */
export function geometryFor(
  view: View,
  target: Size,
  options: GeometryOptions,
  rules: FrameRules,
  square: boolean,
): Geometry {
  const { rotate, turn, mirror, turned, displaySize } = view;
  const both = options.width !== undefined && options.height !== undefined;
  const fit = both ? (options.fit ?? (options.background === undefined ? "fill" : "contain")) : "fill";
  const place = ANCHORS[options.position ?? "center"];

  const part = view.crop ?? { x: 0, y: 0, ...turned };
  const cover = fit === "cover" ? coverCrop(part, displaySize, target, place) : null;
  const inner = fit === "contain" ? containSize(displaySize, target, rules.even) : target;
  const cropped = cover ?? part;
  const same = cropped.width === inner.width && cropped.height === inner.height;
  return {
    rotate,
    turn,
    mirror,
    crop: cover ?? view.crop,
    scale: same && square ? null : inner,
    pad: pad(inner, target, place, options.background, rules),
    ...target,
  };
}

type Place = readonly [number, number];

function coverCrop(part: Rect, displaySize: Size, target: Size, place: Place): Geometry["crop"] {
  const scale = Math.max(target.width / displaySize.width, target.height / displaySize.height);
  const side = (stored: number, displayed: number, output: number) =>
    Math.min(stored, Math.max(1, Math.round((stored * output) / (displayed * scale))));
  const width = side(part.width, displaySize.width, target.width);
  const height = side(part.height, displaySize.height, target.height);
  if (width === part.width && height === part.height) return null;
  const x = part.x + Math.floor((part.width - width) * place[0]);
  const y = part.y + Math.floor((part.height - height) * place[1]);
  return { x, y, width, height };
}

function containSize(displaySize: Size, target: Size, even: boolean): Size {
  const scale = Math.min(target.width / displaySize.width, target.height / displaySize.height);
  const side = (length: number, box: number) => {
    const exact = length * scale;
    return box - exact < (even ? 2 : 1) ? box : Math.min(box, snap(exact, even));
  };
  return { width: side(displaySize.width, target.width), height: side(displaySize.height, target.height) };
}

function pad(
  inner: Size,
  target: Size,
  place: Place,
  background: string | undefined,
  rules: FrameRules,
): Geometry["pad"] {
  if (inner.width === target.width && inner.height === target.height) return null;
  const step = rules.even ? 2 : 1;
  const offset = (space: number, share: number) => step * Math.floor((space * share) / step);
  const empty = rules.alpha ? TRANSPARENT : BLACK;
  return {
    ...target,
    x: offset(target.width - inner.width, place[0]),
    y: offset(target.height - inner.height, place[1]),
    color: background === undefined ? empty : parseColor(background, rules.alpha),
  };
}
