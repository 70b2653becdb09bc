import { stat } from "node:fs/promises";
import { join } from "node:path";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { NATIVE_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { createPlan } from "../../src/media/index.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { median, medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { mean, similarities } from "../similarity.ts";
import { describeChoice, openHeavy } from "./heavy.ts";

const WIDTH = 854;
const OPTIONS = { width: WIDTH } as const;
// The default settings, at rates around ours.
const PLAIN_RATES = [22, 24] as const;
const SIZE_SECONDS = 8;

/** The native encoder behind the service against ffmpeg run by hand on the same file. */
export const nativeBenchmarks: readonly Benchmark[] = [
  { name: "native-overhead", unit: "s", open: openOverhead },
  { name: "size-vs-native", unit: "bytes", open: openSize },
];

async function openOverhead(ends: AsyncDisposableStack): Promise<Contest> {
  const footage = await makeFootage(60);
  const heavy = await openHeavy(footage, ends, 1);
  const plan = createPlan(footage.source, "video", OPTIONS);
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("The plan is empty.");
  const output = join(heavy.lab.dir, "by-hand.mp4");
  const args = chunkArgs(plan, chunk, footage.source, { input: footage.path, output }, NATIVE_TOOLS);
  const moves: number[] = [];
  let choice = "";
  return {
    async peer() {
      const { seconds } = await runCommand("ffmpeg", ["-nostdin", "-y", "-loglevel", "error", ...args]);
      return { value: seconds, bytes: (await stat(output)).size };
    },
    async ours() {
      const done = await heavy.encode("video", OPTIONS);
      const moving = await heavy.timeBytes(done.output);
      moves.push(moving);
      choice = describeChoice(done.output);
      return { value: done.seconds - moving, whole: done.seconds, bytes: done.output.filesize ?? 0 };
    },
    notes: (ours, peer) =>
      [
        `60 s of 1280x720 to ${WIDTH} wide H.264; ours ${short(medianOf(ours, "whole"))} s from POST /steps to its end, less`,
        `${short(median(moves))} s for moving the same bytes without other work;`,
        `${medianOf(ours, "bytes")} bytes against ${medianOf(peer, "bytes")}; ${choice}`,
      ].join(" "),
  };
}

async function openSize(ends: AsyncDisposableStack): Promise<Contest> {
  const footage = await makeFootage(SIZE_SECONDS);
  const heavy = await openHeavy(footage, ends, 1);
  const output = join(heavy.lab.dir, "plain.mp4");
  const similarityOf = async (path: string) => mean(await similarities(path, footage.path, WIDTH));
  const encodePlainly = async (crf: number) => {
    const filter = ["-vf", `scale=${WIDTH}:-2`];
    const codec = ["-c:v", "libx264", "-crf", String(crf), "-c:a", "aac", "-b:a", "128k"];
    const files = ["-i", footage.path, ...filter, ...codec, "-movflags", "+faststart", output];
    await runCommand("ffmpeg", ["-nostdin", "-y", "-loglevel", "error", ...files]);
    return { ssim: await similarityOf(output), bytes: (await stat(output)).size };
  };
  const encodeOurs = async () => {
    const { output: encoded } = await heavy.encode("video", OPTIONS);
    const path = await heavy.save(encoded, "ours.mp4");
    return { path, bytes: (await stat(path)).size };
  };
  // The results are the same every time, so they are measured once: the similarity of ours, and the peer around it.
  const similarity = await similarityOf((await encodeOurs()).path);
  const points: { ssim: number; bytes: number }[] = [];
  for (const crf of PLAIN_RATES) points.push(await encodePlainly(crf));
  const size = sizeAt(similarity, points);
  return {
    ours: async () => ({ value: (await encodeOurs()).bytes }),
    peer: async () => ({ value: size }),
    notes: () =>
      `${SIZE_SECONDS} s of 1280x720 to ${WIDTH} wide H.264 at the default quality, SSIM ${similarity.toFixed(4)}; the peer is \`ffmpeg -c:v libx264\` at its defaults, its size at the same SSIM read between CRF ${PLAIN_RATES.join(" and ")}`,
  };
}

/** Returns the size at a similarity, interpolated on the logarithms of the sizes at two measured points around it. */
export function sizeAt(ssim: number, points: readonly { ssim: number; bytes: number }[]): number {
  const sorted = points.toSorted((a, b) => a.ssim - b.ssim);
  const above = sorted.findIndex((point) => point.ssim >= ssim);
  const at = Math.max(1, above < 0 ? sorted.length - 1 : above);
  const [low, high] = [sorted[at - 1], sorted[at]];
  if (!low || !high) throw new Error("At least two points are needed.");
  const share = (ssim - low.ssim) / (high.ssim - low.ssim);
  return low.bytes * (high.bytes / low.bytes) ** share;
}
