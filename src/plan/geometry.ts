import type { Position } from "../core/formats.ts";
import type { FrameOptions } from "../core/options.ts";
import { BLACK, parseColor, TRANSPARENT } from "./color.ts";
import type { Geometry } from "./plan.ts";
import { displayedSize, type Size, type SizeRules, type StoredPicture, snap, targetSize } from "./size.ts";

/** What the output allows besides its size: whether padding can be transparent. */
export interface FrameRules extends SizeRules {
  alpha: boolean;
}

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

/** Decides how a stored picture becomes the output picture; throws `invalid_options` when the result is empty or too large. */
export function createGeometry(stored: StoredPicture, options: FrameOptions, rules: FrameRules): Geometry {
  const displayed = displayedSize(stored);
  return geometryFor(stored, targetSize(displayed, options, rules), options, rules);
}

/** Decides how a stored picture becomes an output picture of a given size, following the fit and position of the options. */
export function geometryFor(
  stored: StoredPicture,
  target: Size,
  options: FrameOptions,
  rules: FrameRules,
): Geometry {
  const displayed = displayedSize(stored);
  const turned =
    stored.rotate % 180 === 0
      ? { width: stored.width, height: stored.height }
      : { width: stored.height, height: stored.width };
  const both = options.width !== undefined && options.height !== undefined;
  const fit = both ? (options.fit ?? (options.background === undefined ? "fill" : "contain")) : "fill";
  const place = PLACES[options.position ?? "center"];

  const crop = fit === "cover" ? coverCrop(turned, displayed, target, place) : null;
  const inner = fit === "contain" ? containSize(displayed, target, rules.even) : target;
  const kept = crop ?? turned;
  const same = kept.width === inner.width && kept.height === inner.height;
  const square = stored.pixel_aspect === 1;
  return {
    rotate: stored.rotate,
    crop,
    scale: same && square ? null : inner,
    pad: pad(inner, target, place, options.background, rules),
    ...target,
  };
}

type Place = readonly [number, number];

// The kept part has the target's aspect ratio as displayed, but is measured in stored pixels.
function coverCrop(turned: Size, displayed: Size, target: Size, place: Place): Geometry["crop"] {
  const scale = Math.max(target.width / displayed.width, target.height / displayed.height);
  const part = (stored: number, shown: number, wanted: number) =>
    Math.min(stored, Math.max(1, Math.round((stored * wanted) / (shown * scale))));
  const width = part(turned.width, displayed.width, target.width);
  const height = part(turned.height, displayed.height, target.height);
  if (width === turned.width && height === turned.height) return null;
  const x = Math.floor((turned.width - width) * place[0]);
  const y = Math.floor((turned.height - height) * place[1]);
  return { x, y, width, height };
}

// Padding within the rounding error is dropped: the picture then fills that side.
function containSize(displayed: Size, target: Size, even: boolean): Size {
  const scale = Math.min(target.width / displayed.width, target.height / displayed.height);
  const side = (shown: number, box: number) => {
    const exact = shown * scale;
    return box - exact < (even ? 2 : 1) ? box : Math.min(box, snap(exact, even));
  };
  return { width: side(displayed.width, target.width), height: side(displayed.height, target.height) };
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
  const offset = (room: number, share: number) => step * Math.floor((room * share) / step);
  const none = rules.alpha ? TRANSPARENT : BLACK;
  return {
    ...target,
    x: offset(target.width - inner.width, place[0]),
    y: offset(target.height - inner.height, place[1]),
    color: background === undefined ? none : parseColor(background, rules.alpha),
  };
}
