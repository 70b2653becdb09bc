import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import type { Served } from "./service.ts";

/** What a flow has beside Playwright's own. */
interface Fixtures {
  /** The service, and a key for it. */
  served: Served;
  /** A folder of the test's own, for what it downloads. */
  folder: string;
  /** What the page said as an error or did not catch. A flow fails when there is any in the end; empty it where one is expected. */
  complaints: string[];
  /** The page at its first view, with nothing in it. */
  workbench: Page;
}

/** A test of a flow. */
export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures here.
  served: async ({}, use) => use(JSON.parse(process.env.SERVED ?? "{}")),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures here.
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), "framewright-e2e-files-"));
    await use(folder);
    await rm(folder, { recursive: true, force: true });
  },
  complaints: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.stack ?? String(error)));
    await use(complaints);
    expect(complaints).toEqual([]);
  },
  workbench: async ({ page, served, complaints: _ }, use) => {
    await page.goto(served.url);
    await use(page);
  },
});

export { expect };

/** Adds files to the queue as the file dialog does. */
export async function addFiles(page: Page, ...paths: string[]): Promise<void> {
  await page.getByLabel("Add files").setInputFiles(paths);
}

/** The card of a file, or of all files of that name. */
export function cardOf(page: Page, path: string): Locator {
  return page.getByRole("article", { name: basename(path) });
}
