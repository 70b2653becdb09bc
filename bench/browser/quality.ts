import { stat } from "node:fs/promises";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { runCommand } from "../run-command.ts";
import { type ClipLab, describeSides, openClip, SIZE } from "./clip.ts";
import type { Core } from "./page/plain.ts";

const OPTIONS = { width: SIZE.width, height: SIZE.height } as const;

/**
 * Best quality for the size in a page: against plain ffmpeg.wasm, with the same x264 settings on one thread and with x264's
 * own preset on two, and against native ffmpeg on all processors with the same settings.
 */
export const qualityBenchmarks: readonly Benchmark[] = [
  { name: "browser-quality-vs-ffmpeg-wasm", unit: "s", open: (ends) => open(ends, "core") },
  { name: "browser-quality-vs-core-mt", unit: "s", open: (ends) => open(ends, "core-mt") },
  { name: "browser-quality-vs-native", unit: "s", open: (ends) => open(ends, "native") },
];

type Peer = Core | "native";

const PEERS = {
  core: "plain @ffmpeg/ffmpeg with @ffmpeg/core",
  "core-mt": "plain @ffmpeg/ffmpeg with @ffmpeg/core-mt, two threads and the plain preset veryfast",
  native: "native ffmpeg on all processors",
} as const satisfies Record<Peer, string>;

async function open(ends: AsyncDisposableStack, peer: Peer): Promise<Contest> {
  const lab = await openClip(ends, peer === "core-mt");
  const { tab, site } = lab;
  await tab.page.evaluate(() => bench.ours.open({ prefer: "quality" }));
  let choice = "";
  return {
    async ours() {
      const sample = await lab.measure(async () => {
        const done = await tab.page.evaluate(
          (options) => bench.ours.run({ kind: "video", options }),
          OPTIONS,
        );
        choice = `${done.output.encoder}: ${done.output.reason}`;
        return done;
      });
      await tab.page.evaluate(() => bench.ours.save("ours.mp4"));
      return { ...sample, ...(await lab.judge(site.saved("ours.mp4"))) };
    },
    peer: () => (peer === "native" ? runNative(lab) : runPlain(lab, peer)),
    notes: (own, other) =>
      `20 s of 1280x720 to ${SIZE.width}x${SIZE.height} H.264, cores loaded before; ${describeSides(own, other, PEERS[peer])}; ${choice}`,
  };
}

async function runPlain(lab: ClipLab, core: Core): Promise<Measurement> {
  const { tab, site } = lab;
  const args = plainArgs(lab, core);
  const sample = await lab.measure(() =>
    tab.page.evaluate(({ core, args }) => bench.plain.run(core, args, "out.mp4"), { core, args }),
  );
  await tab.page.evaluate(() => bench.plain.save("plain.mp4"));
  return { ...sample, ...(await lab.judge(site.saved("plain.mp4"))) };
}

async function runNative(lab: ClipLab): Promise<Measurement> {
  const output = lab.site.saved("native.mp4");
  const args = lab.args(OPTIONS, "pool", lab.footage.path, output).map(onAllProcessors);
  const { seconds } = await runCommand("ffmpeg", ["-nostdin", "-y", "-loglevel", "error", ...args]);
  return { value: seconds, size: (await stat(output)).size, ...(await lab.judge(output)) };
}

// ffmpeg and x264 start as many threads as they see fit for 0.
function onAllProcessors(arg: string, index: number, args: readonly string[]): string {
  return args[index - 1] === "-threads" ? "0" : arg.replace("threads=1", "threads=0");
}

function plainArgs(lab: ClipLab, core: Core): string[] {
  const args = lab.args(OPTIONS, "pool", "input", "out.mp4");
  if (core === "core") return args;
  // With more threads it fails, and with its own choice it hangs.
  return args.map((arg, index) =>
    /^-(threads|x264-params)$/.test(args[index - 1] ?? "") ? twice(arg) : arg,
  );
}

function twice(arg: string): string {
  return arg.includes("=") ? "threads=2" : "2";
}
