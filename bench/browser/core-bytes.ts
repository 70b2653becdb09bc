import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../worker/local/settings.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { openClip, SIZE } from "./clip.ts";

/** Bytes of ffmpeg that a page downloads for one H.264 MP4 in a new profile. */
export const coreBytesBenchmarks: readonly Benchmark[] = [{ name: "core-bytes", unit: "MB", open }];

const OPTIONS = { width: SIZE.width, height: SIZE.height } as const;
const STOCK = ["ffmpeg-core.wasm.gz", "ffmpeg-core.js.gz"];

async function open(ends: AsyncDisposableStack): Promise<Contest> {
  const { site, footage, tab: first } = await openClip(ends);
  await first.close();
  return {
    async ours() {
      const tab = await site.open();
      await tab.choose(footage.path);
      site.takeBytes();
      const waiting = tab.page.evaluate(
        (options) => bench.ours.firstProgress({}, { kind: "video", options }),
        OPTIONS,
      );
      await tab.page.click("#start");
      await waiting;
      await tab.close();
      return { value: site.takeBytes(/\.gz$|core[^/]*\.(js|wasm)$/) / 1e6 };
    },
    async peer() {
      const sizes = STOCK.map(async (name) => (await stat(join(ROOT, "dist", "core", name))).size);
      return { value: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1e6 };
    },
    notes: () =>
      "as the server sent it until the first progress; the peer is @ffmpeg/core, compressed in the same way",
  };
}
