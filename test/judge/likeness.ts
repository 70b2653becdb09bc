import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runNative } from "./native.ts";
import { type Picture, parsePam } from "./picture.ts";
import { parseSound, type Sound } from "./sound.ts";

/** SSIM of two videos, where 1 is identical: the mean of all frames, and the worst frame. */
export interface Likeness {
  mean: number;
  worst: number;
  frames: number;
}

export interface LikenessOptions {
  /** ffmpeg filters that turn the source into the expected output, such as `scale=80:46`. */
  filter?: string;
  /** ffmpeg filters that make the output comparable. */
  output_filter?: string;
  /** Options before the source, such as `-ss 0.5`. */
  input?: readonly string[];
  /** Pixel format of the comparison: default `yuv420p`; use `gbrp` for pictures in RGB. */
  pixels?: string;
}

// Pairs frames by their number.
const PAIRED = "settb=1/1000,setpts=N*40";

/**
 * Measures SSIM frame by frame between an output and the source after the test's own filters, with native ffmpeg. Frames are
 * paired by number, so that a picture one frame late scores low; times are checked elsewhere.
 */
export async function measureLikeness(
  output: string,
  source: string,
  options: LikenessOptions = {},
): Promise<Likeness> {
  return measure(output, source, options, []);
}

/**
 * Measures like {@link measureLikeness} and reads the output's first frame, and its sound if `as` is set. It runs ffmpeg once, because
 * starting it takes longest.
 */
export async function measureAndRead(
  output: string,
  source: string,
  options: LikenessOptions = {},
  as?: { channels: number; sample_rate: number },
): Promise<Likeness & { picture: Picture; sound: Sound | null }> {
  const [frame, samples] = ["pam", "f32le"].map((extension) =>
    join(tmpdir(), `framewright-frame-${randomUUID()}.${extension}`),
  ) as [string, string];
  const first = ["-map", "0:v:0", "-an", "-vf", "select=eq(n\\,0),format=rgba", "-frames:v", "1"];
  const heard = as
    ? ["-map", "0:a:0", "-ac", `${as.channels}`, "-ar", `${as.sample_rate}`, "-f", "f32le", samples]
    : [];
  try {
    const more = [...first, "-f", "image2", "-c:v", "pam", frame, ...heard];
    const like = await measure(output, source, options, more);
    const sound = as ? parseSound(await readFile(samples), as.channels, as.sample_rate) : null;
    return { ...like, picture: parsePam(await readFile(frame)), sound };
  } finally {
    await Promise.all([frame, samples].map((path) => rm(path, { force: true })));
  }
}

async function measure(
  output: string,
  source: string,
  options: LikenessOptions,
  more: readonly string[],
): Promise<Likeness> {
  const { filter = "null", output_filter = "null", input = [], pixels = "yuv420p" } = options;
  const paired = `${PAIRED},format=${pixels}`;
  const graph = `[0:v:0]${output_filter},${paired}[got];[1:v:0]${filter},${paired}[wanted];[got][wanted]ssim=stats_file=-[judged]`;
  const { output: stats } = await runNative([
    ...["-i", output, ...input, "-i", source],
    ...["-filter_complex", graph, "-map", "[judged]", "-an", "-f", "null", "/dev/null", ...more],
  ]);
  return parseStats(stats.toString());
}

/** An output, and the ffmpeg filters that turn the source into what it must show; none by default. */
export interface Shown {
  output: string;
  filter?: string;
}

/**
 * Measures several outputs of one source like {@link measureLikeness}, but in a single run of ffmpeg, because starting it takes longest. A
 * still is compared with every frame of the source.
 */
export async function measureAll(
  outputs: readonly Shown[],
  source: string,
  { pixels = "yuv420p" }: Pick<LikenessOptions, "pixels"> = {},
): Promise<Likeness[]> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-likeness-"));
  const paired = `${PAIRED},format=${pixels}`;
  const copies = outputs.map((_, at) => `[source${at}]`).join("");
  const graph = [
    `[${outputs.length}:v:0]split=${outputs.length}${copies}`,
    ...outputs.flatMap(({ filter = "null" }, at) => [
      `[${at}:v:0]${paired}[got${at}]`,
      `[source${at}]${filter},${paired}[wanted${at}]`,
      `[got${at}][wanted${at}]ssim=stats_file=${join(folder, String(at))}[judged${at}]`,
    ]),
  ].join(";");
  try {
    await runNative([
      ...outputs.flatMap(({ output }) => ["-i", output]),
      ...["-i", source, "-filter_complex", graph],
      ...outputs.flatMap((_, at) => ["-map", `[judged${at}]`]),
      ...["-an", "-f", "null", "/dev/null"],
    ]);
    return await Promise.all(
      outputs.map(async (_, at) => parseStats(await readFile(join(folder, String(at)), "utf8"))),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function parseStats(stats: string): Likeness {
  const values = [...stats.matchAll(/All:(inf|[\d.]+)/g)].map((match) => Number(match[1]));
  if (values.length === 0) throw new Error("no frames to compare");
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, worst: Math.min(...values), frames: values.length };
}
