import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { findBuilt } from "../../core/cache.ts";
import { rateArgs } from "../../src/media/ffmpeg/picture-graph.ts";
import { VP9_TOOLS, videoTool } from "../../src/media/ffmpeg/toolset.ts";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { medianOf } from "../measure.ts";
import { usageError } from "../options.ts";
import { makeScratch } from "../scratch.ts";

interface Job {
  name: string;
  description: string;
  peer: "stock" | "native";
  input: "raw" | "film";
  args: string;
  /** Our core; the one for H.264 when absent. */
  core?: "vp9";
}

const SECONDS = 6;
const SIZE = "854x480";
const RAW = `-f rawvideo -pix_fmt yuv420p -video_size ${SIZE} -framerate 25`;
const ENCODE = "-an -c:v libx264 -crf 23 -threads 1 -f mp4";

// The arguments of a page at medium quality.
const { encoder, args } = videoTool(VP9_TOOLS, "vp9", { width: 854, height: 480 });
const ENCODE_VP9 = ["-an -c:v", encoder, ...args, ...rateArgs("vp9", { crf: 32 }), "-g 125 -f webm"].join(
  " ",
);

const JOBS: readonly Job[] = [
  { name: "core-x264-medium-vs-stock", peer: "stock", input: "raw", args: `${ENCODE} -preset medium` },
  { name: "core-x264-veryfast-vs-stock", peer: "stock", input: "raw", args: `${ENCODE} -preset veryfast` },
  { name: "core-x264-vs-native", peer: "native", input: "raw", args: `${ENCODE} -preset medium` },
  {
    name: "core-transcode-vs-stock",
    peer: "stock",
    input: "film",
    args: `${ENCODE} -preset medium -vf scale=854:-2`,
  },
  { name: "core-vp9-vs-stock", peer: "stock", input: "raw", args: ENCODE_VP9, core: "vp9" },
].map((job) => ({
  ...job,
  description: `${SECONDS} s of ${job.input === "raw" ? `raw ${SIZE}` : "1280x720 H.264"}, ${job.args}`,
})) as Job[];

/** The fast cores against the stock core, and against native ffmpeg, by CPU seconds on one thread. */
export const coreBenchmarks: readonly Benchmark[] = JOBS.map((job) => ({
  name: job.name,
  unit: "CPU s",
  open: (ends) => openCore(job, ends),
}));

async function openCore(job: Job, ends: AsyncDisposableStack): Promise<Contest> {
  const core =
    findBuilt(job.core ?? "core") ?? usageError("The fast core is not built here: run npm run core:build.");
  const film = await makeFootage(SECONDS);
  const raw = () =>
    makeClip("yuv", [
      "-i",
      film.path,
      "-vf",
      `scale=${SIZE.replace("x", ":")}`,
      ..."-pix_fmt yuv420p -f rawvideo".split(" "),
    ]);
  const path = job.input === "raw" ? await raw() : film.path;
  const before = job.input === "raw" ? RAW.split(" ") : [];
  const output = join(await makeScratch(ends), "native.mp4");
  const argsOf = (input: string, out: string) => [...before, "-i", input, ...job.args.split(" "), out];
  const runCore = (which: string) =>
    runWasm([which, path, "-threads", "1", ...argsOf("/in/input", "/out/output.mp4")]);
  return {
    ours: () => runCore(core),
    peer: () => (job.peer === "stock" ? runCore("stock") : runNative(argsOf(path, output), output)),
    notes: (ours, peer) =>
      `${job.description}; ${medianOf(ours, "bytes")} bytes against ${medianOf(peer, "bytes")}`,
  };
}

const run = promisify(execFile);
const Run = z.object({ value: z.number(), bytes: z.number() });

async function runWasm(args: readonly string[]): Promise<Measurement> {
  const program = new URL("core-run.ts", import.meta.url).pathname;
  const { stdout } = await run(process.execPath, [program, ...args], { maxBuffer: 1 << 24 });
  return Run.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
}

// ffmpeg's own figures, which include its children.
async function runNative(args: readonly string[], output: string): Promise<Measurement> {
  const options = ["-nostdin", "-y", "-benchmark", "-threads", "1", "-filter_threads", "1"];
  const { stderr } = await run("ffmpeg", [...options, ...args], { maxBuffer: 1 << 24 });
  const [, user = "", system = ""] = /utime=([\d.]+)s stime=([\d.]+)s/.exec(stderr) ?? [];
  return { value: Number(user) + Number(system), bytes: (await stat(output)).size };
}
