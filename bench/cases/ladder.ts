import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { createPlan, type Rendition } from "../../src/media/index.ts";
import { runFfprobeWith } from "../../test/fixtures/make-clip.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { runCommand } from "../run-command.ts";
import { mean, similarities } from "../similarity.ts";
import { describeChoice, openHeavy } from "./heavy.ts";

const SECONDS = 60;
const OPTIONS = {} as const;

/** Adaptive video of four renditions against two hand-written ways: four commands one after another, and one command for all. */
export const ladderBenchmarks: readonly Benchmark[] = [
  { name: "ladder-vs-four-runs", unit: "s", open: (ends) => openLadder(ends, runEach) },
  { name: "ladder-vs-one-command", unit: "s", open: (ends) => openLadder(ends, runOnce) },
];

// Returns the seconds that it took and the playlist of each rendition.
type ByHand = (
  input: string,
  renditions: readonly Rendition[],
  folder: string,
) => Promise<{ seconds: number; playlists: string[] }>;

async function openLadder(ends: AsyncDisposableStack, byHand: ByHand): Promise<Contest> {
  const footage = await makeFootage(SECONDS);
  const heavy = await openHeavy(footage, ends, 1);
  const { renditions } = createPlan(footage.source, "adaptive_video", OPTIONS);
  // The files are the same every time, so compare them once.
  const summarize = (playlists: readonly string[]) =>
    Promise.all(
      renditions.map(async ({ geometry: { width } }, index) => {
        const playlist = playlists[index] as string;
        const [bytes, likeness] = [
          await bytesOf(playlist),
          await similarities(playlist, footage.path, width),
        ];
        return `${(bytes / 1e6).toFixed(1)} MB (${mean(likeness).toFixed(4)})`;
      }),
    );
  let [choice, theirs, mine]: [string, string[]?, string[]?] = [""];
  return {
    async peer() {
      const folder = join(heavy.lab.dir, "by-hand");
      await mkdir(folder);
      const { seconds, playlists } = await byHand(footage.path, renditions, folder);
      theirs ??= await summarize(playlists);
      await rm(folder, { recursive: true });
      return { value: seconds };
    },
    async ours() {
      const { output, seconds } = await heavy.encode("adaptive_video", OPTIONS);
      choice = describeChoice(output);
      if (output.renditions?.length !== renditions.length) throw new Error("A rendition is missing.");
      mine ??= await summarize(output.renditions.map(({ url }) => url));
      return { value: seconds };
    },
    notes: () =>
      [
        `${SECONDS} s of 1280x720, ${renditions.map(({ name }) => name).join(", ")}; ours from POST /steps to its end, storing included,`,
        `by x264's preset faster, ${mine?.join(", ")} (SSIM); by hand fast, ${theirs?.join(", ")}; ${choice}`,
      ].join(" "),
  };
}

const START = ["-nostdin", "-y", "-loglevel", "error"];
const SOUND = ["-c:a", "aac", "-b:a", "128k"];
const KEYFRAMES = ["-force_key_frames", "expr:gte(t,n_forced*2)", "-sc_threshold", "0"];
const HLS = ["-f", "hls", "-hls_time", "6", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4"];

// The first one encodes the sound as well.
const runEach: ByHand = async (input, renditions, folder) => {
  let seconds = 0;
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
    seconds += (await runCommand("ffmpeg", args)).seconds;
  }
  return { seconds, playlists: renditions.map(({ name }) => join(folder, `${name}.m3u8`)) };
};

const runOnce: ByHand = async (input, renditions, folder) => {
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
  return { seconds, playlists: renditions.map((_, index) => join(folder, `${index}.m3u8`)) };
};

const Packets = z.object({ packets: z.array(z.object({ size: z.coerce.number() })) });

async function bytesOf(playlist: string): Promise<number> {
  const entries = ["-select_streams", "v", "-show_entries", "packet=size"];
  const report = await runFfprobeWith(["-v", "error", "-of", "json", ...entries, playlist]);
  return Packets.parse(report).packets.reduce((sum, { size }) => sum + size, 0);
}

function rateOf(rate: Rendition["rate"], stream: string): string[] {
  if ("bitrate" in rate) return [`-b${stream}`, String(rate.bitrate)];
  const { crf, maxrate } = rate;
  const cap = maxrate ? [`-maxrate${stream}`, String(maxrate), `-bufsize${stream}`, String(maxrate * 2)] : [];
  return [`-crf${stream}`, String(crf), ...cap];
}
