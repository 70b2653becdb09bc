import { MOVING_HALVES } from "../fixtures/moving-webp.ts";
import { colorDistance, readPicture } from "./picture.ts";
import { parseColor } from "./quadrants.ts";

/** Returns how far the halves of each picture of a file are, at most, from what the animation shows; clear parts on this color. */
export async function movingErrors(path: string, matte: string, pictures?: number): Promise<number> {
  const errors: number[] = [];
  for (const [frame, halves] of MOVING_HALVES.slice(0, pictures).entries()) {
    const picture = await readPicture(path, { frame });
    for (const [index, color] of halves.entries()) {
      const at = picture.at(Math.round(picture.width * (index === 0 ? 0.25 : 0.75)), 32);
      errors.push(colorDistance(at, parseColor(color ?? matte)));
    }
  }
  return Math.max(...errors);
}
