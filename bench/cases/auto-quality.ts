import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EncodeRequest } from "../../src/media/options.ts";
import type { Plan } from "../../src/media/plan.ts";
import { CRF } from "../../src/media/rates.ts";
import type { Sample } from "../../src/runs/steps/sample.ts";
import { openNativeSample } from "../../test/encoders/native-sample.ts";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { median, medianOf } from "../measure.ts";
import { ownSeconds } from "../processor-time.ts";
import { makeScratch } from "../scratch.ts";
import { mean, similarities } from "../similarity.ts";

/** Bytes of videos of quality `auto` against those of a fixed rate, and the time of the search. */
export const autoQualityBenchmarks: readonly Benchmark[] = [
  { name: "auto-vs-fixed", unit: "MB", open: openAuto },
  { name: "auto-search-cost", unit: "s of processor time", open: openSearch },
];

const WIDTH = 320;
const RATE = 25;
const SCENE_SECONDS = 6;
const SHAPE = `s=${WIDTH}x180:r=${RATE}`;
const CARTOON = "format=yuv444p,boxblur=2,lutyuv=y=trunc(val/48)*48:u=trunc(val/48)*48:v=trunc(val/48)*48";

const text = (words: string, more: string) => `drawtext=text='${words}':${more}`;

const SCENES = {
  screen: `color=c=0xf4f4f4:${SHAPE},drawgrid=w=80:h=18:c=gray,${text("const total = sum(%{n})", "fontsize=14:x=20:y=20+12*floor(t)")}`,
  film: `mandelbrot=${SHAPE}:maxiter=150:end_scale=0.2,noise=alls=4:allf=t`,
  slides: `smptehdbars=${SHAPE},${text("Slide %{eif\\:floor(t/2)\\:d}", "fontsize=40:x=60:y=80")}`,
  phone: `testsrc2=${SHAPE},rotate=0.03*sin(3*t),noise=alls=10:allf=t`,
  drawn: `mandelbrot=${SHAPE}:maxiter=60:end_scale=0.1,${CARTOON}`,
  night: `mandelbrot=${SHAPE}:maxiter=150:end_scale=0.2,eq=brightness=-0.3,noise=alls=14:allf=t`,
  terminal: `color=c=black:${SHAPE},${text("%{n} tests passed", "fontsize=16:fontcolor=lime:x=8:y=h-mod(40*t\\,h)")}`,
  pan: `mandelbrot=s=640x360:r=${RATE}:maxiter=400:start_scale=0.02,crop=${WIDTH}:180:t*30:t*15`,
  game: `life=${SHAPE}:mold=10:ratio=0.1:death_color=#c83232:life_color=#00ff00,scale=${WIDTH}:180:flags=neighbor`,
  noise: `color=gray:${SHAPE},noise=alls=60:allf=t`,
} as const;

const CODEC = "-c:v libx264 -preset veryfast -crf 12 -pix_fmt yuv420p".split(" ");

function makeScene(graph: string): Promise<string> {
  return makeClip("mp4", ["-f", "lavfi", "-i", graph, "-t", String(SCENE_SECONDS), ...CODEC]);
}

/** A scene encoded at one rate; `score` is the mean SSIM of its pictures, by ffmpeg. */
interface Encoded {
  rate: number;
  bytes: number;
  score: number;
}

/** A scene, and its encodes so far: of quality `auto`, and at fixed rates. */
interface Scene {
  name: string;
  path: string;
  auto?: Encoded;
  fixed: Map<number, Encoded>;
}

/** A film whose scenes are chunks: its bytes, and the score of its worst scene. */
interface Film {
  bytes: number;
  worst: number;
}

interface FilmLine {
  name: string;
  auto: Film;
  high: Film;
  /** The bytes at the fixed rate whose worst score is that of `auto`. */
  equal: number;
}

