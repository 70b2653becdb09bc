import { stat } from "node:fs/promises";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { convertTo, named, openOptions } from "./result-flow.ts";
import { addFiles, backToList, cardOf, detailsOf, expect, openEditor, test } from "./workbench.ts";

const picture = () =>
  makeClip("png", "-f lavfi -i mandelbrot=size=400x300:maxiter=200 -frames:v 1 -pix_fmt rgb24".split(" "));

// Noisy, so that the encoder uses its whole bitrate.
const noisyVideo = () =>
  makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=320x180:rate=25:duration=4,noise=alls=12:allf=t".split(" "),
    ..."-f lavfi -i sine=frequency=440:duration=4".split(" "),
    ..."-c:v libx264 -preset ultrafast -crf 12 -pix_fmt yuv420p -c:a aac -b:a 128k -shortest".split(" "),
  ]);

test("resizes a picture to half its width, cropped from a corner, as WebP", { tag: "@smoke" }, async ({
  workbench,
  folder,
}) => {
  const file = await named(await picture(), folder, "half.png");
  const card = await openOptions(workbench, file);
  await card.getByLabel("Format").selectOption("webp");
  await card.getByLabel("Width").fill("50%");
  await card.getByLabel("Height").fill("200");
  // Setting both sides does not stretch the picture.
  await expect(card.getByRole("radio", { name: "Contain" })).toBeChecked();
  // The padding shows whether the format can leave it transparent.
  const box = card.locator(".preview .box");
  for (const [format, padding] of [
    ["gif", "rgba(0, 0, 0, 0)"],
    ["jpeg", "rgb(0, 0, 0)"],
    ["avif", "rgb(0, 0, 0)"],
    ["webp", "rgba(0, 0, 0, 0)"],
  ] as const) {
    await card.getByLabel("Format").selectOption(format);
    await expect(box).toHaveCSS("background-color", padding);
  }
  await choose(card, "Fit", "Cover");
  await choose(card, "Position", "Top left");
  await choose(card, "Quality", "Highest");

  await expect(card.locator(".outcome")).toContainText("WebP · 200 × 200");
  const preview = card.locator(".preview img");
  await expect(preview).toHaveCSS("object-fit", "cover");
  await expect(preview).toHaveCSS("object-position", "0% 0%");
  const { width = 0, height = 1 } = (await box.boundingBox()) ?? {};
  expect(width / height).toBeCloseTo(1, 1);

  const output = await convertTo(workbench, card, folder);
  expect(await readFacts(output)).toMatchObject({ picture: { codec: "webp", width: 200, height: 200 } });
  const likeness = async (x: number) => {
    const filter = `crop=300:300:${x}:0,scale=200:200:flags=bicubic`;
    return (await measureLikeness(output, file, { filter, pixels: "gbrp" })).mean;
  };
  expect(await likeness(0)).toBeGreaterThan(0.9);
  expect(await likeness(50)).toBeLessThan(0.6);
});

test("turns, mirrors and crops a picture, and shows it before", async ({ workbench, folder }) => {
  const original = await picture();
  const card = await openOptions(workbench, await named(original, folder, "turned.png"));
  await card.getByLabel("Format").selectOption("png");
  await card.getByLabel("Rotate").selectOption("90° clockwise");
  await expect(card.locator(".outcome")).toContainText("300 × 400");
  await card.getByLabel("Mirror").selectOption("Top to bottom");
  await card.getByLabel("Crop").selectOption("1:1");
  await choose(card, "Position", "Top");
  await expect(card.locator(".outcome")).toContainText("PNG · 300 × 300");

  const filter = "transpose=clock,vflip,crop=300:300:0:0";
  const shot = join(folder, "preview.png");
  await expect(card.getByRole("slider", { name: /^Divider/ })).toBeVisible();
  // The divider and the labels lie on the picture.
  await card.locator(".live > :is(.divider, .label)").evaluateAll((elements) => {
    for (const each of elements) (each as HTMLElement).style.visibility = "hidden";
  });
  await card.locator(".preview .box").screenshot({ path: shot });
  const small = { filter: `${filter},scale=100:100`, output_filter: "scale=100:100", pixels: "gbrp" };
  expect((await measureLikeness(shot, original, small)).mean).toBeGreaterThan(0.9);

  const output = await convertTo(workbench, card, folder);
  expect((await measureLikeness(output, original, { filter, pixels: "gbrp" })).mean).toBeGreaterThan(0.99);
});

