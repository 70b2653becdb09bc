import { runNative } from "./native.ts";

/** A plain part of a picture, in pixels; all of its variation is noise. */
export interface Patch {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Returns the standard deviation of luma in a plain part of all pictures of a file, of 255, with native ffmpeg. */
export async function measureNoise(path: string, { x, y, width, height }: Patch): Promise<number> {
  const crop = `format=gray,crop=${width}:${height}:${x}:${y}`;
  const raw = ["-vf", crop, "-f", "rawvideo", "-pix_fmt", "gray", "-"];
  const { output } = await runNative(["-i", path, "-an", ...raw]);
  if (output.length === 0) throw new Error("no pictures to measure");
  const mean = output.reduce((sum, value) => sum + value, 0) / output.length;
  const squares = output.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / output.length);
}
