import { join } from "node:path";
import type { Page } from "@playwright/test";
import { makeClip } from "../fixtures/make-clip.ts";
import { ROOT } from "../structure/source-files.ts";
import { connect, convert, named, openOptions } from "./result-flow.ts";
import { addFiles, cardOf, chooseAction, expect, openEditor, removeFile, test } from "./workbench.ts";

// Screenshots for review; they are not compared, but nothing may overflow or be cut off.
const LOOKS = {
  light: { colorScheme: "light", width: 1280 },
  dark: { colorScheme: "dark", width: 1280 },
  phone: { colorScheme: "light", width: 390 },
  narrow: { colorScheme: "dark", width: 360 },
} as const;

// A calm picture.
const scene = (size: string, seconds: number) =>
  `-f lavfi -i gradients=s=${size}:r=25:d=${seconds}:n=4:c0=0x1b2a49:c1=0xee6c4d:c2=0xf2c14e:c3=0x3d5a80:x0=0:y0=0:x1=500:y1=300:speed=0.02`.split(
    " ",
  );
const TONE = "-f lavfi -i sine=frequency=440:duration=2".split(" ");
const H264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p".split(" ");

async function show(page: Page, name: string): Promise<void> {
  for (const [look, { colorScheme, width }] of Object.entries(LOOKS)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const path = join(ROOT, "dist", "e2e", "screens", `${name}-${look}.png`);
    await page.screenshot({ path, fullPage: true, animations: "disabled" });
    const hidden = await page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth));
    expect([name, look, hidden]).toEqual([name, look, 0]);
    expect([name, look, await cutChoices(page)]).toEqual([name, look, []]);
    expect([name, look, await actionLines(page)]).toEqual([name, look, 1]);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** Returns on how many lines a card shows its actions, at most; 1 without cards. */
function actionLines(page: Page): Promise<number> {
  return page.locator(".card .actions").evaluateAll((all) => {
    const lines = all.map(
      (each) =>
        new Set(
          [...each.children]
            .filter((child) => child.checkVisibility())
            .map((child) => (child as HTMLElement).offsetTop),
        ),
    );
    return Math.max(1, ...lines.map(({ size }) => size));
  });
}

/** Returns the chosen texts of selects that are too wide for them. */
function cutChoices(page: Page): Promise<string[]> {
  return page.locator("select:visible").evaluateAll((selects) => {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    // The width of the arrow.
    const arrow = 20;
    return selects.flatMap((select) => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(select);
      const text = (select as HTMLSelectElement).selectedOptions[0]?.text ?? "";
      const room =
        select.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - arrow;
      if (context) context.font = font;
      return (context?.measureText(text).width ?? 0) > room ? [text] : [];
    });
  });
}

test("the queue fits the screen in each of its states", async ({ workbench: page, folder }) => {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await show(page, "empty");
  const make = async (name: string, args: readonly string[]) =>
    named(await makeClip(name.replace(/.*\./, ""), args), folder, `in/${name}`);
  const film = await make("A holiday by the sea.mp4", [
    ...[...scene("640x360", 2), ...TONE],
    ...[...H264, "-c:a", "aac", "-shortest"],
  ]);
  const picture = await make("The harbour at dawn.png", [...scene("640x360", 1), "-frames:v", "1"]);
  const sound = await make("An interview.wav", TONE);
  const text = await named(join(ROOT, "LICENSE"), folder, "in/Not a film.mp4");
  await addFiles(page, film, text);
  const card = cardOf(page, film);
  await expect(cardOf(page, text)).toContainText("Can't be used");
  await chooseAction(card, "Another output");
  await show(page, "two-outputs-and-a-bad-file");
  await page.getByRole("button", { name: "Convert 2 files" }).click();
  await expect(page.locator("[data-state=succeeded]")).toHaveCount(2);
  await show(page, "two-results-and-a-bad-file");
  await page.getByRole("button", { name: "Remove finished" }).click();
  await removeFile(page, cardOf(page, text));

  const long = await make("A long film.mp4", [...scene("320x180", 240), ...H264, "-g", "25"]);
  await addFiles(page, long);
  await openEditor(cardOf(page, long));
  await cardOf(page, long).getByLabel("Format", { exact: true }).selectOption("webm");
  await cardOf(page, long).getByRole("button", { name: "Convert", exact: true }).click();
  await expect(cardOf(page, long).getByRole("progressbar")).toBeVisible();
  await show(page, "running");
  await cardOf(page, long).getByRole("button", { name: "Cancel" }).click();
  await expect(cardOf(page, long)).toContainText("Cancelled");
  await removeFile(page, cardOf(page, long));

  for (const [name, path, preset] of [
    ["result-picture", picture],
    ["result-sound", sound],
    ["result-stream", film, "HLS for my site"],
  ] as const) {
    const output = await convert(page, path, preset);
    await show(page, name);
    if (name === "result-picture") {
      await output.getByRole("button", { name: "Compare with the original" }).click();
      await expect(output.locator(".compare").getByRole("slider")).toBeVisible();
      await show(page, "compare");
      for (const dialog of ["Copy as code", "Send to S3"]) {
        await output.getByRole("button", { name: dialog }).click();
        await expect(page.getByRole("dialog")).toBeVisible();
        await show(page, dialog.toLowerCase().replaceAll(" ", "-"));
        await page.keyboard.press("Escape");
      }
    }
    await removeFile(page, output);
  }
});

test("the options of each kind fit the screen", async ({ workbench: page, folder }) => {
  const args = [...scene("640x360", 2), ...TONE, ...H264, "-c:a", "aac", "-shortest"];
  const film = await named(await makeClip("mp4", args), folder, "A holiday by the sea.mp4");
  const card = await openOptions(page, film);
  for (const kind of ["Audio", "Picture", "Animation", "Storyboard", "Waveform", "Stream for a website"]) {
    await card.getByRole("radio", { name: kind, exact: true }).check();
    const format = card.getByLabel("Format", { exact: true });
    await show(page, `options-${kind.split(" ")[0]?.toLowerCase()}`);
    await page.setViewportSize({ width: 360, height: 740 });
    for (const value of await format
      .locator("option")
      .evaluateAll((options) => options.map((each) => (each as HTMLOptionElement).value))) {
      await format.selectOption(value);
      expect([kind, value, await cutChoices(page)]).toEqual([kind, value, []]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  }
});

test("the console fits the screen in each of its parts", async ({ workbench: page, served }) => {
  await page.getByRole("link", { name: "Console", exact: true }).click();
  await expect(page.getByLabel("Address")).toHaveValue(served.url);
  await show(page, "edge-before");
  await connect(page, served);
  for (const part of ["tasks", "connections", "webhooks", "keys"]) {
    await page.goto(`${served.url}/console/${part}`);
    await expect(page.getByRole("heading", { name: new URL(served.url).host })).toBeVisible();
    await expect(page.getByRole("button", { name: /^New / }).first()).toBeVisible();
    await show(page, `edge-${part}`);
  }
  await page.goto(`${served.url}/console/connections`);
  await page.getByRole("button", { name: "New connection" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await show(page, "edge-new-connection");
});