test("keeps a video within the requested file size", async ({ workbench, folder }) => {
  const file = await named(await noisyVideo(), folder, "sized.mp4");
  const card = await openOptions(workbench, file);
  await choose(card, "Aim for", "Size limit");
  // Half of the file's size is suggested.
  const half = Number(((await stat(file)).size / 2e6).toPrecision(2));
  await expect(card.getByLabel("Maximum file size (MB)")).toHaveValue(String(half));
  await card.getByLabel("Unit").selectOption("kB");
  await card.getByLabel("Maximum file size (kB)").fill("20");
  const why = /20 kB is too small for 0:04; the minimum is \d\d(\.\d)? kB\./;
  await expect(card.getByLabel("Maximum file size (kB)")).toHaveAccessibleDescription(why);
  await expect(card.getByRole("button", { name: "Convert", exact: true })).toBeDisabled();
  await expect(card.getByRole("button", { name: "Convert", exact: true })).toBeDisabled();
  await expect(card.getByRole("button", { name: "Convert", exact: true })).toHaveAccessibleDescription(why);
  await backToList(workbench);
  await expect(card.locator(".said")).toHaveText(why);
  await openEditor(card);
  await card.getByLabel("Maximum file size (kB)").fill("400");
  await expect(card.locator(".outcome")).toContainText(/About 3\d\d kB, and meant to stay below 400 kB/);
  await expect(card.locator(".outcome")).toContainText("Expect about the quality of");

  const output = await convertTo(workbench, card, folder);
  const { size } = await stat(output);
  expect(size).toBeLessThanOrEqual(400_000);
  expect(size).toBeGreaterThan(280_000);
  const facts = await readFacts(output);
  expect(facts).toMatchObject({
    picture: { codec: "h264", width: 320, height: 180 },
    sound: { codec: "aac" },
  });
  expect(facts.duration).toBeCloseTo(4, 0);
});

test("lowers size, frame rate and sound to fit a small file, and says so", async ({ workbench, folder }) => {
  const source = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=640x360:rate=25:duration=12,noise=alls=12:allf=t".split(" "),
    ..."-f lavfi -i sine=frequency=440:duration=12".split(" "),
    ..."-c:v libx264 -preset ultrafast -crf 24 -pix_fmt yuv420p -c:a aac -b:a 128k -shortest".split(" "),
  ]);
  const file = await named(source, folder, "film.mp4");
  const card = await openOptions(workbench, file);
  await card.getByRole("button", { name: "Small for mail" }).click();
  await expect(card.getByLabel("Maximum file size (MB)")).toHaveValue("20");
  // This is the bitrate of eleven minutes in 20 MB.
  const most = 364_000;
  await card.getByLabel("Maximum file size (MB)").fill(String(most / 1e6));
  await expect(card.locator(".outcome")).toContainText(
    "To stay below 364 kB, the picture shrinks to 426 × 240, motion drops to 12.5 frames per second and the sound gets the lowest quality.",
  );
  const output = await convertTo(workbench, card, folder);
  const { size } = await stat(output);
  expect(size).toBeLessThanOrEqual(most);
  expect(size).toBeGreaterThan(most / 2);
  const facts = await readFacts(output);
  expect(facts).toMatchObject({
    picture: { codec: "h264", width: 426, height: 240 },
    sound: { codec: "aac" },
  });
  expect(facts.duration).toBeCloseTo(12, 0);
});

