import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeRequest } from "../../src/media/options.ts";
import { estimateOutput } from "../../src/runs/steps/estimate.ts";
import { joinSegment } from "../../src/runs/steps/measure-quality.ts";
import { readAll } from "../../src/storage/storage.ts";
import { openNativeSample } from "../encoders/native-sample.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { measureLikeness } from "../judge/likeness.ts";

const home = await mkdtemp(join(tmpdir(), "framewright-auto-"));
afterAll(() => rm(home, { recursive: true }));

const picture = (graph: string) =>
  makeClip("png", ["-f", "lavfi", "-i", graph, "-frames:v", "1", "-bitexact"]);
const SLIDE = "smptehdbars=s=320x240";
const FILM = "mandelbrot=s=320x240:maxiter=400:start_scale=0.05";
const NOISE = "color=gray:s=160x120,noise=alls=90:allf=t:all_seed=7";

type Kind = "image" | "animation" | "video" | "adaptive_video";

function open(path: string, kind: Kind, options: object, chunk_seconds: number | null = null) {
  const request = { kind, options } as EncodeRequest;
  return openNativeSample(path, request, { folder: home, chunk_seconds, toolset: WASM_TOOLS });
}

async function encode(path: string, kind: Kind, options: object, chunk_seconds: number | null = null) {
  const { sample, storage, encoder } = await open(path, kind, options, chunk_seconds);
  const { size, score, key, plan } = await sample.encode();
  const output = join(home, `${size}-${encoder.jobs.length}.${plan.format}`);
  const stored = await storage.read(key);
  await writeFile(output, stored ? await readAll(stored.body) : "");
  return { path: output, size, score: score ?? 0, quality: encoder.jobs.at(-1)?.plan.image?.quality, sample };
}

test.for(["webp", "jpeg"] as const)("auto makes the smallest %s that looks the same", async (format) => {
  const [slide, film, noise] = await Promise.all([SLIDE, FILM, NOISE].map(picture));
  const both = async (path = "") => ({
    auto: await encode(path, "image", { format, quality: "auto" }),
    high: await encode(path, "image", { format, quality: "high" }),
  });
  const [easy, hard, noisy] = [await both(slide), await both(film), await both(noise)];
  expect(easy.auto.size).toBeLessThan(hard.auto.size);
  for (const { auto, high } of [easy, hard, noisy]) {
    expect(auto.size).toBeLessThanOrEqual(high.size);
    if (auto.quality !== high.quality) expect(auto.score).toBeGreaterThanOrEqual(0.97);
  }
  // The score is that of the worst quarter, so ffmpeg's SSIM of the whole picture is no lower.
  const { mean } = await measureLikeness(hard.auto.path, film ?? "");
  expect(mean).toBeGreaterThan(hard.auto.score - 0.005);
});

test("a transparent picture is measured at the output's size over black and over white", async () => {
  const fading = await picture(`${FILM},format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='X*255/W'`);
  const { score, quality } = await encode(fading, "image", { format: "webp", quality: "auto", width: 160 });
  expect(score).toBeGreaterThan(0.9);
  expect(quality).toBeGreaterThanOrEqual(40);
});

test("an animation is measured in three of its frames, and its estimate has the score", async () => {
  const input = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=s=160x120:r=10:d=1", "-c:v", "libx264", "-pix_fmt", "yuv420p"],
  ]);
  const auto = await encode(input, "animation", { format: "webp", quality: "auto" });
  const high = await encode(input, "animation", { format: "webp", quality: "high" });
  expect(auto.size).toBeLessThanOrEqual(high.size);
  const { sample } = await open(input, "animation", { format: "webp", quality: "auto" });
  const scores: (number | null)[] = [];
  for await (const { score } of estimateOutput(sample)) scores.push(score);
  expect(scores.at(-1)).toBe(auto.score);
});

// Two seconds of a still picture, then two of noise.
const HALVES = `${SLIDE}:r=10:d=2,format=yuv420p,setsar=1[a];color=gray:s=320x240:r=10:d=2,noise=alls=40:allf=t:all_seed=7,format=yuv420p[b];[a][b]concat`;

test("a video encoded whole has the rate of its hardest sample, and one in chunks a rate for each chunk", async () => {
  const clip = await makeClip("mp4", ["-f", "lavfi", "-i", HALVES, "-c:v", "libx264", "-crf", "14"]);
  const whole = await encode(clip, "video", { quality: "auto" });
  const cut = await encode(clip, "video", { quality: "auto" }, 2);
  const high = await encode(clip, "video", { quality: "high" });
  const [single, several] = [await whole.sample.search(), await cut.sample.search()];
  const [easy, hard] = several?.rate.rates ?? [];
  expect([easy?.at, hard?.at]).toEqual([0, 2]);
  expect(easy?.crf).toBeGreaterThan((hard?.crf ?? 0) + 1);
  expect(several?.rate.rate).toBe(hard?.crf);
  expect(Math.abs((single?.rate.rate ?? 0) - (hard?.crf ?? 0))).toBeLessThanOrEqual(1);
  expect([whole.score, cut.score].map((score) => score >= 0.97)).toEqual([true, true]);
  expect(Math.max(whole.size, cut.size)).toBeLessThan(high.size);
  const [own, fixed] = [await measureLikeness(cut.path, clip), await measureLikeness(high.path, clip)];
  expect(own.frames).toBe(40);
  expect(own.worst).toBeGreaterThan(fixed.worst - 0.01);
});

/** Encodes a stream of one segment; returns the chosen renditions with their files. */
async function encodeStream(path: string, options: object) {
  const { sample, storage } = await open(path, "adaptive_video", options);
  const { key, plan } = await sample.encode();
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const target = await mkdtemp(join(home, "stream-"));
  const files = plan.renditions.map(async ({ name, rate }) => {
    const file = join(target, `${name}.mp4`);
    await writeFile(file, joinSegment(storage, `${folder}${name}/`));
    return { name, crf: "crf" in rate ? rate.crf : null, file };
  });
  return { renditions: await Promise.all(files), rungs: (await sample.search())?.rate.rungs ?? [] };
}

test("a measured ladder gives simple pictures fewer and smaller renditions, and states the score of each", async () => {
  const clip = (graph: string) =>
    makeClip("mp4", [
      "-f",
      "lavfi",
      "-i",
      graph,
      "-t",
      "2",
      "-c:v",
      "libx264",
      "-crf",
      "12",
      "-pix_fmt",
      "yuv420p",
    ]);
  const slides = await clip("smptehdbars=s=640x360:r=10");
  const film = await clip(
    "mandelbrot=s=640x360:r=10:maxiter=400:start_scale=0.02,noise=alls=6:allf=t:all_seed=7",
  );
  const simple = await encodeStream(slides, { ladder: "auto" });
  const auto = await encodeStream(film, { ladder: "auto" });
  expect(simple.renditions.map(({ name }) => name)).toEqual(["360p"]);
  expect(auto.renditions.map(({ name }) => name)).toEqual(["360p", "240p"]);
  expect(auto.rungs.map(({ name, crf }) => ({ name, crf }))).toEqual(
    auto.renditions.map(({ name, crf }) => ({ name, crf })),
  );
  // The score is that of the worst quarter, so ffmpeg's SSIM of the whole picture is no lower.
  for (const [index, { score }] of auto.rungs.entries()) {
    const fullSize = { output_filter: "scale=640:360:flags=bicubic" };
    const { mean, frames } = await measureLikeness(auto.renditions[index]?.file ?? "", film, fullSize);
    expect(frames).toBe(20);
    expect(mean).toBeGreaterThan(score - 0.005);
  }
});
