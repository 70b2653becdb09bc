import { poolTools, WORKER_MEMORY } from "../../src/encoders/wasm/wasm-pool-cost.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { NATIVE_TOOLS, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import { createPlan } from "../../src/media/index.ts";
import type { VideoOptions } from "../../src/media/options.ts";
import type { Measurement } from "../benchmark.ts";
import { type Footage, makeFootage } from "../footage.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { mean, similarities } from "../similarity.ts";
import { openSite, type Site, type Tab } from "./open-page.ts";
import { watchBrowser } from "./watch-browser.ts";

/** Duration of the clip of most benchmarks, in seconds. */
export const SECONDS = 20;
/** Size of the output in pixels. */
export const SIZE = { width: 854, height: 480 } as const;

export interface ClipLab {
  site: Site;
  tab: Tab;
  footage: Footage;
  /** Returns ffmpeg's arguments for the whole clip in one run with the settings of a toolset. */
  args(options: VideoOptions, tools: "pool" | "native", input: string, output: string): string[];
  /** Measures a file that the page saved. */
  judge(path: string): Promise<{ ssim: number }>;
  /** Runs work in the page; returns the browser's peak memory. */
  measure<T extends { seconds: number; size: number }>(work: () => Promise<T>): Promise<Measurement>;
}

export async function openClip(ends: AsyncDisposableStack, isolated = false): Promise<ClipLab> {
  const [footage, site] = [await makeFootage(SECONDS), await openSite(ends, isolated)];
  const tab = await site.open();
  await tab.choose(footage.path);
  return {
    site,
    tab,
    footage,
    args(options, tools, input, output) {
      const plan = createPlan(footage.source, "video", options);
      const [chunk] = plan.chunks;
      if (!chunk) throw new Error("The plan is empty.");
      const toolset =
        tools === "native" ? quickly(NATIVE_TOOLS) : poolTools(plan, footage.source, WORKER_MEMORY);
      return chunkArgs(plan, chunk, footage.source, { input, output }, toolset);
    },
    judge: async (path) => ({ ssim: mean(await similarities(path, footage.path, SIZE.width)) }),
    async measure(work) {
      const { result, effort } = await watchBrowser(tab.processes, work);
      const { memory, page, cpu } = effort;
      return { value: result.seconds, size: result.size, memory, page, cpu };
    },
  };
}

// Matches the WebCodecs software encoder that it is compared with.
function quickly(tools: Toolset): Toolset {
  const h264 = { encoder: "libx264", args: ["-preset", "veryfast"] };
  return { ...tools, video: { ...tools.video, h264 } };
}

/** Describes sizes, SSIM and memory of both sides. */
export function describeSides(
  ours: readonly Measurement[],
  peer: readonly Measurement[],
  name: string,
): string {
  const side = (samples: readonly Measurement[]) => {
    const memory = medianOf(samples, "memory");
    return [
      `${medianOf(samples, "size")} bytes`,
      `SSIM ${medianOf(samples, "ssim").toFixed(4)}`,
      ...(Number.isNaN(memory) ? [] : [describeEffort(samples)]),
    ].join(", ");
  };
  return `ours ${side(ours)}; ${name} ${side(peer)}`;
}

function describeEffort(samples: readonly Measurement[]): string {
  const [memory, page, cpu] = ["memory", "page", "cpu"].map((name) => short(medianOf(samples, name)));
  return `${memory} MB in the browser (${page} of them in the page's process), ${cpu} s of processor time`;
}
