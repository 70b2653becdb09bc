import { stat } from "node:fs/promises";
import type { Benchmark, Contest, Sample } from "../benchmark.ts";
import { runCommand } from "../run-command.ts";
import { describeSides, openClip, SIZE } from "./clip.ts";

// Roughly what x264 uses for the clip at the default quality.
const BITRATE = 1_500_000;
const HELD = { ...SIZE, bitrate: BITRATE } as const;
const FREE = { ...SIZE } as const;

/** The fastest way to an output in a page. */
export const speedBenchmarks: readonly Benchmark[] = [
  { name: "browser-speed-vs-mediabunny", unit: "s", open: openHeld },
  { name: "browser-speed-vs-native", unit: "s", open: openFree },
];

async function openHeld(ends: AsyncDisposableStack): Promise<Contest> {
  const { lab, ours } = await openOurs(ends, HELD);
  const { tab, site } = lab;
  return {
    ours,
    async peer() {
      const sample = await lab.measure(() =>
        tab.page.evaluate((held) => bench.convert(held, "converted.mp4"), HELD),
      );
      return { ...sample, ...(await lab.judge(site.saved("converted.mp4"))) };
    },
    notes: (own, peer) =>
      `20 s of 1280x720 to ${SIZE.width}x${SIZE.height} H.264 of ${BITRATE} bit/s by WebCodecs; ${describeSides(own, peer, "mediabunny's Conversion")}`,
  };
}

async function openFree(ends: AsyncDisposableStack): Promise<Contest> {
  const { lab, ours } = await openOurs(ends, FREE);
  const output = lab.site.saved("native.mp4");
  const args = lab.args(FREE, "native", lab.footage.path, output);
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

async function openOurs(ends: AsyncDisposableStack, options: typeof HELD | typeof FREE) {
  const lab = await openClip(ends);
  const { tab, site } = lab;
  await tab.page.evaluate(() => bench.ours.open({ prefer: "speed" }));
  const ours = async (): Promise<Sample> => {
    const sample = await lab.measure(() =>
      tab.page.evaluate((given) => bench.ours.run({ kind: "video", options: given }), options),
    );
    await tab.page.evaluate(() => bench.ours.save("ours.mp4"));
    return { ...sample, ...(await lab.judge(site.saved("ours.mp4"))) };
  };
  return { lab, ours };
}
