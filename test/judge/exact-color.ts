import sharp from "sharp";
import { runNative } from "./native.ts";

/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Returns the largest difference of a channel, of 255, between a file's first picture and a color. */
export async function farthestFrom(path: string, color: Rgb): Promise<number> {
  const pixels = await decode(path);
  return pixels.reduce((worst, value, at) => Math.max(worst, Math.abs(value - (color[at % 3] ?? 0))), 0);
}

/** Returns the color of the bottom right pixel of a file's first picture. */
export async function lastPixel(path: string): Promise<Rgb> {
  const [red = 0, green = 0, blue = 0] = (await decode(path)).subarray(-3);
  return [red, green, blue];
}

async function decode(path: string): Promise<Buffer> {
  const pixels = (await decodeStill(path)) ?? (await decodeVideo(path));
  if (pixels.length === 0) throw new Error("There is no picture.");
  return pixels;
}

/** Decodes a still to RGB in this process, because starting ffmpeg takes longer; returns null for a video. */
async function decodeStill(path: string): Promise<Buffer | null> {
  const still = sharp(path);
  const isStill = await still.metadata().then(
    () => true,
    () => false,
  );
  return isStill ? still.removeAlpha().toColourspace("srgb").raw().toBuffer() : null;
}

async function decodeVideo(path: string): Promise<Buffer> {
  // Nearest-neighbor scaling gives each pixel the chroma that is stored for it.
  const filter = "scale=flags=neighbor+accurate_rnd+full_chroma_int,format=rgb24";
  const { output } = await runNative([
    ...["-i", path, "-an", "-vf", filter, "-frames:v", "1", "-f", "rawvideo", "-"],
  ]);
  return output;
}
