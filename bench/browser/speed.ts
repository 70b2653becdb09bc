import { stat } from "node:fs/promises";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { runCommand } from "../run-command.ts";
import { describeSides, openClip, SIZE } from "./clip.ts";

// About the bitrate of x264 for the clip at the default quality.
const BITRATE = 1_500_000;
const FIXED_RATE = { ...SIZE, bitrate: BITRATE } as const;
const DEFAULT_RATE = { ...SIZE } as const;

/** The fastest way to an output in a page. */
export const speedBenchmarks: readonly Benchmark[] = [
  { name: "browser-speed-vs-mediabunny", unit: "s", open: openFixedRate },
  { name: "browser-speed-vs-native", unit: "s", open: openDefaultRate },
];

async function openFixedRate(ends: AsyncDisposableStack): Promise<Contest> {
  const { lab, ours } = await openOurs(ends, FIXED_RATE);
  const { tab, site } = lab;
  return {
    ours,
    async peer() {
      const sample = await lab.measure(() =>
        tab.page.evaluate((target) => bench.convert(target, "converted.mp4"), FIXED_RATE),
      );
      return { ...sample, ...(await lab.judge(site.saved("converted.mp4"))) };
    },
    notes: (own, peer) =>
      `20 s of 1280x720 to ${SIZE.width}x${SIZE.height} H.264 of ${BITRATE} bit/s by WebCodecs; ${describeSides(own, peer, "mediabunny's Conversion")}`,
  };
}

async function openDefaultRate(ends: AsyncDisposableStack): Promise<Contest> {
  const { lab, ours } = await openOurs(ends, DEFAULT_RATE);
  const output = lab.site.saved("native.mp4");
  const args = lab.args(DEFAULT_RATE, "native", lab.footage.path, output);
  return {
    ours,
    async peer() {
      const { seconds } = await runCommand("ffmpeg", ["-nostdin", "-y", "-loglevel", "error", ...args]);
      return { value: seconds, size: (await stat(output)).size, ...(await lab.judge(output)) };
    },
    notes: (own, peer) =>
      `20 s of 1280x720 to ${SIZE.width}x${SIZE.height} H.264 at the default quality; ${describeSides(own, peer, "native ffmpeg with x264 veryfast")}`,
  };
}

async function openOurs(ends: AsyncDisposableStack, options: typeof FIXED_RATE | typeof DEFAULT_RATE) {
  const lab = await openClip(ends);
  const { tab, site } = lab;
  await tab.page.evaluate(() => bench.ours.open({ prefer: "speed" }));
  const ours = async (): Promise<Measurement> => {
    const sample = await lab.measure(() =>
      tab.page.evaluate((options) => bench.ours.run({ kind: "video", options }), options),
    );
    await tab.page.evaluate(() => bench.ours.save("ours.mp4"));
    return { ...sample, ...(await lab.judge(site.saved("ours.mp4"))) };
  };
  return { lab, ours };
}
