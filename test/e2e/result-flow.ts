import { copyFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Locator, Page } from "@playwright/test";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { runNative } from "../judge/native.ts";
import { parseMaster } from "../judge/playlists.ts";
import { enterService } from "./edge-flow.ts";
import type { Served } from "./service.ts";
import { addFiles, cardOf, expect, openEditor } from "./workbench.ts";

/** Some seconds of a moving picture without sound. */
export const silentFilm = (seconds: number) =>
  makeClip("mp4", [
    ...`-f lavfi -i testsrc2=size=320x180:rate=25:duration=${seconds}`.split(" "),
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p".split(" "),
  ]);

/** Two seconds of a moving picture with a tone. */
export const movingClip = () =>
  makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=320x180:rate=25:duration=2".split(" "),
    ..."-f lavfi -i sine=frequency=440:duration=2 -shortest".split(" "),
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac".split(" "),
  ]);

/** A partly transparent picture. */
export const transparentPicture = (size: string) =>
  makeClip("png", [
    ..."-f lavfi -i".split(" "),
    `testsrc2=size=${size}:rate=1:duration=1,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(lt(X,W/4),0,255)'`,
    ..."-frames:v 1".split(" "),
  ]);

/** Copies a file to a name of its own, unique to the test. */
export async function named(path: string, folder: string, name: string): Promise<string> {
  const to = join(folder, name);
  await mkdir(dirname(to), { recursive: true });
  await copyFile(path, to);
  return to;
}

/** Connects the page to the service that serves it, and returns to the queue. */
export async function connect(page: Page, served: Served): Promise<void> {
  await page.getByRole("link", { name: "Console", exact: true }).click();
  await enterService(page, served.url, served.key);
  await page.getByRole("link", { name: "Files", exact: true }).click();
}

/** Adds a file, optionally selects a preset and a place, converts it, and returns its card with the result. */
export async function convert(page: Page, path: string, preset?: string, place?: "Edge"): Promise<Locator> {
  await addFiles(page, path);
  const card = cardOf(page, path);
  if (preset) {
    await openEditor(card);
    await card.getByRole("button", { name: preset }).click();
    if (place) await card.getByRole("radio", { name: place }).check();
  }
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(card.getByRole("button", { name: "Send to S3" })).toBeVisible();
  return card;
}

/** Plays a card's media to its end with the player's button. */
export async function playToEnd(card: Locator) {
  await card.locator("media-play-button").click();
  return card.locator("video, audio").evaluate(async (media: HTMLVideoElement) => {
    if (!media.ended)
      await new Promise((resolve) => media.addEventListener("ended", resolve, { once: true }));
    const { currentTime: at, duration, videoWidth: width, error } = media;
    return { at, duration, width, error: error?.message ?? null };
  });
}

/** Clicks, and saves the download in a folder under its suggested name. */
export async function downloadBy(page: Page, button: Locator, folder: string): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return path;
}

/** Expects the master playlist of a stream of the moving clip, which ffmpeg plays without errors. */
export async function expectStream(master: string): Promise<void> {
  const { variants } = parseMaster(await readFile(master, "utf8"), pathToFileURL(master).href);
  expect(variants.length).toBeGreaterThan(0);
  const { picture, sound, duration } = await readFacts(master);
  expect([picture?.codec, sound?.codec]).toEqual(["h264", "aac"]);
  expect(duration).toBeCloseTo(2, 0);
  const { log } = await runNative(["-v", "warning", "-i", master, "-f", "null", "-"]);
  expect(log.match(/error|invalid/gi)).toBe(null);
}

/** Adds a file and opens its options; returns its card. */
export async function openOptions(page: Page, path: string): Promise<Locator> {
  await addFiles(page, path);
  const card = cardOf(page, path);
  await openEditor(card);
  await expect(card.getByRole("region", { name: "Options" })).toBeVisible();
  return card;
}

/** Opens the page as in a browser that saves files by downloading them. */
export async function openDownloading(page: Page, { url }: Pick<Served, "url">): Promise<void> {
  await page.addInitScript(() => Reflect.deleteProperty(globalThis, "showSaveFilePicker"));
  await page.goto(url);
}

/** Converts the file of a card whose options are open, and downloads the result into the folder. */
export async function convertTo(page: Page, card: Locator, folder: string): Promise<string> {
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(card.getByRole("tab")).toHaveCount(0);
  await expect(card.getByRole("heading", { level: 2 })).toBeInViewport();
  return downloadBy(page, card.getByRole("link", { name: "Download" }), folder);
}
