import type { Benchmark, Contest } from "../benchmark.ts";
import { type ClipLab, describeSides, openClip, SIZE } from "./clip.ts";
import type { Core } from "./page/plain.ts";

const OPTIONS = { width: SIZE.width, height: SIZE.height } as const;

/**
 * Best quality for the size in a page, against plain ffmpeg.wasm: with the same x264 settings on one thread, and with x264's
 * own preset on two.
 */
export const qualityBenchmarks: readonly Benchmark[] = [
  { name: "browser-quality-vs-ffmpeg-wasm", unit: "s", open: (ends) => open(ends, "core") },
  { name: "browser-quality-vs-core-mt", unit: "s", open: (ends) => open(ends, "core-mt") },
];

const PEERS = {
  core: "plain @ffmpeg/ffmpeg with @ffmpeg/core",
  "core-mt": "plain @ffmpeg/ffmpeg with @ffmpeg/core-mt, two threads and the plain preset veryfast",
} as const satisfies Record<Core, string>;

async function open(ends: AsyncDisposableStack, core: Core): Promise<Contest> {
  const lab = await openClip(ends, core === "core-mt");
  const { tab, site } = lab;
  await tab.page.evaluate(() => bench.ours.open({ prefer: "quality" }));
  const args = plainArgs(lab, core);
  let way = "";
  return {
    async ours() {
      const sample = await lab.measure(async () => {
        const done = await tab.page.evaluate(
          (options) => bench.ours.run({ kind: "video", options }),
          OPTIONS,
        );
        way = `${done.output.encoder}: ${done.output.reason}`;
        return done;
      });
      await tab.page.evaluate(() => bench.ours.save("ours.mp4"));
      return { ...sample, ...(await lab.judge(site.saved("ours.mp4"))) };
    },
    async peer() {
      const sample = await lab.measure(() =>
        tab.page.evaluate(({ core, args }) => bench.plain.run(core, args, "out.mp4"), { core, args }),
      );
      await tab.page.evaluate(() => bench.plain.save("plain.mp4"));
      return { ...sample, ...(await lab.judge(site.saved("plain.mp4"))) };
    },
    notes: (ours, peer) =>
      `20 s of 1280x720 to ${SIZE.width}x${SIZE.height} H.264, cores loaded before; ${describeSides(ours, peer, PEERS[core])}; ${way}`,
  };
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
