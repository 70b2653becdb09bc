import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { readFacts } from "../judge/facts.ts";
import { clipNamed, MIXED } from "./queue-clips.ts";
import { cardOf, expect, test } from "./workbench.ts";

/** Presses Tab until the focus is on the named element; the focus must be visible at each stop. */
async function tabTo(page: Page, name: string): Promise<void> {
  const stops: string[] = [];
  while (stops.length < 80) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const { activeElement: at } = document;
      const seen = at && (at.matches(":focus-visible") || at.shadowRoot !== null);
      const text = at?.getAttribute("aria-label") ?? at?.textContent ?? "";
      return { text: text.trim(), seen: at === document.body || seen };
    });
    expect(stop.seen, `the focus on ${stop.text} is visible`).toBe(true);
    stops.push(stop.text);
    if (stop.text === name) return;
  }
  throw new Error(`Tab does not reach ${name}: ${stops.join(", ")}`);
}

test("a picture can be chosen, configured, converted and downloaded by keyboard alone", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await page.addInitScript(() => {
    for (const name of ["showOpenFilePicker", "showSaveFilePicker"]) Reflect.deleteProperty(globalThis, name);
  });
  await page.goto(served.url);
  const picture = await clipNamed("by keys.png", MIXED[6][1], folder);
  // Registered well before the key press, as it suppresses the browser's own dialog.
  const choosing = page.waitForEvent("filechooser");
  await expect(page.getByRole("button", { name: "Choose files" })).toBeVisible();
  await tabTo(page, "Choose files");
  await page.keyboard.press("Enter");
  await (await choosing).setFiles(picture);
  const card = cardOf(page, "by keys.png");
  await expect(card).toContainText("Ready");
  await page.locator("body").press("Shift+Tab");
  await tabTo(page, "Edit");
  await page.keyboard.press("Space");
  const format = card.getByLabel("Format", { exact: true });
  await expect(format).toBeVisible();
  while (!(await format.evaluate((element) => element === document.activeElement))) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type("WebP");
  await expect(card.locator(".outcome")).toContainText("WebP");
  // The button that converts follows the options.
  const convert = card.getByRole("button", { name: "Convert", exact: true });
  while (!(await convert.evaluate((element) => element === document.activeElement))) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  // The button is gone; the focus stays on the card.
  await expect(convert).toHaveCount(0);
  await expect(card).toBeFocused();
  await expect(card).toContainText("Done");
  await expect(card.getByRole("link", { name: "Download" })).toBeVisible();
  await tabTo(page, "Download");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  expect(download.suggestedFilename()).toBe("by keys.webp");
  const path = `${folder}/by keys.webp`;
  await download.saveAs(path);
  expect((await readFacts(path)).picture?.codec).toBe("webp");
  await card.getByRole("button", { name: "Result" }).press("Enter");
  // The savings stay visible while the result is collapsed.
  await expect(card.locator(".saved")).toHaveText(/^[\d.]+ k?B → [\d.]+ k?B [−+]\d+ %$/);
  await card.getByRole("button", { name: "More actions for by keys.png" }).press("Enter");
  await expect(card.getByRole("menuitem", { name: "Details" })).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(card.nth(1)).toBeFocused();
  await tabTo(page, "Remove finished");
  await page.keyboard.press("Enter");
  // Undo brings the file back, even if its key follows before the next frame.
  await page.keyboard.press("Control+z");
  await expect(card).toHaveCount(2);
  await tabTo(page, "Remove finished");
  await page.keyboard.press("Enter");
  await expect(card).toHaveCount(1);
  await expect(page.getByRole("button", { name: "Choose files" })).toBeFocused();
});

test("the first tab stop skips the header to the content", async ({ workbench }) => {
  await expect(workbench.getByRole("heading", { level: 1 })).toBeVisible();
  await workbench.keyboard.press("Tab");
  await expect(workbench.getByRole("button", { name: "Skip to content" })).toBeFocused();
  await workbench.keyboard.press("Enter");
  await expect(workbench.locator("main")).toBeFocused();
  const { violations } = await new AxeBuilder({ page: workbench }).analyze();
  expect(violations).toEqual([]);
});
