import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeScratch } from "../scratch.ts";
import { openClip, SIZE } from "./clip.ts";
import type { Tab } from "./open-page.ts";

const OPTIONS = { width: SIZE.width, height: SIZE.height } as const;

/** Time from a click in an open page to the first progress of an encode, with nothing started before. */
export const firstProgressBenchmarks: readonly Benchmark[] = [
  { name: "browser-first-progress-cold", unit: "ms", open: (ends) => open(ends, false) },
  { name: "browser-first-progress-cached", unit: "ms", open: (ends) => open(ends, true) },
];

async function open(ends: AsyncDisposableStack, cached: boolean): Promise<Contest> {
  const { site, footage, args, tab: first } = await openClip(ends);
  await first.close();
  const plainArgs = args(OPTIONS, "pool", "input", "out.mp4");
  const folder = await makeScratch(ends);
  const profiles = cached
    ? [await mkdtemp(join(folder, "ours-")), await mkdtemp(join(folder, "plain-"))]
    : [];

  async function click(profile: string | undefined, wait: (tab: Tab) => Promise<number>) {
    const tab = await site.open(profile);
    await tab.choose(footage.path);
    const waiting = wait(tab);
    await tab.page.click("#start");
    const value = await waiting;
    // A browser writes its caches to disk when it is idle.
    if (profile !== undefined) await tab.page.waitForTimeout(WRITING_MS);
    await tab.close();
    return { value };
  }

  return {
    ours: () =>
      click(profiles[0], (tab) =>
        tab.page.evaluate((options) => bench.ours.firstProgress({}, { kind: "video", options }), OPTIONS),
      ),
    peer: () =>
      click(profiles[1], (tab) =>
        tab.page.evaluate((list) => bench.plain.firstProgress("core", list), plainArgs),
      ),
    notes: () =>
      `from the click in an open page to the first progress, ${cached ? "with the browser's cache of an earlier visit" : "in a new profile"}, from a server on the same machine; the peer is plain @ffmpeg/ffmpeg with its core from there`,
  };
}

const WRITING_MS = 1500;
