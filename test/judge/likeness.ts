import { runNative } from "./native.ts";

/** How alike two moving pictures are: 1 is the same; the mean over all frames and the worst frame. */
export interface Likeness {
  mean: number;
  worst: number;
  frames: number;
}

/** How a likeness is measured. */
export interface LikenessOptions {
  /** ffmpeg filters that make of the source what the output should be, such as `scale=80:46`. */
  filter?: string;
  /** The same for the output, where it must first be brought to a form that compares. */
  output_filter?: string;
  /** Options in front of the source, such as `-ss 0.5`. */
  input?: readonly string[];
  /** Pixel format in which they are compared; default `yuv420p`, `gbrp` for pictures in RGB. */
  pixels?: string;
}

/**
 * Measures SSIM frame by frame between an output and what native ffmpeg makes of the source by filters of the test's own.
 * Frames are paired by number, so that a picture that is one frame late is unlike; their times are judged elsewhere.
 */
export async function measureLikeness(
  output: string,
  source: string,
  options: LikenessOptions = {},
): Promise<Likeness> {
  const { filter = "null", output_filter = "null", input = [], pixels = "yuv420p" } = options;
  const paired = `settb=1/1000,setpts=N*40,format=${pixels}`;
  const graph = `[0:v:0]${output_filter},${paired}[got];[1:v:0]${filter},${paired}[wanted];[got][wanted]ssim=stats_file=-`;
  const { output: stats } = await runNative([
    ...["-i", output, ...input, "-i", source],
    ...["-filter_complex", graph, "-an", "-f", "null", "/dev/null"],
  ]);
  const values = [...stats.toString().matchAll(/All:(inf|[\d.]+)/g)].map((match) => Number(match[1]));
  if (values.length === 0) throw new Error("No frame was compared.");
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, worst: Math.min(...values), frames: values.length };
}
