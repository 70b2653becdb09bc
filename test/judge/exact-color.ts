import { runNative } from "./native.ts";

/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Returns how far, of 255, the farthest pixel of a file's first picture is from a color, decoded with native ffmpeg. */
export async function farthestFrom(path: string, color: Rgb): Promise<number> {
  // Nearest-neighbor scaling gives each pixel the chroma that is stored for it.
  const filter = "scale=flags=neighbor+accurate_rnd+full_chroma_int,format=rgb24";
  const { output } = await runNative([
    ...["-i", path, "-an", "-vf", filter, "-frames:v", "1", "-f", "rawvideo", "-"],
  ]);
  if (output.length === 0) throw new Error("There is no picture.");
  return output.reduce((worst, value, at) => Math.max(worst, Math.abs(value - (color[at % 3] ?? 0))), 0);
}
