import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import type { Served } from "./service.ts";

/** Fixtures of a flow besides Playwright's own. */
interface Fixtures {
  served: Served;
  /** A temporary folder of the test. */
  folder: string;
  /** Logged warnings and errors of the page, and uncaught ones. A flow fails if any are left at its end; empty it after an expected one. */
  complaints: string[];
  /** The empty page on a first visit. */
  workbench: Page;
}

// The flows' own setting `serviceWorkers` causes this message.
const BLOCKED = "Service Worker registration blocked by Playwright";

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures here.
  served: async ({}, use) => use(JSON.parse(process.env.SERVED ?? "{}")),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures here.
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), "framewright-e2e-files-"));
    await use(folder);
    await rm(folder, { recursive: true, force: true });
  },
  // Depends on the folder, which goes after it: a page that still reads a file whose folder is gone logs an error.
  complaints: async ({ page, folder: _ }, use) => {
    const complaints: string[] = [];
    page.on("console", (message) => {
      const isOurs = message.text() !== BLOCKED;
      if (isOurs && ["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
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

/** Adds files to the queue as the file dialog would. */
export async function addFiles(page: Page, ...paths: string[]): Promise<void> {
  await page.getByLabel("Add files").setInputFiles(paths);
}

/** The card of a file, or the cards of all files of that name. */
export function cardOf(page: Page, path: string): Locator {
  return page.getByRole("article", { name: basename(path) });
}

/** Opens the editor of a card, with all options in one tab. */
export async function openEditor(card: Locator): Promise<void> {
  const page = card.page();
  await card.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("tab", { name: "All" }).click();
}

/** Returns from the editor to the list. */
export async function backToList(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await expect(page.getByRole("region", { name: /^Options of / })).toHaveCount(0);
}

/** Chooses an action from the menu of a card. */
export async function chooseAction(card: Locator, name: string): Promise<void> {
  await card.getByRole("button", { name: /^More actions for / }).click();
  await card.getByRole("menuitem", { name }).click();
}

/** Opens the details of a card, which name its file, its output, and where it is made. */
export async function detailsOf(card: Locator): Promise<Locator> {
  const details = card.getByRole("region", { name: "Details" });
  if (!(await details.isVisible())) await chooseAction(card, "Details");
  return details;
}

/** Removes the file of a card, for good. */
export async function removeFile(page: Page, card: Locator): Promise<void> {
  await chooseAction(card, "Remove");
  await dismiss(page);
}

/** Closes the message that offers to undo the last action, which makes the action final. */
export async function dismiss(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Dismiss" }).click();
}
