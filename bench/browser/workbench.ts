import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium, type Page } from "@playwright/test";
import { LAUNCH } from "../../test/browser/chromium.ts";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import { startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { makeScratch } from "../scratch.ts";

/**
 * The page as a visitor experiences it, served by the local service: its first load, and its responsiveness during encodes.
 */
export const workbenchBenchmarks: readonly Benchmark[] = [
  {
    name: "page-first-load-kb",
    unit: "kB",
    open: (ends) =>
      open(ends, firstLoad, "what the page loads before any click, each file gzipped, without wasm"),
  },
  {
    name: "page-first-paint",
    unit: "ms",
    open: (ends) =>
      open(
        ends,
        firstPaint,
        "from the start of the navigation to the first contentful paint, in a new profile",
      ),
  },
  {
    name: "page-longest-task",
    unit: "ms",
    open: (ends) =>
      open(
        ends,
        longestTask,
        "the longest task of the page's main thread over 50 ms, else 0, while a video of 10 seconds is encoded (1280x720 MPEG-4 to 640x360 H.264)",
      ),
  },
  {
    name: "page-longest-task-many",
    unit: "ms",
    open: (ends) =>
      open(
        ends,
        longestTaskOfMany,
        "the longest task of the page's main thread over 50 ms, else 0, while 200 pictures are added and converted at once (320x180 PNG)",
      ),
  },
];

async function open(
  ends: AsyncDisposableStack,
  measure: (page: Page, url: string) => Promise<Measurement>,
  note: string,
): Promise<Contest> {
  const folder = await makeScratch(ends);
  const settings = parseSettings({ PORT: "0", STATE_DIR: join(folder, "state") });
  const service = await startService({ ...settings, native: 0, page: true, tell: () => {} });
  ends.defer(() => service.stop());
  const browser = await chromium.launch(LAUNCH);
  ends.defer(() => browser.close());
  return {
    async ours() {
      const context = await browser.newContext({ serviceWorkers: "block" });
      try {
        return await measure(await context.newPage(), service.url);
      } finally {
        await context.close();
      }
    },
    peer: null,
    notes: () => note,
  };
}

async function firstLoad(page: Page, url: string): Promise<Measurement> {
  const loaded: Promise<number>[] = [];
  page.on("response", (response) => loaded.push(response.body().then((body) => gzipSync(body).length)));
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  const sizes = await Promise.all(loaded);
  return { value: sizes.reduce((sum, size) => sum + size, 0) / 1000, files: sizes.length };
}

async function firstPaint(page: Page, url: string): Promise<Measurement> {
  await page.goto(url);
  const value = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            if (entry.name === "first-contentful-paint") resolve(entry.startTime);
          }
        }).observe({ type: "paint", buffered: true });
      }),
  );
  return { value };
}

async function longestTask(page: Page, url: string): Promise<Measurement> {
  const film = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=1280x720:rate=25:duration=10".split(" "),
    ..."-c:v mpeg4 -q:v 5".split(" "),
  ]);
  await page.goto(url);
  await page.getByLabel("Add files").setInputFiles(film);
  const card = page.getByRole("article");
  await card.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("tab", { name: "Picture" }).click();
  await card.getByLabel("Width", { exact: true }).fill("640");
  await page.waitForLoadState("networkidle");
  const longest = await watchTasks(page);
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await card.getByRole("progressbar").waitFor();
  await card.getByRole("progressbar").waitFor({ state: "detached", timeout: 600_000 });
  return longest();
}

async function longestTaskOfMany(page: Page, url: string): Promise<Measurement> {
  const path = await makeClip("png", "-f lavfi -i testsrc2=size=320x180 -frames:v 1".split(" "));
  const paths = Array.from({ length: 200 }, () => path);
  // Polls rarely, and a single element, because looking for it also has a cost.
  const shows = (selector: string, words: string) =>
    page.waitForFunction(
      ({ selector, words }) => document.querySelector(selector)?.textContent.includes(words),
      { selector, words },
      { polling: 500, timeout: 600_000 },
    );
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  const longest = await watchTasks(page);
  await page.getByLabel("Add files").setInputFiles(paths);
  await shows(".dock .primary", "200");
  await page.locator(".dock .primary").click();
  await shows(".dock .summary p", "200 done");
  return longest();
}

/** Records long tasks from now on; resolves to a function that returns the longest. */
async function watchTasks(page: Page): Promise<() => Promise<Measurement>> {
  await page.evaluate(() => {
    const seen = Object.assign(globalThis, { tasks: [] as number[] });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.tasks.push(duration);
    }).observe({ type: "longtask" });
  });
  return async () => {
    const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks);
    return { value: Math.max(0, ...tasks), tasks: tasks.length };
  };
}
