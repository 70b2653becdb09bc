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
  const size =
    wide >= high ? wide > MOST_SIDE && { width: MOST_SIDE } : high > MOST_SIDE && { height: MOST_SIDE };
  const start = kind === "video" && duration ? Number((duration * MOMENT).toFixed(3)) : 0;
  return { kind: "image", options: { format: "png", ...size, ...(start > 0 && { start }) } };
}
