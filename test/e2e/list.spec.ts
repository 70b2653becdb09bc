import { stat } from "node:fs/promises";
import { AxeBuilder } from "@axe-core/playwright";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { downloadBy, named, openDownloading } from "./result-flow.ts";
import { addFiles, backToList, cardOf, chooseAction, expect, test } from "./workbench.ts";

const photo = () =>
  makeClip(
    "jpg",
    "-f lavfi -i testsrc2=size=640x360 -vf noise=alls=30 -frames:v 1 -q:v 12 -pix_fmt yuvj420p".split(" "),
  );

const UNITS: Readonly<Record<string, number>> = { B: 1, kB: 1000, MB: 1e6 };

/** Reads the size after the arrow of a line such as `12.4 kB → 98.7 kB +696 %`, in bytes. */
function sizeAfter(words: string): number {
  const [, count = "", unit = ""] = /→ ([\d.]+) (\w+)/.exec(words) ?? [];
  return Number(count) * (UNITS[unit] ?? Number.NaN);
}

test("a line warns before its file gets larger, changes the format, and takes the change back", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await openDownloading(page, served);
  const file = await named(await photo(), folder, "sea.jpg");
  const other = await named(await photo(), folder, "lake.jpg");
  const third = await named(await photo(), folder, "pond.jpg");
  await addFiles(page, file, other, third);
  const [sea, lake, pond] = [cardOf(page, file), cardOf(page, other), cardOf(page, third)];
  await expect(sea.locator(".sizes")).toHaveText(/^[\d.]+ kB/);

  const choose = async (format: string) => {
    await sea.getByRole("button", { name: /^Convert sea.jpg to: / }).click();
    await sea.getByRole("menuitemradio", { name: format }).click();
  };
  await choose("PNG");
  // The message stays while the pointer is on it.
  await page.getByRole("button", { name: "Undo" }).hover();
  await expect(sea.getByText(/^Gets \d+ times larger$/)).toBeVisible();
  await expect(sea.getByText("A lossless format can't shrink this.")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(sea.getByRole("button", { name: "Convert sea.jpg to: JPEG" })).toBeVisible();
  await expect(sea.getByText(/^Gets /)).toHaveCount(0);
  // What the message took back is not a step of the editor, too, but can be done again.
  await sea.getByRole("button", { name: "Edit", exact: true }).click();
  await expect(page.getByRole("button", { name: "Undo" })).toBeDisabled();
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(page.locator(".outcome")).toContainText("PNG");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.locator(".outcome")).toContainText("JPEG");
  await backToList(page);

  // A format chosen for one of the selected files applies to all of them that are of its kind, but not to one that is being removed.
  for (const each of [sea, lake, pond]) await each.getByRole("checkbox").check();
  await chooseAction(pond, "Remove");
  await choose("PNG");
  await expect(page.getByText("2 files will be converted to PNG.")).toBeVisible();
  await expect(lake.getByText(/^Gets \d+ times larger$/)).toBeVisible();
  const forecast = sizeAfter((await lake.locator(".sizes").textContent()) ?? "");
  for (const width of [320, 390, 1024, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect([width, Math.max(0, over)]).toEqual([width, 0]);
  }
  for (const [width, media] of [
    [390, { colorScheme: "light", forcedColors: "none" }],
    [1440, { colorScheme: "dark", forcedColors: "none" }],
    [1440, { colorScheme: "light", forcedColors: "active" }],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ ...media, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const faults = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
    expect([width, media, faults]).toEqual([width, media, []]);
  }
  await page.getByRole("button", { name: "Convert 2 files" }).click();
  await expect(page.locator("[data-state=succeeded]")).toHaveCount(2);
  const output = await downloadBy(page, lake.getByRole("link", { name: "Download" }), folder);
  expect((await readFacts(output)).picture?.codec).toBe("png");
  // The output has the size of the forecast.
  expect(Math.abs((await stat(output)).size / forecast - 1)).toBeLessThan(0.1);
});

test("keys move through the files, select and remove them, and they stay removed after a reload", async ({
  workbench: page,
  folder,
}) => {
  const files = await Promise.all(
    ["one.jpg", "two.jpg", "three.jpg"].map(async (name) => named(await photo(), folder, name)),
  );
  await addFiles(page, ...files);
  const [one, two, three] = files.map((file) => cardOf(page, file));
  if (!one || !two || !three) throw new Error("There are no files.");
  await expect(page.locator("[data-state=ready]")).toHaveCount(3);
  await one.focus();
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+ArrowDown");
  await expect(two).toBeFocused();
  await expect(page.getByText("2 selected")).toBeVisible();
  await page.keyboard.press("Delete");
  await expect(page.getByRole("article")).toHaveCount(1);
  await page.keyboard.press("Control+z");
  await expect(page.getByRole("article")).toHaveCount(3);
  await expect(page.getByText("2 selected")).toBeVisible();

  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await expect(page.getByText("Removed 2 files.")).toBeVisible();
  await expect(page.getByRole("article")).toHaveCount(1);
  await page.reload();
  await expect(three).toBeVisible();
  await expect(page.getByRole("article")).toHaveCount(1);
  await expect(page.getByText("Removed 2 files.")).toHaveCount(0);
});

test("the open file, its pane, the filter and the theme survive a reload, and Back returns to the list", async ({
  workbench: page,
  served,
  folder,
}) => {
  const names = ["one.jpg", "two.jpg", "three.jpg", "four.jpg", "five.jpg", "six.jpg"];
  await addFiles(page, ...(await Promise.all(names.map(async (name) => named(await photo(), folder, name)))));
  await expect(page.locator("[data-state=ready]")).toHaveCount(6);
  await page.getByRole("radio", { name: /^To do/ }).check();
  await expect(page).toHaveURL(`${served.url}/?show=todo`);
  await cardOf(page, "two.jpg").getByRole("button", { name: "Edit", exact: true }).click();
  await expect(page).toHaveTitle("two.jpg · Framewright");
  await page.getByRole("tab", { name: "Picture" }).click();
  const scheme = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("color-scheme"));
  await page.getByRole("button", { name: "Theme: as the system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  expect(await scheme()).toBe("dark");

  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("two.jpg");
  await expect(page.getByRole("tab", { name: "Picture" })).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("button", { name: "Theme: dark" })).toBeVisible();
  expect(await scheme()).toBe("dark");
  await page.goBack();
  await expect(cardOf(page, "two.jpg")).toBeFocused();
  await expect(page.getByRole("radio", { name: /^To do/ })).toBeChecked();
  await page.goForward();
  await backToList(page);
  await expect(page).toHaveURL(`${served.url}/?show=todo`);

  // An address of the editor that was opened from elsewhere returns to the list, too.
  const id = await cardOf(page, "one.jpg").getAttribute("data-id");
  await page.goto(`${served.url}/files?file=${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("one.jpg");
  await backToList(page);
  await expect(page).toHaveURL(`${served.url}/files`);
  await expect(page.getByRole("article")).toHaveCount(6);
});
