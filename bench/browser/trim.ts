import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { openSite } from "./open-page.ts";
import { untilIdle, watchBrowser } from "./watch-browser.ts";

const BYTES = 3e9;
const OPTIONS = { start: 600, end: 630 } as const;

/** The memory that trimming a large file takes. */
export const trimBenchmarks: readonly Benchmark[] = [{ name: "browser-trim-3gb-memory", unit: "MB", open }];

async function open(ends: AsyncDisposableStack): Promise<Contest> {
  const site = await openSite(ends);
  const path = join(site.files, "long.mp4");
  const clip = await makeFootage(10);
  const times = Math.ceil(BYTES / (await stat(clip.path)).size);
  const repeat = ["-stream_loop", String(times), "-i", clip.path, "-c", "copy", path];
  await runCommand("ffmpeg", ["-nostdin", "-y", "-loglevel", "error", ...repeat]);
  const { size } = await stat(path);
  return {
    async ours() {
      // A new browser each time, because it does not return memory at once.
      const tab = await site.open();
      await tab.choose(path);
      await untilIdle(tab.processes);
      const { result, effort } = await watchBrowser(tab.processes, async () => {
        await tab.page.evaluate(() => bench.ours.open({}));
        return tab.page.evaluate((options) => bench.ours.run({ kind: "video", options }, false), OPTIONS);
      });
      await tab.close();
      const { memory, page, before } = effort;
      // Most of the rest belongs to an idle browser with its page, whatever the page does.
      return { value: memory - before, memory, page, before, seconds: result.seconds };
    },
    peer: null,
    notes(ours) {
      const [memory, page, before] = ["memory", "page", "before"].map((name) => short(medianOf(ours, name)));
      return [
        `30 s out of an MP4 of ${short(size / 1e9)} GB at its own size, as a File`,
        `peak growth of the own memory (RssAnon and RssShmem) of all the browser's processes`,
        `in all ${memory} MB after ${before} MB, ${page} MB of them in the page's process with its workers`,
        `${short(medianOf(ours, "seconds"))} s`,
      ].join("; ");
    },
  };
}
