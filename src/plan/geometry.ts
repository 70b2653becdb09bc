import { ANCHORS } from "../core/formats.ts";
import type { GeometryOptions } from "../media/features/geometry.ts";
import { BLACK, parseColor, TRANSPARENT } from "./color.ts";
import type { Geometry } from "./plan.ts";
import { type Size, type SizeRules, type StoredPicture, snap, targetSize } from "./size.ts";
import { createView, type Rect, type View } from "./view.ts";

/** What the output allows besides its size: whether padding can be transparent. */
export interface FrameRules extends SizeRules {
  alpha: boolean;
}

/** Decides how a stored picture becomes the output picture; throws `invalid_options` when the result is empty or too large. */
export function createGeometry(stored: StoredPicture, options: GeometryOptions, rules: FrameRules): Geometry {
  const view = createView(stored, options);
  return geometryFor(view, targetSize(view.shown, options, rules), options, rules, stored.pixel_aspect === 1);
}

/** Decides how a picture becomes an output picture of a given size, following the fit and position of the options. */
export function geometryFor(
  view: View,
  target: Size,
  options: GeometryOptions,
  rules: FrameRules,
  square: boolean,
): Geometry {
  const { rotate, turn, mirror, turned, shown } = view;
  const both = options.width !== undefined && options.height !== undefined;
  const fit = both ? (options.fit ?? (options.background === undefined ? "fill" : "contain")) : "fill";
  const place = ANCHORS[options.position ?? "center"];

  const part = view.crop ?? { x: 0, y: 0, ...turned };
  const cover = fit === "cover" ? coverCrop(part, shown, target, place) : null;
  const inner = fit === "contain" ? containSize(shown, target, rules.even) : target;
  const kept = cover ?? part;
  const same = kept.width === inner.width && kept.height === inner.height;
  return {
    ...{ rotate, turn, mirror, crop: cover ?? view.crop },
    scale: same && square ? null : inner,
    pad: pad(inner, target, place, options.background, rules),
    ...target,
  };
}

type Place = readonly [number, number];

// The kept part has the target's aspect ratio as displayed, but is measured in stored pixels.
function coverCrop(part: Rect, shown: Size, target: Size, place: Place): Geometry["crop"] {
  const scale = Math.max(target.width / shown.width, target.height / shown.height);
  const side = (stored: number, displayed: number, wanted: number) =>
    Math.min(stored, Math.max(1, Math.round((stored * wanted) / (displayed * scale))));
  const width = side(part.width, shown.width, target.width);
  const height = side(part.height, shown.height, target.height);
  if (width === part.width && height === part.height) return null;
  const x = part.x + Math.floor((part.width - width) * place[0]);
  const y = part.y + Math.floor((part.height - height) * place[1]);
  return { x, y, width, height };
}

// Padding within the rounding error is dropped: the picture then fills that side.
function containSize(shown: Size, target: Size, even: boolean): Size {
  const scale = Math.min(target.width / shown.width, target.height / shown.height);
  const side = (length: number, box: number) => {
    const exact = length * scale;
    return box - exact < (even ? 2 : 1) ? box : Math.min(box, snap(exact, even));
  };
  return { width: side(shown.width, target.width), height: side(shown.height, target.height) };
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