test("shows conflicting options at their field, and disables Convert", async ({ workbench, folder }) => {
  const file = await named(await noisyVideo(), folder, "wrong.mp4");
  const card = await openOptions(workbench, file);
  const notice = card.getByRole("region", { name: "Options" }).getByRole("alert");
  const wrongs: [field: Locator, set: () => Promise<unknown>, why: RegExp, mend: () => Promise<unknown>][] = [
    [
      card.getByLabel("Codec", { exact: true }),
      () => card.getByLabel("Codec", { exact: true }).selectOption("vp9"),
      /mp4 cannot hold vp9 here; use h264, h265, av1\./,
      () => card.getByLabel("Codec", { exact: true }).selectOption(""),
    ],
    [
      card.getByRole("group", { name: "Fit" }),
      async () => {
        await expect(card.getByRole("group", { name: "Fit" })).toHaveCount(0);
        await card.getByLabel("Width").fill("90");
        await card.getByLabel("Height").fill("90");
        await choose(card, "Fit", "Cover");
        await card.getByLabel("Height").fill("");
      },
      /Fit needs both width and height\./,
      () => card.getByLabel("Size", { exact: true }).selectOption("50%"),
    ],
    [
      card.getByLabel("Frames per second"),
      () => card.getByLabel("Frames per second").fill("200"),
      /Frames per second must be a number from 1 to 60\./,
      () => card.getByLabel("Frames per second").fill("12.5"),
    ],
    [
      card.getByLabel("Width"),
      () => card.getByLabel("Width").fill("wide"),
      /Width must be a whole number of pixels/,
      () => card.getByLabel("Width").fill(""),
    ],
  ];
  for (const [field, set, why, mend] of wrongs) {
    await set();
    await expect(field).toHaveAccessibleDescription(why);
    await expect(notice).toHaveText(why);
    await expect(card.getByRole("button", { name: "Convert", exact: true })).toBeDisabled();
    await mend();
    await expect(notice).toBeHidden();
  }
  await expect(card.locator(".outcome")).toContainText("MP4 · 320 × 180");
  const x264 = "a third of the size that the browser's own encoder makes";
  await expect(card.getByRole("group", { name: "Quality" })).toHaveAccessibleDescription(new RegExp(x264));
  await card.getByLabel("Codec", { exact: true }).selectOption("h265");
  await expect(card).not.toContainText(x264);
  await card.getByLabel("Width").fill("1000");
  await expect(card).toContainText("the file grows, but the picture gets no sharper.");
});

