import { createRequire } from "node:module";
import { extname, join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import { adaptiveMime } from "../../src/media/ffmpeg/output-files.ts";
import { servePage } from "./serve-page.ts";

const { resolve } = createRequire(import.meta.url);
const folderOf = (name: string) => /^.*node_modules\/[^/]+\//.exec(resolve(name))?.[0] ?? "";
/** The players' scripts, by their paths beside a page. */
export const SCRIPTS: Readonly<Record<string, string>> = {
  "/hls.js": join(folderOf("hls.js"), "dist/hls.min.js"),
  "/dash.js": join(folderOf("dashjs"), "dist/legacy/umd/dash.mediaplayer.min.js"),
  "/shaka.js": join(folderOf("shaka-player"), "dist/shaka-player.compiled.js"),
};
const PAGE = '<!doctype html><title>player</title><link rel="icon" href="data:,"><video muted></video>';

/** Serves a page with a video element at `/`, the players' scripts beside it, and a folder's files below `/stream/`. */
export function servePlayer(folder: string): Promise<{ url: string; close(): void }> {
  const fileOf = (path: string) => SCRIPTS[path] ?? join(folder, path.slice("/stream/".length));
  const typeOf = (path: string) => (extname(path) === ".js" ? "text/javascript" : adaptiveMime(path));
  return servePage(PAGE, fileOf, typeOf);
}

/** Opens the page of {@link servePlayer} with a player's script, and closes it after `use`; `prepare` comes before anything is loaded. */
export async function onPlayerPage<T>(
  browser: Browser,
  folder: string,
  player: string,
  use: (page: Page) => Promise<T>,
  prepare?: (page: Page) => Promise<void>,
): Promise<T> {
  const site = await servePlayer(folder);
  const page = await browser.newPage();
  try {
    await prepare?.(page);
    await page.goto(site.url);
    await page.addScriptTag({ url: `/${player.replace(/\.js$/, "")}.js` });
    return await use(page);
  } finally {
    await page.close();
    site.close();
  }
}
