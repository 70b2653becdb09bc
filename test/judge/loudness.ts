import { runNative } from "./native.ts";

/** Loudness of a file, by a filter of ffmpeg that the product does not use (loudnorm). */
export interface Loudness {
  /** LUFS. */
  integrated: number;
  /** True peak in dBTP. */
  peak: number;
}

/** Measures the sound of a file or a URL. */
export async function measureLoudness(path: string): Promise<Loudness> {
  const { log } = await runNative([
    ...["-i", path, "-vn", "-af", "loudnorm=print_format=json", "-f", "null", "-"],
  ]);
  const value = (name: string) => Number(new RegExp(`"${name}" : "([^"]+)"`).exec(log)?.[1]);
  return { integrated: value("input_i"), peak: value("input_tp") };
}
