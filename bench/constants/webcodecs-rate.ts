import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { RateControl } from "../../src/encoders/webcodecs/picture-encoder.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { ffprobeArgs, parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import type { VideoEncode } from "../../src/media/ffmpeg/picture-graph.ts";
import { NATIVE_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { VideoCodec } from "../../src/media/formats.ts";
import { createPlan, type Plan } from "../../src/media/index.ts";
import { CRF } from "../../src/media/rates.ts";
import { openLab } from "../../test/browser/lab.ts";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import { measureLikeness } from "../../test/judge/likeness.ts";

// For every quality, finds the rate settings at which the browser's encoders match the native ones in SSIM, and prints the tables
// of src/encoders/webcodecs/picture-encoder.ts. Run with `node bench/constants/webcodecs-rate.ts [codec …]`.

const run = promisify(execFile);
const SIZE = { width: 640, height: 360, fps: 25, seconds: 2 };
const CODEC =
  "-c:v libx264 -preset veryfast -crf 8 -pix_fmt yuv420p -colorspace bt709 -color_primaries bt709 -color_trc bt709";
const shape = `s=${SIZE.width}x${SIZE.height}:r=${SIZE.fps}`;
const CLIPS = [
  `-f lavfi -i mandelbrot=${shape}:maxiter=300:end_scale=0.1 -t ${SIZE.seconds} -vf noise=alls=4:allf=t`,
  `-f lavfi -i testsrc2=${shape}:d=${SIZE.seconds} -vf rotate=0.1*t,noise=alls=6:allf=t`,
  `-f lavfi -i mandelbrot=s=1280x720:r=${SIZE.fps}:maxiter=500:start_scale=0.02 -t ${SIZE.seconds} -vf crop=640:360:t*60:t*40`,
];
const QUANTIZERS = [60, 100, 140, 170, 200, 225, 245];
const BITS = {
  h264: [0.06, 0.12, 0.24, 0.48, 0.96, 1.92],
  vp9: [0.06, 0.24, 0.96],
  av1: [0.06, 0.24, 0.96],
} as const;

type Codec = keyof typeof BITS;
interface Point {
  value: number;
  ssim: number;
  bytes: number;
}

const folder = await mkdtemp(join(tmpdir(), "framewright-rate-"));
const lab = await openLab({ files: folder });
try {
  const selected = process.argv.slice(2) as Codec[];
  for (const codec of selected.length > 0 ? selected : (Object.keys(BITS) as Codec[]))
    await measureCodec(codec);
} finally {
  await lab.close();
  await rm(folder, { recursive: true, force: true });
}

async function measureCodec(codec: Codec): Promise<void> {
  const tables = new Map<string, number[]>();
  for (const [index, recipe] of CLIPS.entries()) {
    const clip = await makeClip("mp4", [...recipe.split(" "), ...CODEC.split(" ")]);
    await copyFile(clip, join(folder, basename(clip)));
    const targets: Point[] = [];
    for (const crf of Object.values(CRF[codec])) targets.push(await encodeNative(clip, codec, crf));
    const ways: [string, RateControl[]][] = [
      ["bits", BITS[codec].map((bits) => ({ bitrate: bits * SIZE.width * SIZE.height * SIZE.fps }))],
    ];
    if (codec !== "h264") ways.push(["quantizer", QUANTIZERS.map((quantizer) => ({ quantizer }))]);
    for (const [way, holds] of ways) {
      const points: Point[] = [];
      for (const hold of holds) points.push(await encodeHere(clip, codec, hold));
      for (const { value, ssim, bytes } of targets) {
        const like = at(points, ssim);
        const row = tables.get(`${way} ${value}`) ?? [];
        tables.set(`${way} ${value}`, [...row, like.value]);
        console.log(
          `${codec} clip ${index} crf ${value}: SSIM ${ssim.toFixed(4)}, ${bytes} bytes; here by ${way} ${like.value.toFixed(3)} (${(like.bytes / bytes).toFixed(2)} times the bytes)`,
        );
      }
    }
  }
  for (const [name, values] of tables) {
    const mean = Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
    console.log(`${codec} ${name}: ${mean.toFixed(3)}`);
  }
}

// Interpolates between two points the value that reaches a similarity; sizes and bitrates by their logarithms.
function at(points: Point[], ssim: number): Point {
  const sorted = points.toSorted((a, b) => a.ssim - b.ssim);
  const index = sorted.findIndex((point) => point.ssim >= ssim);
  const above = index === -1 ? sorted.length - 1 : Math.max(1, index);
  const [low, high] = [sorted[above - 1], sorted[above]];
  if (!low || !high) throw new Error("Too few points.");
  const decibels = (value: number) => -Math.log(1 - value);
  // Outside the range tried, take the nearest.
  const share = clamp((decibels(ssim) - decibels(low.ssim)) / (decibels(high.ssim) - decibels(low.ssim)));
  const mix = (a: number, b: number) => Math.exp(Math.log(a) + share * (Math.log(b) - Math.log(a)));
  return { value: mix(low.value, high.value), ssim, bytes: mix(low.bytes, high.bytes) };
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}

async function encodeNative(clip: string, codec: VideoCodec, crf: number): Promise<Point> {
  const { plan, source } = await planOf(clip, codec);
  const output = join(folder, `native.${plan.format}`);
  const [chunk] = plan.chunks;
  if (!chunk || plan.video?.mode !== "encode") throw new Error("The plan encodes nothing.");
  const constantQuality = { ...plan, video: { ...plan.video, rate: { crf } } };
  await run("ffmpeg", [
    "-v",
    "error",
    "-y",
    ...chunkArgs(constantQuality, chunk, source, { input: clip, output }, NATIVE_TOOLS),
  ]);
  return judge(output, clip, crf);
}

async function encodeHere(clip: string, codec: VideoCodec, hold: RateControl): Promise<Point> {
  const { plan, source } = await planOf(clip, codec);
  const text = await lab.page.evaluate(
    async ({ plan, source, hold, url, module, trial }) => {
      const [{ encodePictures }, { tryCodec }] = await Promise.all([import(module), import(trial)]);
      const blob = await (await fetch(url)).blob();
      const input = { blob, size: blob.size };
      const signal = new AbortController().signal;
      const { codec, geometry } = plan.video as VideoEncode;
      const ability = { ...(await tryCodec(codec, geometry)), quantizer: null };
      const job = { plan, chunk: plan.chunks[0], source, input, signal };
      return (await encodePictures(job, plan.video, ability, hold)).toBase64() as string;
    },
    {
      plan,
      source,
      hold,
      url: `/files/${basename(clip)}`,
      module: "/src/encoders/webcodecs/chunk.ts",
      trial: "/src/encoders/webcodecs/trial.ts",
    },
  );
  const output = join(folder, `here.${plan.format}`);
  await writeFile(output, Buffer.from(text, "base64"));
  const value = "quantizer" in hold ? hold.quantizer : hold.bitrate / (SIZE.width * SIZE.height * SIZE.fps);
  return judge(output, clip, value);
}

async function judge(output: string, clip: string, value: number): Promise<Point> {
  return { value, ssim: (await measureLikeness(output, clip)).mean, bytes: (await stat(output)).size };
}

async function planOf(
  clip: string,
  codec: VideoCodec,
): Promise<{ plan: Plan; source: ReturnType<typeof parseFfprobe> }> {
  const { stdout } = await run("ffprobe", ffprobeArgs(clip));
  const source = parseFfprobe(JSON.parse(stdout), { url: "file:clip", filesize: (await stat(clip)).size });
  const format = codec === "vp9" ? "webm" : "mp4";
  return { source, plan: createPlan(source, "video", { format, codec, quality: "medium" }) };
}
