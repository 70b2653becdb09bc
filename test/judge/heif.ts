import { MOVING_ALPHA, MOVING_COLORS } from "../fixtures/heif-moving.ts";
import { clearPicture, type HeifRow, picture } from "../fixtures/heif-rows.ts";
import { measureLikeness } from "./likeness.ts";
import { colorDistance, readPicture } from "./picture.ts";

/** The size of a PNG made of one of the rows, and its likeness to what viewers show. */
export interface HeifVerdict {
  size: [width: number, height: number];
  /** SSIM in RGB; of a transparent picture, 1 minus the greatest error in color and transparency as a share of 255. */
  like: number;
}

/** The verdict on a right PNG. */
export function rightOf({ width = 160, height = 96 }: HeifRow): HeifVerdict["size"] {
  return [width, height];
}

/** Compares a PNG made of a row with the picture before it was stored. */
export async function judgeHeif(row: HeifRow, path: string): Promise<HeifVerdict> {
  const { width, height, at } = await readPicture(path);
  const size: HeifVerdict["size"] = [width, height];
  if (size.join() !== rightOf(row).join()) return { size, like: 0 };
  if (!row.clear) {
    const { mean } = await measureLikeness(path, await picture(), {
      filter: row.shown ?? "null",
      output_filter: "format=rgb24",
      pixels: "gbrp",
    });
    return { size, like: mean };
  }
  const reference = await readPicture(await clearPicture());
  let error = 0;
  for (let x = 8; x < width; x += 24) {
    for (let y = 8; y < height; y += 16) {
      const [seen, right] = [at(x, y), reference.at(x, y)];
      error = Math.max(error, Math.abs(seen[3] - right[3]));
      // Colors that hardly show are rounded.
      if (right[3] > 90) error = Math.max(error, colorDistance(seen, right));
    }
  }
  return { size, like: 1 - error / 255 };
}

/**
 * Returns the greatest error in the pictures of a file made of {@link movingAvif}: `gif` has no half transparency, and a video shows
 * it on black. Counts a missing picture as 255.
 */
export async function movingHeifError(path: string, format: "png" | "gif" | "mp4"): Promise<number> {
  let error = 0;
  for (const [frame, color] of MOVING_COLORS.slice(0, format === "png" ? 1 : 3).entries()) {
    const { at } = await readPicture(path, { frame });
    const [left, right] = [at(24, 32), at(72, 32)];
    const alpha = format === "png" ? MOVING_ALPHA : format === "gif" ? 0 : 255;
    const under = color.map((value) => (format === "mp4" ? (value * MOVING_ALPHA) / 255 : value));
    error = Math.max(error, colorDistance(left, [...color, 255]), 255 - left[3], Math.abs(right[3] - alpha));
    const [red = 0, green = 0, blue = 0] = under;
    if (alpha > 0) error = Math.max(error, colorDistance(right, [red, green, blue, 255]));
  }
  return error;
}
