import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { OFFLINE_CORE_FILES } from "../fixtures/fast-encoder.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { downloadBy } from "./result-flow.ts";
import { copyPage, makeLater, openSite } from "./site.ts";
import { addFiles, cardOf, expect, test } from "./workbench.ts";

test.use({ serviceWorkers: "allow" });

// A codec that no browser decodes, so that it needs ffmpeg's core.
const film = (seconds: number) =>
  makeClip("mp4", [
    ...`-f lavfi -i testsrc2=size=320x180:rate=25:duration=${seconds}`.split(" "),
    ..."-c:v mpeg4 -q:v 5".split(" "),
  ]);
const picture = () => makeClip("png", "-f lavfi -i testsrc2=size=320x200 -frames:v 1".split(" "));

/** Converts a file and returns the path of the downloaded output. */
async function convert(page: Page, path: string, folder: string): Promise<string> {
  await addFiles(page, path);
  const card = cardOf(page, path);
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  return downloadBy(page, card.getByRole("link", { name: "Download" }), folder);
}

const versionOf = (page: Page) => page.evaluate(() => document.documentElement.dataset.version);
const cachesOf = (page: Page) => page.evaluate(async () => (await caches.keys()).sort());

test("works offline after a first visit and one encode", async ({
  page,
  context,
  served,
  folder,
  complaints: _,
}) => {
  const site = await openSite(served.assets);
  await page.goto(site.url);
  await convert(page, await film(1), folder);
  await page.evaluate(() => navigator.serviceWorker.ready);
  // The core is cached in the background.
  await expect
    .poll(() => page.evaluate(async () => (await (await caches.open("framewright-core")).keys()).length))
    .toBe(OFFLINE_CORE_FILES);

  site.close();
  await context.setOffline(true);
  await page.reload();
  expect(await page.evaluate(() => [crossOriginIsolated, navigator.onLine])).toEqual([true, false]);
  const video = await readFacts(await convert(page, await film(2), folder));
  expect(video.picture).toMatchObject({ codec: "h264", width: 320, height: 180 });
  const image = await readFacts(await convert(page, await picture(), folder));
  expect(image.picture).toMatchObject({ width: 320, height: 200 });
});

test("installs a new version completely, activates it on request, and keeps the old one for older tabs", async ({
  page,
  context,
  served,
  folder,
  complaints: _,
}) => {
  const [now, later] = [join(folder, "now"), join(folder, "later")];
  await copyPage(served.assets, now);
  await cp(now, later, { recursive: true });
  await makeLater(later);
  const site = await openSite(now);
  await page.goto(site.url);
  const first = await versionOf(page);
  await page.evaluate(() => navigator.serviceWorker.ready);
  // The large files are cached when the page is idle.
  await expect
    .poll(() => page.evaluate(async () => (await (await caches.open("framewright-core")).keys()).length))
    .toBe(OFFLINE_CORE_FILES);
  const other = await context.newPage();
  await other.goto(site.url);
  expect(await versionOf(other)).toBe(first);

  site.turnTo(later);
  await page.reload();
  expect(await versionOf(page)).toBe(first);
  await expect(page.getByText("A new version is ready")).toBeVisible();
  expect(await cachesOf(page)).toHaveLength(3);
  await page.getByRole("button", { name: "Reload" }).click();
  await expect.poll(() => versionOf(page).catch(() => first)).not.toBe(first);
  const second = await versionOf(page);
  expect(await page.evaluate(() => document.querySelector<HTMLScriptElement>("script[src]")?.src)).toContain(
    "-later.js",
  );

  // The other tab shows the notice too, and can still load its remaining files.
  await expect(other.getByText("A new version is ready")).toBeVisible();
  await other.getByRole("link", { name: "Console", exact: true }).click();
  await expect(other.getByRole("heading").first()).toBeVisible();
  expect(await versionOf(other)).toBe(first);
  expect(await cachesOf(page)).toContain(`framewright-page ${first}`);
  expect(site.requests.filter(({ path, status }) => path.startsWith("/app/") && status !== 200)).toEqual([]);

  await other.close();
  await page.reload();
  await expect.poll(() => cachesOf(page)).toEqual(["framewright-core", `framewright-page ${second}`]);
  site.close();
});
