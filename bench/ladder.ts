import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Rendition } from "../src/plan/index.ts";
import { createPlan } from "../src/plan/index.ts";
import type { Benchmark, Contest } from "./benchmark.ts";
import { makeFootage } from "./footage.ts";
import { openHeavy, wayOf } from "./heavy.ts";
import { runCommand } from "./run-command.ts";

const SECONDS = 24;
const OPTIONS = {} as const;

/** Adaptive video of four renditions against what is written by hand for it: four commands one after another, and one that does all. */
export const ladderBenchmarks: readonly Benchmark[] = [
  { name: "ladder-vs-four-runs", unit: "s", open: (ends) => openLadder(ends, runEach) },
  { name: "ladder-vs-one-command", unit: "s", open: (ends) => openLadder(ends, runTogether) },
];

type ByHand = (input: string, renditions: readonly Rendition[], folder: string) => Promise<number>;

async function openLadder(ends: AsyncDisposableStack, byHand: ByHand): Promise<Contest> {
  const footage = await makeFootage(SECONDS);
  const heavy = await openHeavy(footage, ends, 1);
  const { renditions } = createPlan(footage.source, "adaptive_video", OPTIONS);
  let way = "";
  return {
    async peer() {
      const folder = join(heavy.lab.dir, "by-hand");
      await mkdir(folder);
      const seconds = await byHand(footage.path, renditions, folder);
      await rm(folder, { recursive: true });
      return { value: seconds };
    },
    async ours() {
      const { output, seconds } = await heavy.encode("adaptive_video", OPTIONS);
      way = wayOf(output);
      if (output.renditions?.length !== renditions.length) throw new Error("A rendition is missing.");
      return { value: seconds };
    },
    notes: () =>
      `${SECONDS} s of 1280x720, ${renditions.map(({ name }) => name).join(", ")}; ours from POST /steps to its end, storing included; ${way}`,
  };
}

const START = ["-nostdin", "-y", "-loglevel", "error"];
const SOUND = ["-c:a", "aac", "-b:a", "128k"];
const KEYFRAMES = ["-force_key_frames", "expr:gte(t,n_forced*2)", "-sc_threshold", "0"];
const HLS = ["-f", "hls", "-hls_time", "6", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4"];

// The first one makes the sound as well.
async function runEach(input: string, renditions: readonly Rendition[], folder: string): Promise<number> {
  let total = 0;
  for (const [index, { name, geometry, rate }] of renditions.entries()) {
    const sound = index === 0 ? SOUND : ["-an"];
    const scale = ["-vf", `scale=${geometry.width}:${geometry.height}`];
    const codec = ["-c:v", "libx264", "-preset", "fast", ...rateOf(rate, ":v")];
    const files = ["-hls_segment_filename", join(folder, `${name}-%05d.m4s`), join(folder, `${name}.m3u8`)];
    const init = ["-hls_fmp4_init_filename", `${name}.mp4`];
    const args = [
      ...START,
      "-i",
      input,
      ...scale,
      ...codec,
      ...KEYFRAMES,
      ...sound,
      ...HLS,
      ...init,
      ...files,
    ];
    total += (await runCommand("ffmpeg", args)).seconds;
  }
  return total;
}

async function runTogether(input: string, renditions: readonly Rendition[], folder: string): Promise<number> {
  const pads = renditions.map((_, index) => `[s${index}]`).join("");
  const scales = renditions.map(
    ({ geometry: { width, height } }, index) => `[s${index}]scale=${width}:${height}[v${index}]`,
  );
  const graph = [`[0:v]split=${renditions.length}${pads}`, ...scales].join(";");
  const maps = renditions.flatMap((_, index) => ["-map", `[v${index}]`]);
  const rates = renditions.flatMap(({ rate }, index) => rateOf(rate, `:v:${index}`));
  const streams = renditions.map((_, index) => `v:${index},agroup:a`);
  const { seconds } = await runCommand("ffmpeg", [
    ...[...START, "-i", input, "-filter_complex", graph, ...maps, "-map", "0:a"],
    ...["-c:v", "libx264", "-preset", "fast", ...rates, ...KEYFRAMES, ...SOUND, ...HLS],
    ...["-var_stream_map", [...streams, "a:0,agroup:a"].join(" "), "-master_pl_name", "master.m3u8"],
    ...["-hls_segment_filename", join(folder, "%v-%05d.m4s"), join(folder, "%v.m3u8")],
  ]);
  return seconds;
}

function rateOf(rate: Rendition["rate"], stream: string): string[] {
  if ("bitrate" in rate) return [`-b${stream}`, String(rate.bitrate)];
  const { crf, maxrate } = rate;
  const cap = maxrate ? [`-maxrate${stream}`, String(maxrate), `-bufsize${stream}`, String(maxrate * 2)] : [];
  return [`-crf${stream}`, String(crf), ...cap];
}
