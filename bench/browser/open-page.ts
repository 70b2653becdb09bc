import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { chromium, type Page } from "@playwright/test";
import { build } from "vite";
import { LAUNCH } from "../../test/browser/chromium.ts";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { makeScratch } from "../scratch.ts";
import { browserProcesses } from "./processes.ts";
import { servePage } from "./serve-page.ts";

/** The benchmarks' page, built and served, to be opened in Chromium any number of times. */
export interface Site {
  /** Folder of the files that the page reads below `/files/`. */
  files: string;
  /** Returns the path of a file that the page saved. */
  saved(name: string): string;
  url: string;
  /** Returns the bytes that the server sent since the last call, as {@link servePage} does. */
  takeBytes(paths?: RegExp): number;
  /** Opens the page in a separate browser, with a new profile or the given one. */
  open(profile?: string): Promise<Tab>;
}

export interface Tab {
  page: Page;
  /** Selects files in the page as a visitor does, by their paths on this machine. */
  choose(...paths: string[]): Promise<void>;
  /** Returns the ids of all current processes of the browser. */
  processes(): number[];
  close(): Promise<void>;
}

/** Builds and serves the page; `isolated` makes it cross-origin isolated. */
export async function openSite(ends: AsyncDisposableStack, isolated = false): Promise<Site> {
  const dir = await makeScratch(ends);
  const folders = { page: join(dir, "page"), files: join(dir, "files"), saved: join(dir, "saved") };
  for (const folder of Object.values(folders)) await mkdir(folder);
  await buildPage(folders.page);
  const { url, takeBytes } = await servePage({ ...folders, isolated }, ends);
  return {
    files: folders.files,
    saved: (name) => join(folders.saved, name),
    url,
    takeBytes,
    async open(profile) {
      const folder = profile ?? (await mkdtemp(join(dir, "profile-")));
      const context = await chromium.launchPersistentContext(folder, LAUNCH);
      const close = async () => {
        await context.close();
        if (profile === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10 });
      };
      ends.defer(close);
      const page = context.pages()[0] ?? (await context.newPage());
      page.on("pageerror", (error) => console.error(error.message));
      page.on("crash", () => console.error("the page crashed"));
      page.setDefaultTimeout(0);
      await page.goto(url);
      return {
        page,
        choose: (...paths) => page.locator("#files").setInputFiles(paths),
        processes: () => browserProcesses(folder),
        close,
      };
    },
  };
}

/** Opens a page of its own that has a file and our core. */
export async function openTabWith(ends: AsyncDisposableStack, path: string): Promise<Tab> {
  const site = await openSite(ends);
  const tab = await site.open();
  await tab.choose(path);
  await tab.page.evaluate(() => bench.ours.open({}));
  return tab;
}

// Bundles the page into a folder.
async function buildPage(outDir: string): Promise<void> {
  await buildCore();
  await build({
    root: join(import.meta.dirname, "page"),
    configFile: false,
    logLevel: "error",
    worker: { format: "es" },
    build: { outDir, emptyOutDir: true, target: "esnext", chunkSizeWarningLimit: 4000 },
  });
}
