import { stat } from "node:fs/promises";
import { AxeBuilder } from "@axe-core/playwright";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { runNative } from "../judge/native.ts";
import { downloadBy, named, openDownloading } from "./result-flow.ts";
import { addFiles, backToList, cardOf, chooseAction, dismiss, expect, test } from "./workbench.ts";

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
  // The editor does not count a change that the message undid as a step, but can redo it.
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
  // The Tab key reaches a line by its checkbox.
  await one.getByRole("checkbox").focus();
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
  const icons = new Set<string | null>();
  for (const name of ["Theme: system", "Theme: light"]) {
    icons.add(await page.getByRole("button", { name }).locator("path").getAttribute("d"));
    await page.getByRole("button", { name }).click();
  }
  expect(await scheme()).toBe("dark");
  icons.add(await page.getByRole("button", { name: "Theme: dark" }).locator("path").getAttribute("d"));
  expect(icons.size).toBe(3);

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

  // The editor returns to the list even if its address was opened from elsewhere.
  const id = await cardOf(page, "one.jpg").getAttribute("data-id");
  await page.goto(`${served.url}/files?file=${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("one.jpg");
  await backToList(page);
  await expect(page).toHaveURL(`${served.url}/files`);
  await expect(page.getByRole("article")).toHaveCount(6);
});

test("selected files get the same settings, and names in the order of the list", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await openDownloading(page, served);
  const names = ["one.jpg", "two.jpg", "three.jpg"];
  await addFiles(page, ...(await Promise.all(names.map(async (name) => named(await photo(), folder, name)))));
  const titles = page.getByRole("article").getByRole("heading", { level: 2 });
  await expect(page.locator("[data-state=ready]")).toHaveCount(3);
  await cardOf(page, "three.jpg").focus();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(titles).toHaveText(["one.jpg", "three.jpg", "two.jpg"]);
  await expect(cardOf(page, "three.jpg")).toBeFocused();
  await expect(page.getByRole("status", { name: "Order" })).toHaveText("three.jpg is now 2 of 3.");
  // The pointer drags a line by its grip; Escape returns it, and nothing else.
  await cardOf(page, "three.jpg").getByRole("checkbox").check();
  const grip = cardOf(page, "two.jpg").locator(".grip");
  const top = await cardOf(page, "one.jpg").boundingBox();
  for (const key of ["Escape", null]) {
    await grip.hover();
    await page.mouse.down();
    await page.mouse.move((top?.x ?? 0) + 60, (top?.y ?? 0) + 10, { steps: 5 });
    await expect(cardOf(page, "one.jpg")).toHaveAttribute("data-drop", "before");
    if (key) await page.keyboard.press(key);
    await page.mouse.up();
    await expect(page.locator("[data-drop]")).toHaveCount(0);
    await expect(titles.first()).toHaveText(key ? "one.jpg" : "two.jpg");
    await expect(page.getByText("1 selected")).toBeVisible();
  }
  await page.reload();
  await expect(titles).toHaveText(["two.jpg", "one.jpg", "three.jpg"]);

  for (const name of ["two.jpg", "one.jpg"]) await cardOf(page, name).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Settings for all" }).click();
  const settings = page.getByRole("dialog", { name: "Settings for all 2 files" });
  await expect(settings.getByRole("button", { name: "Change" })).toBeDisabled();
  // The fields stand side by side, although neither the editor nor the console has been open.
  const [quality, size] = await Promise.all(
    ["Quality", "Picture size"].map((label) => settings.getByLabel(label).boundingBox()),
  );
  expect(quality?.y).toBe(size?.y);
  await page.mouse.click(5, 5);
  await expect(settings).toHaveCount(0);
  await page.getByRole("button", { name: "Settings for all" }).click();
  await settings.getByLabel("Quality").selectOption("very_low");
  await settings.getByRole("button", { name: "Change 2 files" }).click();
  await expect(cardOf(page, "two.jpg").locator(".name p")).toContainText("640 × 360");
  await page.getByRole("button", { name: "Names" }).click();
  const dialog = page.getByRole("dialog", { name: "Names" });
  await dialog.getByLabel("Pattern").fill("sea {n} {name} {size}");
  await expect(dialog.getByRole("listitem")).toHaveText(["sea 1 two 640x360.jpg", "sea 2 one 640x360.jpg"]);
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await dialog.getByRole("button", { name: "Name 2 files" }).click();
  await page.getByRole("button", { name: "Convert 2 files" }).click();
  await expect(page.locator("[data-state=succeeded]")).toHaveCount(2);
  const link = (name: string) => cardOf(page, name).getByRole("link", { name: "Download" });
  await expect(link("two.jpg")).toHaveAttribute("download", "sea 1 two 640x360.jpg");
  await expect(link("one.jpg")).toHaveAttribute("download", "sea 2 one 640x360.jpg");
  const small = (await stat(await downloadBy(page, link("two.jpg"), folder))).size;
  await cardOf(page, "three.jpg").getByRole("button", { name: "Convert", exact: true }).click();
  await expect(link("three.jpg")).toHaveAttribute("download", "three.jpg");
  // Only the chosen files have the lower quality.
  expect(small).toBeLessThan(0.8 * (await stat(await downloadBy(page, link("three.jpg"), folder))).size);
});

test("selected clips are joined in the order of the list, also after a reload", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await openDownloading(page, served);
  const clip = async (color: string) =>
    named(
      await makeClip("mp4", [
        ...`-f lavfi -i color=${color}:s=320x180:r=25:d=1`.split(" "),
        ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p".split(" "),
      ]),
      folder,
      `${color}.mp4`,
    );
  await addFiles(page, await clip("red"), await clip("blue"), await clip("lime"));
  await expect(page.locator("[data-state=ready]")).toHaveCount(3);
  await cardOf(page, "lime.mp4").focus();
  await page.keyboard.press("Alt+ArrowUp");
  for (const name of ["red.mp4", "blue.mp4", "lime.mp4"]) {
    await cardOf(page, name).getByRole("checkbox").check();
  }
  await page.getByRole("button", { name: "Join into one" }).click();
  await expect(page.getByText("Joined 3 files into one, with the settings of red.mp4.")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("article")).toHaveCount(3);
  await page.getByRole("button", { name: "Join into one" }).click();
  await dismiss(page);
  await expect(page.getByRole("article")).toHaveCount(1);
  await expect(cardOf(page, "red.mp4")).toContainText("2 more after it");
  await page.reload();
  await cardOf(page, "red.mp4").getByRole("button", { name: "Convert", exact: true }).click();
  const output = await downloadBy(page, page.getByRole("link", { name: "Download" }), folder);
  expect((await readFacts(output)).picture?.times).toHaveLength(75);
  const filter = "scale=1:1,format=rgb24";
  const pixels = (await runNative(["-i", output, "-vf", filter, "-f", "rawvideo", "-"])).output;
  const strongest = Array.from({ length: 75 }, (_, frame) => {
    const rgb = [...pixels.subarray(frame * 3, frame * 3 + 3)];
    return ["red", "lime", "blue"][rgb.indexOf(Math.max(...rgb))];
  });
  const second = (color: string) => Array.from({ length: 25 }, () => color);
  expect(strongest).toEqual([...second("red"), ...second("lime"), ...second("blue")]);
});
