import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { chunkArgs } from "../../../src/media/ffmpeg/chunk-args.ts";
import { parseFfprobe } from "../../../src/media/ffmpeg/ffprobe.ts";
import { NATIVE_TOOLS } from "../../../src/media/ffmpeg/toolset.ts";
import { createPlan } from "../../../src/media/index.ts";
import type { AnimationOptions } from "../../../src/media/options.ts";
import { makeClip, runFfprobe } from "../../../test/fixtures/make-clip.ts";
import type { Benchmark, Contest, Measurement } from "../../benchmark.ts";
import { makeFootage } from "../../footage.ts";
import { installProgram } from "../../install-program.ts";
import { medianOf } from "../../measure.ts";
import { short } from "../../report.ts";
import { runCommand } from "../../run-command.ts";
import { makeScratch } from "../../scratch.ts";
import { mean, similarities } from "../../similarity.ts";

const SECONDS = 3;
const WIDTH = 320;
const FPS = 12;
const OPTIONS = { end: SECONDS, width: WIDTH, fps: FPS } as const satisfies AnimationOptions;
// The program is under the AGPL and runs on its own; this is the last version whose package has it.
const GIFSKI = { version: "1.7.1", program: "bin/debian/gifski", quality: 90 } as const;
const SCALE = `fps=${FPS}:start_time=0,scale=${WIDTH}:-2:flags=bicubic+accurate_rnd+full_chroma_int,format=rgb24`;
const FFMPEG = ["-nostdin", "-y", "-loglevel", "error"];

/** Animated GIFs of our arguments for native ffmpeg against those of gifski, both beside ffmpeg's palettegen. */
export const gifBenchmarks: readonly Benchmark[] = [
  { name: "gif-film-vs-gifski", unit: "KB", open: (ends) => open(ends, makeFilm) },
  { name: "gif-drawn-vs-gifski", unit: "KB", open: (ends) => open(ends, makeDrawn) },
];

const makeFilm = async () => (await makeFootage(10)).path;
const makeDrawn = () =>
  makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=1280x720:rate=25:duration=10 -pix_fmt yuv420p".split(" "),
    ..."-c:v libx264 -preset veryfast -crf 12".split(" "),
  ]);

async function open(ends: AsyncDisposableStack, makeInput: () => Promise<string>): Promise<Contest> {
  const dir = await makeScratch(ends);
  const [input, gifski] = [await makeInput(), await installProgram("gifski", GIFSKI.version)];
  const source = parseFfprobe(await runFfprobe(input), { url: input, filesize: (await stat(input)).size });
  const plan = createPlan(source, "animation", OPTIONS);
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("The plan is empty.");
  // All are compared with the pictures that gifski receives, stored without loss.
  const reference = join(dir, "reference.mkv");
  const cut = ["-t", String(SECONDS), "-i", input, "-vf", SCALE];
  await runCommand("ffmpeg", [...FFMPEG, ...cut, "-c:v", "ffv1", reference]);
  await runCommand("ffmpeg", [...FFMPEG, "-i", reference, join(dir, "%04d.png")]);
  const pictures = (await readdir(dir)).filter((name) => name.endsWith(".png")).sort();

  async function measure(name: string, program: string, args: (output: string) => readonly string[]) {
    const output = join(dir, `${name}.gif`);
    const { seconds } = await runCommand(program, args(output));
    const values = await similarities(output, reference, WIDTH);
    const length = await lengthOf(output);
    if (values.length !== pictures.length || Math.abs(length - SECONDS) > 1 / FPS)
      throw new Error(`${name} has ${values.length} pictures in ${length} s.`);
    return {
      value: (await stat(output)).size / 1000,
      seconds,
      ssim: mean(values),
      worst: Math.min(...values),
    };
  }
  const plain = await measure("palettegen", "ffmpeg", (output) => [
    ...[...FFMPEG, "-i", reference, "-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse", output],
  ]);
  return {
    ours: () =>
      measure("ours", "ffmpeg", (output) => [
        ...FFMPEG,
        ...chunkArgs(plan, chunk, source, { input, output }, NATIVE_TOOLS),
      ]),
    peer: () =>
      measure("gifski", join(gifski, GIFSKI.program), (output) => [
        ...["--quiet", "--fps", String(FPS), "--width", String(WIDTH), "--quality", String(GIFSKI.quality)],
        ...["--output", output, ...pictures.map((name) => join(dir, name))],
      ]),
    notes: (ours, peer) =>
      [
        `${pictures.length} pictures in ${SECONDS} s, ${WIDTH} wide; ours ${figuresOf(ours)};`,
        `gifski at quality ${GIFSKI.quality} ${figuresOf(peer)}; palettegen by hand ${figuresOf([plain])}`,
      ].join(" "),
  };
}

async function lengthOf(path: string): Promise<number> {
  const report = (await runFfprobe(path)) as { format: { duration: string } };
  return Number(report.format.duration);
}

function figuresOf(samples: readonly Measurement[]): string {
  const [size, seconds] = ["value", "seconds"].map((fact) => short(medianOf(samples, fact)));
  const [ssim, worst] = ["ssim", "worst"].map((fact) => medianOf(samples, fact).toFixed(4));
  return `${size} KB, SSIM ${ssim} (worst picture ${worst}), ${seconds} s`;
}
