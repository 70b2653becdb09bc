import { stat } from "node:fs/promises";
import { parseFfprobe } from "../src/media/ffmpeg/ffprobe.ts";
import type { Source } from "../src/media/source.ts";
import { makeClip, runFfprobe } from "../test/fixtures/make-clip.ts";

/** A clip on this machine, and ffprobe's report on it. */
export interface Footage {
  path: string;
  source: Source;
}

const LOOP_SECONDS = 10;

/**
 * Creates a clip of 1280x720 at exactly `rate` frames per second with slow motion, detail and light grain, and a tone; ten
 * seconds of pictures repeat.
 */
export async function makeFootage(seconds: number, rate = 25): Promise<Footage> {
  const pictures = `-f lavfi -i mandelbrot=s=1280x720:rate=${rate}:maxiter=150:end_scale=0.2`;
  const mix = `-t ${LOOP_SECONDS} -vf noise=alls=3:allf=t,format=yuv420p`;
  const codec = `-c:v libx264 -preset veryfast -crf 17 -g ${5 * rate}`;
  const loop = await makeClip("mp4", `${pictures} ${mix} ${codec}`.split(" "));
  const repeat = ["-stream_loop", String(Math.ceil(seconds / LOOP_SECONDS) - 1), "-i", loop];
  const sound = "-f lavfi -i sine=frequency=440:sample_rate=48000 -c:a aac -ac 2".split(" ");
  // Sound in the loop would outlast the pictures and separate the repetitions.
  const path = await makeClip("mp4", [...repeat, ...sound, "-t", String(seconds), "-c:v", "copy"]);
  const url = path;
  return { path, source: parseFfprobe(await runFfprobe(path), { url, filesize: (await stat(path)).size }) };
}
