import type { EncodeRequest } from "../core/options.ts";
import type { Source } from "../core/source.ts";

// ThumbHash takes pictures of at most this size.
const MOST_SIDE = 100;
// Films often begin in black, so a video is represented by what it shows after this share of its time.
const MOMENT = 0.1;

/** Returns the request for the small picture from which a placeholder is computed; null for a source without pictures. */
export function placeholderRequest({ kind, width, height, duration }: Source): EncodeRequest | null {
  if (kind !== "video" && kind !== "image") return null;
  const [wide = 0, high = 0] = [width, height];
  const shrink = Math.min(1, MOST_SIDE / Math.max(1, wide, high));
  // Of a very narrow picture, a line is left.
  const [across, down] = [wide, high].map((side) => Math.max(1, Math.round(side * shrink)));
  const size = shrink < 1 && { width: across, height: down, fit: "fill" as const };
  const start = kind === "video" && duration ? Number((duration * MOMENT).toFixed(3)) : 0;
  return { kind: "image", options: { format: "png", ...size, ...(start > 0 && { start }) } };
}
