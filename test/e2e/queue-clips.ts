import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { makeClip } from "../fixtures/make-clip.ts";
import { enterService } from "./edge-flow.ts";
import { backToList, expect, openEditor } from "./workbench.ts";

const pictures = (size: string, seconds: number) =>
  `-f lavfi -i testsrc2=size=${size}:rate=25:duration=${seconds}`.split(" ");
const TONE = "-f lavfi -i sine=frequency=440:duration=2".split(" ");
const H264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p".split(" ");
const STILL = ["-frames:v", "1"];

/** Three videos, three sounds and four pictures, with the codec that each gets by default. */
export const MIXED = [
  ["film.mp4", [...pictures("160x90", 2), ...H264], "h264"],
  ["film.mov", [...pictures("160x90", 2), ...H264], "h264"],
  ["film.webm", [...pictures("160x90", 2), ..."-c:v libvpx -b:v 200k".split(" ")], "h264"],
  ["sound.wav", TONE, "mp3"],
  ["sound.flac", TONE, "mp3"],
  ["sound.ogg", [...TONE, "-c:a", "libvorbis"], "mp3"],
  ["picture.png", [...pictures("320x180", 1), ...STILL], "png"],
  ["picture.jpg", [...pictures("320x180", 1), ...STILL], "mjpeg"],
  ["picture.webp", [...pictures("320x180", 1), ...STILL], "webp"],
  ["picture.bmp", [...pictures("320x180", 1), ...STILL], "mjpeg"],
] as const;

/** Makes a clip under a given name. */
export async function clipNamed(name: string, args: readonly string[], folder: string): Promise<string> {
  const to = join(folder, "in", name);
  await mkdir(dirname(to), { recursive: true });
  await copyFile(await makeClip(name.replace(/.*\./, ""), args), to);
  return to;
}

/** A video of `seconds` that a browser takes a while to convert to WebM. */
export const longClip = (name: string, seconds: number, folder: string) =>
  clipNamed(name, [...pictures("320x180", seconds), ...H264, "-g", "25"], folder);

/** Chooses a format in the editor of a card, and returns to the list. */
export async function chooseFormat(card: Locator, format: string): Promise<void> {
  const page = card.page();
  await openEditor(card);
  await page.getByLabel("Format", { exact: true }).selectOption(format);
  await backToList(page);
}

/** Connects the page to the service in the console, and returns to the workbench. */
export async function connectEdge(page: Page, { url, key }: { url: string; key: string }): Promise<void> {
  await page.goto(`${url}/console`);
  await enterService(page, url, key);
  await expect(page.getByRole("heading", { name: new URL(url).host })).toBeVisible();
  await page.getByRole("link", { name: "Files", exact: true }).click();
}