test("presets are applied, saved, applied to other files, renamed and deleted", async ({
  workbench,
  folder,
}) => {
  const [first, second] = [
    await named(await picture(), folder, "preset-1.png"),
    await named(await picture(), folder, "preset-2.png"),
  ];
  // Malformed stored presets are ignored.
  const hostile = [
    { id: "x", name: "Bad", kind: "video", options: { codec: "rm -rf" } },
    null,
    3,
    { name: {} },
  ];
  await workbench.evaluate(
    (presets) => localStorage.setItem("framewright-presets", presets),
    JSON.stringify(hostile),
  );
  await workbench.reload();
  await addFiles(workbench, second);
  let card = await openOptions(workbench, first);
  await expect(card.getByRole("button", { name: "Bad" })).toHaveCount(0);
  await expect(card.getByRole("button", { name: "Podcast audio" })).toHaveCount(0);
  // Both happen before the page renders again.
  await card.evaluate((element) => {
    [...element.querySelectorAll("button")].find((button) => /Thumbnail/.test(button.textContent))?.click();
    const format = element.querySelector("select");
    if (format) format.value = "webp";
    format?.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await expect(card.locator(".outcome")).toContainText("WebP · 320 × 240");
  await card.getByRole("button", { name: "Thumbnail" }).click();
  await expect(card.locator(".outcome")).toContainText("JPEG · 320 × 240");
  await card.getByLabel("Width").fill("100");
  await expect(card.getByRole("button", { name: "Thumbnail" })).toHaveAttribute("aria-pressed", "false");
  await card.getByRole("button", { name: "Save as preset" }).click();
  await expect(card.getByLabel("Name of the preset")).toBeFocused();
  await card.getByLabel("Name of the preset").fill("Tiny");
  await card.getByRole("button", { name: "Save", exact: true }).click();
  await expect(card.getByRole("button", { name: "Save as preset" })).toBeFocused();
  await expect(card.getByRole("button", { name: "Tiny" })).toHaveAttribute("aria-pressed", "true");
  await card.getByRole("button", { name: "Use for all 2 files like this" }).click();
  await expect(card.getByText("Applied to the other file.")).toBeVisible();
  await backToList(workbench);
  await expect(await detailsOf(cardOf(workbench, second))).toContainText("JPEG, 100 wide, medium quality");

  await workbench.reload();
  card = cardOf(workbench, second);
  await openEditor(card);
  await expect(card.getByRole("button", { name: "Tiny" })).toHaveAttribute("aria-pressed", "true");
  await card.getByRole("button", { name: "Manage your presets" }).click();
  const dialog = workbench.getByRole("dialog", { name: "Your presets" });
  await dialog.getByLabel("Name of Tiny").fill("Stamp");
  await dialog.getByLabel("Name of Tiny").press("Enter");
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect(card.getByRole("button", { name: "Stamp" })).toBeVisible();
  await card.getByRole("button", { name: "Manage your presets" }).click();
  await dialog.getByRole("button", { name: "Delete Stamp" }).click();
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect(card.getByRole("button", { name: "Stamp" })).toHaveCount(0);
  expect(await workbench.evaluate(() => localStorage.getItem("framewright-presets"))).toBe("[]");
});

test("options can be chosen by keyboard, and axe finds nothing in light and dark", async ({
  workbench,
  folder,
}) => {
  const file = await named(await noisyVideo(), folder, "keys.mp4");
  await addFiles(workbench, file);
  const card = cardOf(workbench, file);
  const keys = workbench.keyboard;
  await card.getByRole("button", { name: "Edit", exact: true }).focus();
  await keys.press("Enter");
  await expect(card.getByRole("button", { name: "Web video" })).toBeVisible();
  await tabTo(workbench, card.getByRole("tab", { name: "Output" }));
  await keys.press("End");
  await expect(card.getByRole("tab", { name: "All" })).toBeFocused();
  await tabTo(workbench, card.getByRole("radio", { name: "Video", exact: true }));
  await keys.press("ArrowRight");
  await expect(card.getByRole("radio", { name: "Audio" })).toBeChecked();
  await keys.press("ArrowRight");
  await expect(card.getByRole("radio", { name: "Picture" })).toBeFocused();
  await tabTo(workbench, card.getByLabel("Width"));
  await keys.type("160");
  await keys.press("Tab");
  await keys.type("160");
  await keys.press("Tab");
  await keys.press("ArrowRight");
  await expect(card.getByRole("radio", { name: "Cover" })).toBeChecked();
  await keys.press("Tab");
  await keys.press("ArrowRight");
  await expect(card.getByText("Right", { exact: true })).toBeVisible();
  await expect(card.locator(".outcome")).toContainText("JPEG · 160 × 160");

  await card.getByRole("radio", { name: "Video", exact: true }).check();
  const panes = await card.getByRole("tab").allTextContents();
  expect(panes).toEqual(["Output", "Picture", "Sound", "Text & logo", "Advanced", "All"]);
  for (const [index, pane] of panes.entries()) {
    await card.getByRole("tab", { name: pane }).click();
    const colorScheme = index % 2 === 0 ? "light" : "dark";
    await workbench.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page: workbench }).analyze();
    const faults = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
    expect([pane, colorScheme, faults]).toEqual([pane, colorScheme, []]);
  }
  // The last pane has the fields of all the others.
  await workbench.emulateMedia({ colorScheme: "dark" });
  expect((await new AxeBuilder({ page: workbench }).analyze()).violations).toEqual([]);
});

async function choose(card: Locator, group: string, name: string): Promise<void> {
  const radio = card.getByRole("group", { name: group }).getByRole("radio", { name, exact: true });
  await radio.check();
}

async function tabTo(page: Page, control: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await control.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("Tab does not reach the control.");
}