async function openAuto(ends: AsyncDisposableStack): Promise<Contest> {
  const folder = await makeScratch(ends);
  const scenes: Scene[] = [];
  for (const [name, graph] of Object.entries(SCENES)) {
    const path = await makeScene(graph);
    scenes.push({ name, path, fixed: new Map() });
  }
  // One of each kind first, then the next two kinds.
  const films = scenes.map(({ name }, first) => ({
    name,
    scenes: [0, 1, 2].flatMap((next) => scenes[(first + next) % scenes.length] ?? []),
  }));

  async function encode({ path }: Scene, quality: "auto" | "high", crf: number): Promise<Encoded> {
    const request = { kind: "video", options: { format: "mp4", quality } } as EncodeRequest;
    const options = { folder, chunk_seconds: null, signal: new AbortController().signal };
    const { sample } = await openNativeSample(path, request, options);
    const { reader, size: bytes } = await sample.encode(request, {
      ...(quality === "high" && { plan: (plan: Plan) => atRate(plan, crf) }),
    });
    const file = join(folder, "output.mp4");
    await writeFile(file, await reader.read({ start: 0, end: reader.size }));
    const rate = (await sample.search())?.rate.rate ?? crf;
    return { rate, bytes, score: mean(await similarities(file, path, WIDTH)) };
  }

  async function fixedFilm(parts: readonly Scene[], crf: number): Promise<Film> {
    for (const scene of parts)
      if (!scene.fixed.has(crf)) scene.fixed.set(crf, await encode(scene, "high", crf));
    return joinScenes(parts.flatMap(({ fixed }) => fixed.get(crf) ?? []));
  }

  /** Returns the bytes of a film at the fixed rate that gives its worst scene a score, interpolated between two rates. */
  async function bytesAt(parts: readonly Scene[], start: number, score: number): Promise<number> {
    let last = await fixedFilm(parts, start);
    const step = last.worst >= score ? 1 : -1;
    for (let crf = start + step; crf > 0 && crf <= CRF.h264.very_low; crf += step) {
      const next = await fixedFilm(parts, crf);
      if (next.worst >= score !== last.worst >= score) {
        const share = (last.worst - score) / (last.worst - next.worst);
        return last.bytes * (next.bytes / last.bytes) ** share;
      }
      last = next;
    }
    return last.bytes;
  }

  let lines: FilmLine[] = [];
  return {
    async ours() {
      for (const scene of scenes) scene.auto = await encode(scene, "auto", CRF.h264.high);
      const total = films.reduce((sum, { scenes: parts }) => sum + autoFilm(parts).bytes, 0);
      return { value: total / 1e6 };
    },
    async peer() {
      lines = [];
      for (const { name, scenes: parts } of films) {
        const auto = autoFilm(parts);
        const high = await fixedFilm(parts, CRF.h264.high);
        const start = Math.min(...parts.map((scene) => scene.auto?.rate ?? CRF.h264.high));
        lines.push({ name, auto, high, equal: await bytesAt(parts, start, auto.worst) });
      }
      return { value: lines.reduce((sum, { high }) => sum + high.bytes, 0) / 1e6 };
    },
    notes() {
      const middle = (bytesOf: (line: FilmLine) => number) =>
        median(lines.map((line) => line.auto.bytes / bytesOf(line))).toFixed(2);
      const ratios = scenes.map(
        ({ auto, fixed }) => (auto?.bytes ?? 0) / (fixed.get(CRF.h264.high)?.bytes ?? 0),
      );
      const each = lines.map(
        ({ name, auto, high, equal }) =>
          `${name} ${(auto.bytes / high.bytes).toFixed(2)}, ${(auto.bytes / equal).toFixed(2)} (${auto.worst.toFixed(4)}, ${high.worst.toFixed(4)})`,
      );
      const kinds = scenes.map(({ name, auto }, at) => `${name} ${auto?.rate}, ${ratios[at]?.toFixed(2)}`);
      return [
        `Ten scenes of ${SCENE_SECONDS} s at ${WIDTH}x180 take a median of ${median(ratios).toFixed(2)} of the bytes of high (rate and ratio: ${kinds.join("; ")}).`,
        `Ten films of three of them, each a chunk, take a median of ${middle(({ high }) => high.bytes)} of the bytes of high, and ${middle(({ equal }) => equal)} of those of the fixed rate that gives the worst scene the same score`,
        `(both ratios, and SSIM of the worst scene of auto and high: ${each.join("; ")}).`,
      ].join(" ");
    },
  };
}

function autoFilm(parts: readonly Scene[]): Film {
  return joinScenes(parts.flatMap(({ auto }) => auto ?? []));
}

function joinScenes(parts: readonly Encoded[]): Film {
  const bytes = parts.reduce((sum, each) => sum + each.bytes, 0);
  return { bytes, worst: Math.min(...parts.map(({ score }) => score)) };
}

function atRate(plan: Plan, crf: number): Plan {
  return plan.video?.mode === "encode" ? { ...plan, video: { ...plan.video, rate: { crf } } } : plan;
}

const FILM_SCENES = 20;

/** Compares the processor time of the search in a film of two minutes with that of an encode at a fixed rate. */
async function openSearch(ends: AsyncDisposableStack): Promise<Contest> {
  const folder = await makeScratch(ends);
  const scene = await makeScene(SCENES.film);
  const repeat = ["-stream_loop", String(FILM_SCENES - 1), "-i", scene, "-c", "copy"];
  const path = await makeClip("mp4", repeat);
  async function measure(quality: "auto" | "high", work: (sample: Sample) => Promise<unknown>) {
    const request = { kind: "video", options: { format: "mp4", quality } } as EncodeRequest;
    const { sample, encoder } = await openNativeSample(path, request, {
      ...{ folder, chunk_seconds: 20, signal: new AbortController().signal },
    });
    const before = ownSeconds();
    await work(sample);
    return { value: ownSeconds() - before, jobs: encoder.jobs.length };
  }
  return {
    ours: () => measure("auto", (sample) => sample.search()),
    peer: () => measure("high", (sample) => sample.encode()),
    notes: (ours) =>
      `The search in a film of ${FILM_SCENES * SCENE_SECONDS} s at ${WIDTH}x180, in ${medianOf(ours, "jobs")} jobs, against its encode with the quality high; the time of this process and of its ffmpegs.`,
  };
}
