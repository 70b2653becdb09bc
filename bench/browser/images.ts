import { link, mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { ffprobeArgs, parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { NATIVE_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { ImageFormat } from "../../src/media/formats.ts";
import { createPlan } from "../../src/media/index.ts";
import { makeClip, runFfprobeWith } from "../../test/fixtures/make-clip.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { inParallel } from "../in-parallel.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { mean, similarities } from "../similarity.ts";
import { openSite } from "./open-page.ts";

const PHOTOS = 100;
const DISTINCT = 10;
const WIDTH = 1600;
const FORMATS = ["webp", "avif"] as const satisfies ImageFormat[];
const PROCESSORS = 2;

export const imagesBenchmarks: readonly Benchmark[] = [{ name: "browser-images-100", unit: "s", open }];

async function open(ends: AsyncDisposableStack): Promise<Contest> {
  const site = await openSite(ends);
  const photos = await makePhotos(site.files);
  const natives = join(site.files, "native");
  await mkdir(natives);
  const tab = await site.open();
  await tab.choose(...photos);
  await tab.page.evaluate(() => bench.ours.open({}));
  const sides = async (one: (format: ImageFormat) => Promise<Measurement>): Promise<Measurement> => {
    const facts: Record<string, number> = {};
    let value = 0;
    for (const format of FORMATS) {
      const { value: seconds, size = 0, ssim = 0 } = await one(format);
      value += seconds;
      Object.assign(facts, { [format]: seconds, [`${format}_size`]: size, [`${format}_ssim`]: ssim });
    }
    return { value, ...facts };
  };
  const judge = async (path: string) => mean(await similarities(path, photos[0] ?? "", WIDTH));
  return {
    ours: () =>
      sides(async (format) => {
        const { seconds, size } = await tab.page.evaluate(
          ({ format, width }) => bench.ours.runAll({ kind: "image", options: { format, width } }),
          { format, width: WIDTH },
        );
        await tab.page.evaluate((name) => bench.ours.save(name), `photo.${format}`);
        return { value: seconds, size, ssim: await judge(site.saved(`photo.${format}`)) };
      }),
    peer: () =>
      sides(async (format) => {
        const outputs = photos.map((_, index) => join(natives, `${index}.${format}`));
        const started = performance.now();
        await nativeAll(photos, outputs, format);
        const value = (performance.now() - started) / 1000;
        const sizes = await Promise.all(outputs.map(async (path) => (await stat(path)).size));
        const ssim = await judge(outputs[0] ?? "");
        await Promise.all(outputs.map((path) => rm(path)));
        return { value, size: sizes.reduce((sum, size) => sum + size, 0), ssim };
      }),
    notes: (ours, peer) =>
      [
        `${PHOTOS} photographs of 4000x3000 to ${WIDTH} wide, all submitted at once`,
        ...FORMATS.map(
          (format) =>
            `${format}: ours ${sideOf(ours, format)}; native ffmpeg, two processes in parallel, ${sideOf(peer, format)}`,
        ),
      ].join("; "),
  };
}

function sideOf(samples: readonly Measurement[], format: ImageFormat): string {
  const fact = (name: string) => medianOf(samples, name);
  return `${short(fact(format))} s, ${fact(`${format}_size`)} bytes, SSIM ${fact(`${format}_ssim`).toFixed(4)}`;
}

async function makePhotos(folder: string): Promise<string[]> {
  const originals: string[] = [];
  for (let index = 0; index < DISTINCT; index++) {
    const picture = `mandelbrot=s=4000x3000:rate=1:maxiter=200:start_scale=${(2 - index * 0.17).toFixed(2)}`;
    const grain = "noise=alls=4:allf=t,format=yuvj420p";
    originals.push(
      await makeClip("jpg", ["-f", "lavfi", "-i", picture, "-frames:v", "1", "-vf", grain, "-q:v", "3"]),
    );
  }
  const photos = Array.from({ length: PHOTOS }, (_, index) => join(folder, `photo-${index}.jpg`));
  for (const [index, path] of photos.entries()) await link(originals[index % DISTINCT] ?? "", path);
  return photos;
}

async function nativeAll(photos: readonly string[], outputs: readonly string[], format: ImageFormat) {
  const source = parseFfprobe(await runFfprobeWith(ffprobeArgs(photos[0] ?? "")), {
    url: "file:photo.jpg",
    filesize: (await stat(photos[0] ?? "")).size,
  });
  const plan = createPlan(source, "image", { format, width: WIDTH });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("The plan is empty.");
  await inParallel(photos, PROCESSORS, async (input, index) => {
    const args = chunkArgs(plan, chunk, source, { input, output: outputs[index] ?? "" }, NATIVE_TOOLS);
    await runCommand("ffmpeg", ["-nostdin", "-y", "-loglevel", "error", ...args]);
  });
}
