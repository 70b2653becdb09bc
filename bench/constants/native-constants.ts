/**
 * Measures what work costs native ffmpeg: `node bench/constants/native-constants.ts`. Prints each row beside its estimate, and then the
 * figures of `NATIVE_COSTS` and of the features by their names, beside those that explain the rows best.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { ffprobeArgs, parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { outputFile } from "../../src/media/ffmpeg/output-files.ts";
import { NATIVE_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { createPlan } from "../../src/media/index.ts";
import { type Figures, NATIVE_COSTS, nativeWork } from "../../src/media/native-costs.ts";
import { type Plan, plannedOf } from "../../src/media/plan.ts";
import type { Source } from "../../src/media/source.ts";
import { estimateWork } from "../../src/media/work-estimate.ts";
import { MIB } from "../../src/util/bytes.ts";
import { makeClip, runFfprobeWith } from "../../test/fixtures/make-clip.ts";
import { jobTools } from "../../worker/container/ffmpeg-args.ts";
import { median } from "../measure.ts";
import { createFit, featureDifference, featureFigures } from "./figures.ts";

const MPX = 1_000_000;
const RUNS = 3;
const THREADS = 2;
const run = promisify(execFile);

const noisy = (size: string, seconds: number) =>
  `-f lavfi -i mandelbrot=s=${size}:rate=25:maxiter=100:end_scale=0.1 -t ${seconds} -vf noise=alls=4:allf=t`.split(
    " ",
  );
const clip = (size: string, seconds: number) => `-f lavfi -i testsrc2=s=${size}:r=25:d=${seconds}`.split(" ");
const x265 = "-c:v libx265 -preset ultrafast -x265-params log-level=none".split(" ");
const h264 = "-c:v libx264 -preset fast -crf 21 -pix_fmt yuv420p".split(" ");
const hdr =
  "-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params log-level=none -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -tag:v hvc1".split(
    " ",
  );
const photo = (size: string) =>
  `-f lavfi -i mandelbrot=s=${size}:maxiter=300:end_scale=0.1 -frames:v 1`.split(" ");

const COSTS = { ...NATIVE_COSTS, features: featureFigures("native") };
type Costs = typeof COSTS;
const fit = createFit<Costs>(COSTS, {
  "seconds.start": "Cloudflare: a cold container often takes 1 to 3 s",
  "seconds.job": "an estimate",
  "seconds.stitch.base": "an estimate",
  "seconds.stitch.chunk": "measured in the light encoder's host, which copies packets",
  "seconds.stitch.output_second": "measured in the light encoder's host, which copies packets",
  "memory.palette_frames": "four bytes a pixel",
});

interface Row {
  file: () => Promise<string>;
  kind: EncodeKind;
  options: Record<string, unknown>;
}

function rows(): Row[] {
  const list: Row[] = [];
  for (const size of ["640x360", "1280x720", "1920x1080"]) {
    for (const source of [
      () => makeClip("mp4", [...noisy(size, 2), ...h264]),
      () => makeClip("mp4", [...clip(size, 2), ...h264]),
    ]) {
      // A width other than the source's makes ffmpeg scale and encode the pictures.
      const width = Number(size.split("x")[0]) - 16;
      for (const codec of ["h264", "h265", "av1"])
        list.push({ file: source, kind: "video", options: { width, codec } });
      list.push(
        { file: source, kind: "video", options: { width, format: "webm" } },
        { file: source, kind: "video", options: { width: 160 } },
      );
      list.push({ file: source, kind: "video", options: { width, denoise: "medium" } });
      list.push(
        { file: source, kind: "adaptive_video", options: {} },
        { file: source, kind: "image", options: { start: 1 } },
      );
    }
  }
  const decoders = [
    () => makeClip("mp4", [...noisy("1280x720", 2), ...x265]),
    () =>
      makeClip("webm", [
        ...noisy("1280x720", 2),
        ..."-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 4M".split(" "),
      ]),
    () =>
      makeClip("mp4", [...noisy("1280x720", 2), ..."-c:v libsvtav1 -preset 10 -pix_fmt yuv420p".split(" ")]),
    () => makeClip("mov", [...noisy("1280x720", 2), "-c:v", "prores_ks"]),
    () => makeClip("ts", [...noisy("1280x720", 2), ..."-c:v mpeg2video -q:v 3".split(" ")]),
    () => makeClip("mp4", [...clip("1280x720", 2), ...hdr]),
  ];
  for (const source of decoders) list.push({ file: source, kind: "video", options: { width: 160 } });
  for (const source of decoders.slice(-1))
    list.push({ file: source, kind: "video", options: { width: 1264 } });
  for (const size of ["2000x1500", "4000x3000"]) {
    const jpeg = () => makeClip("jpg", [...photo(size), "-q:v", "3"]);
    for (const format of ["jpeg", "png", "webp", "gif", "avif"])
      list.push({ file: jpeg, kind: "image", options: { format } });
    list.push({ file: jpeg, kind: "image", options: { format: "jpeg", width: 200 } });
    list.push({ file: jpeg, kind: "image", options: { format: "jpeg", width: 1000, denoise: "medium" } });
  }
  const noise = "-f lavfi -i anoisesrc=d=60:a=0.3:c=pink:r=48000 -ac 2 -c:a pcm_s16le".split(" ");
  for (const format of ["mp3", "aac", "ogg", "opus", "flac"]) {
    list.push({ file: () => makeClip("wav", noise), kind: "audio", options: { format } });
  }
  // A WAV from a WAV would be a copy.
  list.push({
    file: () => makeClip("flac", [...noise.slice(0, -1), "flac"]),
    kind: "audio",
    options: { format: "wav" },
  });
  return list;
}

const home = await mkdtemp(join(tmpdir(), "framewright-native-constants-"));
try {
  for (const { file, kind, options } of rows()) await measure(await file(), kind, options);
  fit.print();
} finally {
  await rm(home, { recursive: true, force: true });
}

async function measure(file: string, kind: EncodeKind, options: Record<string, unknown>): Promise<void> {
  const report = await runFfprobeWith(ffprobeArgs(file));
  const source = parseFfprobe(report, { url: "file:clip", filesize: (await stat(file)).size });
  const plan = createPlan(source, kind, options, { chunk_seconds: Number.POSITIVE_INFINITY });
  const [chunk] = plan.chunks;
  if (!chunk) return;
  const usages: Usage[] = [];
  for (let index = 0; index < RUNS; index++) {
    const folder = join(home, "out");
    await mkdir(folder);
    const output = kind === "adaptive_video" ? folder : join(folder, outputFile(plan, chunk).name);
    const tools = {
      ...jobTools(THREADS, { ...NATIVE_TOOLS, demuxers: "ALL" }),
      input: ["-threads", String(THREADS)],
    };
    usages.push(await use(chunkArgs(plan, chunk, source, { input: file, output }, tools)));
    await rm(folder, { recursive: true });
  }
  const [cpu, wall, memory] = (["cpu", "wall", "memory"] as const).map((key) =>
    median(usages.map((each) => each[key])),
  ) as [number, number, number];
  const work = estimateOf(plan, source, COSTS);
  const name = `${kind} ${source.codecs?.video ?? ""} ${source.width ?? ""}x${source.height ?? ""} ${JSON.stringify(options)}`;
  const time = `${cpu.toFixed(2)} of ${work.seconds.toFixed(2)} s`;
  const size = `${memory.toFixed(0)} of ${work.memory.toFixed(0)} MiB`;
  console.log(name.padEnd(60), time.padEnd(18), size.padEnd(20), `${wall.toFixed(2)} s by the clock`);
  fit.add("seconds", cpu, (costs) => estimateOf(plan, source, costs).seconds);
  fit.add("memory", memory, (costs) => estimateOf(plan, source, costs).memory);
  if (options.codec === "h264") fit.add("share", cpu / (wall * THREADS), ({ parallel }) => parallel);
}

// The estimate with a table's figures, those of the features included. In MiB.
function estimateOf(plan: Plan, source: Source, costs: Figures<Costs>): { seconds: number; memory: number } {
  const work = nativeWork(plan, source, costs);
  const { pixels_encoded, frame_encoded } = estimateWork(plan, source);
  const extra = featureDifference(plannedOf(plan), "native", costs.features);
  return {
    seconds: (work.pictures ?? 0) + (work.sound ?? 0) + ((pixels_encoded ?? 0) / MPX) * extra.seconds,
    memory: work.memory / MIB + (frame_encoded / MPX) * extra.memory,
  };
}

interface Usage {
  /** Processor time in seconds. */
  cpu: number;
  /** Elapsed time in seconds. */
  wall: number;
  /** Memory in MiB. */
  memory: number;
}

async function use(args: readonly string[]): Promise<Usage> {
  const { stderr } = await run("ffmpeg", ["-v", "info", "-benchmark", "-nostdin", "-y", ...args], {
    maxBuffer: 1 << 26,
  });
  const number = (name: string) => Number(new RegExp(`${name}=([\\d.]+)`).exec(stderr)?.[1]);
  return { cpu: number("utime") + number("stime"), wall: number("rtime"), memory: number("maxrss") / 1024 };
}
