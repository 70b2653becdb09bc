import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SAME_LOOK } from "../../src/media/quality-search.ts";
import type { Source } from "../../src/media/source.ts";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import { serveFile } from "../../worker/local/demo-files.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { openLab } from "../lab.ts";
import { mean, similarities } from "../similarity.ts";

/** Bytes of videos of quality `auto` against those of quality `high`. */
export const autoQualityBenchmarks: readonly Benchmark[] = [
  { name: "auto-vs-fixed", unit: "MB", open: openAuto },
];

const WIDTH = 480;
const SIZE = `${WIDTH}x270`;
const RATE = 25;
const SECONDS = 4;
const ASK_MS = 500;
const SHAPE = `s=${SIZE}:r=${RATE}`;
const CARTOON = "format=yuv444p,boxblur=2,lutyuv=y=trunc(val/48)*48:u=trunc(val/48)*48:v=trunc(val/48)*48";

const text = (words: string, more: string) => `drawtext=text='${words}':${more}`;

const CLIPS = {
  screen: `color=c=0xf4f4f4:${SHAPE},drawgrid=w=120:h=27:c=gray,${text("const total = sum(%{n})", "fontsize=18:x=20:y=40+24*floor(t)")}`,
  terminal: `color=c=black:${SHAPE},${text("%{n} tests passed", "fontsize=16:fontcolor=lime:x=8:y=h-mod(40*t\\,h)")}`,
  slides: `smptehdbars=${SHAPE},${text("Slide %{eif\\:floor(t/2)\\:d}", "fontsize=40:x=60:y=80")}`,
  film: `mandelbrot=${SHAPE}:maxiter=150:end_scale=0.2,noise=alls=4:allf=t`,
  pan: `mandelbrot=s=960x540:r=${RATE}:maxiter=400:start_scale=0.02,crop=480:270:t*60:t*30`,
  phone: `testsrc2=${SHAPE},rotate=0.03*sin(3*t),noise=alls=10:allf=t`,
  night: `mandelbrot=${SHAPE}:maxiter=150:end_scale=0.2,eq=brightness=-0.3,noise=alls=14:allf=t`,
  noise: `color=gray:${SHAPE},noise=alls=60:allf=t`,
  drawn: `mandelbrot=${SHAPE}:maxiter=60:end_scale=0.1,${CARTOON}`,
  game: `life=${SHAPE}:mold=10:ratio=0.1:death_color=#c83232:life_color=#00ff00,scale=480:270:flags=neighbor`,
} as const;

async function openAuto(ends: AsyncDisposableStack): Promise<Contest> {
  const lab = await openLab(ends, 1);
  const clips: { name: string; path: string; source: Source }[] = [];
  for (const [name, graph] of Object.entries(CLIPS)) {
    const codec = `-t ${SECONDS} -c:v libx264 -preset veryfast -crf 12 -pix_fmt yuv420p`;
    const path = await makeClip("mp4", ["-f", "lavfi", "-i", graph, ...codec.split(" ")]);
    const file = await serveFile(path);
    ends.defer(() => file.close());
    const { output: source } = await lab.runStep({ kind: "ingest", input: { url: file.url } });
    if (!source) throw new Error("A clip was not ingested.");
    clips.push({ name, path, source });
  }
  const results = new Map<string, Record<string, { bytes: number; worst: number }>>();

  async function encodeAll(quality: "auto" | "high"): Promise<Measurement> {
    let [total, duration] = [0, 0];
    for (const { name, path, source } of clips) {
      const { output, created_at, finished_at } = await lab.runStep(
        { kind: "video", input: source, options: { format: "mp4", quality } },
        ASK_MS,
      );
      if (!output || !finished_at) throw new Error("The step returned nothing.");
      duration += (finished_at - created_at) / 1000;
      const file = join(lab.dir, `${name}-${quality}.mp4`);
      await writeFile(file, new Uint8Array(await (await fetch(output.url)).arrayBuffer()));
      const { size: bytes } = await stat(file);
      total += bytes;
      const frames = await similarities(file, path, WIDTH);
      const chunks = Array.from({ length: SECONDS }, (_, at) =>
        mean(frames.slice(at * RATE, (at + 1) * RATE)),
      );
      results.set(name, { ...results.get(name), [quality]: { bytes, worst: Math.min(...chunks) } });
    }
    return { value: total / 1e6, seconds: duration };
  }

  return {
    ours: () => encodeAll("auto"),
    peer: () => encodeAll("high"),
    notes(ours, peer) {
      const pairs = [...results].flatMap(([name, { auto, high }]) =>
        auto && high ? [{ name, auto, high }] : [],
      );
      const ratios = pairs.map(({ auto, high }) => auto.bytes / high.bytes).toSorted((a, b) => a - b);
      const middle = ((ratios[4] ?? 0) + (ratios[5] ?? 0)) / 2;
      const isEqual = ({ auto, high }: (typeof pairs)[number]) =>
        auto.worst >= Math.min(SAME_LOOK, high.worst) - 0.002;
      const each = pairs.map(
        ({ name, auto, high }) =>
          `${name} ${(auto.bytes / high.bytes).toFixed(2)} (${auto.worst.toFixed(4)}, ${high.worst.toFixed(4)})`,
      );
      const sum = (all: readonly Measurement[]) => mean(all.map(({ seconds = 0 }) => seconds)).toFixed(1);
      return [
        `Ten clips of ${SECONDS} s at ${SIZE}; median of the clips' ratios ${middle.toFixed(2)};`,
        `${pairs.filter(isEqual).length} of ${pairs.length} keep the goal or the fixed quality in their worst second;`,
        `${sum(ours)} s instead of ${sum(peer)} s. Ratio and SSIM of the worst second, auto and high: ${each.join(", ")}.`,
      ].join(" ");
    },
  };
}
