import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { unpackZip } from "./read-zip.ts";
import { convert, downloadBy, movingClip, named, playToEnd, transparentPicture } from "./result-flow.ts";
import { addFiles, cardOf, expect, test } from "./workbench.ts";

const serious = async (page: Page) => {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical");
};

test("a converted video plays to its end, compares the same frame with the original, and downloads under its name", async ({
  workbench,
  folder,
}) => {
  const clip = await named(await movingClip(), folder, "in/a film.mov");
  const card = await convert(workbench, clip, "Web video");
  expect(await playToEnd(card)).toEqual({
    at: expect.closeTo(2, 1),
    duration: expect.closeTo(2, 1),
    width: 320,
    error: null,
  });
  expect(await serious(workbench)).toEqual([]);
  await card.getByRole("button", { name: "Compare with the original" }).click();
  await card.getByLabel("Moment").fill("1.52");
  // Both show frame 38, at 25 frames per second.
  const frames = () =>
    card
      .locator(".compare video")
      .evaluateAll((videos: HTMLVideoElement[]) =>
        videos.map(({ currentTime, seeking }) => (seeking ? null : Math.floor(currentTime * 25 + 0.01))),
      );
  await expect.poll(frames).toEqual([38, 38]);
  const path = await downloadBy(workbench, card.getByRole("link", { name: "Download" }), folder);
  expect(basename(path)).toBe("a film.mp4");
  const { picture, sound, bytes, duration } = await readFacts(path);
  expect([picture?.codec, picture?.width, sound?.codec]).toEqual(["h264", 320, "aac"]);
  expect(duration).toBeCloseTo(2, 1);
  await expect(card.locator(".facts")).toContainText("FormatMP4CodecsH.264 + AACPicture320 × 180 pixels");
  const before = (await readFile(clip)).length;
  const percent = Math.round((Math.abs(bytes - before) / before) * 100);
  await expect(card.locator(".saving")).toContainText(
    `${percent} % ${bytes < before ? "smaller" : "larger"}`,
  );
});

test("a converted picture can be compared with its original, and looks like it", async ({
  workbench,
  folder,
}) => {
  const picture = await named(await transparentPicture("640x360"), folder, "in/shrunk.png");
  const card = await convert(workbench, picture, "Web picture");
  await card.getByRole("button", { name: "Compare with the original" }).click();
  const slider = card.getByRole("slider", { name: /Divider between/ });
  await slider.fill("20");
  await expect(slider).toHaveAttribute("aria-valuetext", "20 % before, 80 % after");
  const widths = () =>
    card
      .locator(".compare img")
      .evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth));
  await expect.poll(widths).toEqual([640, 640]);
  expect(await serious(workbench)).toEqual([]);
  const path = await downloadBy(workbench, card.getByRole("link", { name: "Download" }), folder);
  expect(basename(path)).toBe("shrunk.webp");
  expect((await readFacts(path)).picture).toMatchObject({ codec: "webp", width: 640, height: 360 });
  const options = {
    filter: "format=rgba,crop=480:360:160:0",
    output_filter: "format=rgba,crop=480:360:160:0",
  };
  expect((await measureLikeness(path, picture, options)).mean).toBeGreaterThan(0.9);
});

test("downloads all results as one zip, and saves them to a folder without overwriting anything", {
  tag: "@smoke",
}, async ({ page, served, folder, complaints: _ }) => {
  await page.addInitScript(() => {
    Reflect.deleteProperty(globalThis, "showSaveFilePicker");
    // The picker returns an OPFS folder, which is writable like any other.
    const pick = async () => {
      const root = await navigator.storage.getDirectory();
      return root.getDirectoryHandle("chosen", { create: true });
    };
    Reflect.set(globalThis, "showDirectoryPicker", pick);
  });
  await page.goto(served.url);
  const small = await named(await transparentPicture("64x36"), folder, "one/same.png");
  const large = await named(await transparentPicture("96x54"), folder, "two/same.png");
  await addFiles(page, small, large);
  const buttons = cardOf(page, small).getByRole("button", { name: "Convert", exact: true });
  await expect(buttons).toHaveCount(2);
  await page.getByRole("button", { name: /^Convert \d+ files?$/ }).click();
  const zip = await downloadBy(page, page.getByRole("button", { name: "Download all" }), folder);
  expect(basename(zip)).toBe("framewright.zip");
  const out = join(folder, "out");
  const names = await unpackZip(zip, out);
  expect(names).toEqual(["same (2).png", "same.png"]);
  const widths = await Promise.all(
    names.map(async (name) => (await readFacts(join(out, name))).picture?.width),
  );
  expect(widths).toEqual([96, 64]);

  const list = () =>
    page.evaluate(async () => {
      const root = await navigator.storage.getDirectory();
      const sizes: Record<string, number> = {};
      for await (const [name, handle] of (await root.getDirectoryHandle("chosen")).entries())
        sizes[name] = handle.kind === "file" ? (await (handle as FileSystemFileHandle).getFile()).size : -1;
      return sizes;
    });
  const save = page.getByRole("button", { name: "Save to a folder" });
  await save.click();
  await expect(page.getByText("2 saved.")).toBeVisible();
  const [first, second] = await Promise.all(
    ["same.png", "same (2).png"].map((name) => readFile(join(out, name))),
  );
  expect(await list()).toEqual({ "same.png": first?.length, "same (2).png": second?.length });
  // If the visitor can choose a file for the zip, it is written only there.
  await page.evaluate(() => {
    const pick = async () => {
      const root = await navigator.storage.getDirectory();
      return root.getFileHandle("picked.zip", { create: true });
    };
    Reflect.set(globalThis, "showSaveFilePicker", pick);
  });
  await page.getByRole("button", { name: "Download all" }).click();
  await expect(page.getByText("The zip is ready.")).toBeVisible();
  const storage = () =>
    page.evaluate(async () => {
      const root = await navigator.storage.getDirectory();
      const picked = await (await root.getFileHandle("picked.zip")).getFile();
      const stash: string[] = [];
      for await (const name of (await root.getDirectoryHandle("framewright-downloads")).keys())
        stash.push(name);
      return { picked: picked.size, stash: stash.length };
    });
  expect(await storage()).toEqual({ picked: (await readFile(zip)).length, stash: 1 });
  await page.evaluate(() => {
    const { createWritable } = FileSystemFileHandle.prototype;
    FileSystemFileHandle.prototype.createWritable = async function (this: FileSystemFileHandle) {
      if (this.name === "same (3).png") throw new DOMException("No.", "NotAllowedError");
      return createWritable.call(this);
    };
  });
  await save.click();
  await expect(
    page.getByText("0 of 2 saved. same.png: The browser is not allowed to write there."),
  ).toBeVisible();
  expect(Object.keys(await list()).sort()).toEqual(["same (2).png", "same.png"]);
  // Leftovers of a closed page are deleted by the next download.
  await page.reload();
  // First a browser that writes to OPFS only in workers, then one without OPFS, as in a private window.
  await page.evaluate(() => Reflect.deleteProperty(FileSystemFileHandle.prototype, "createWritable"));
  const again = () => downloadBy(page, page.getByRole("button", { name: "Download all" }), folder);
  const writer = page.waitForEvent("worker", (worker) => worker.url().includes("stash-worker"));
  expect(await unpackZip(await again(), join(folder, "by a worker"))).toEqual(names);
  await writer;
  expect((await storage()).stash).toBe(1);
  await page.evaluate(() => {
    navigator.storage.getDirectory = () => Promise.reject(new DOMException("No.", "SecurityError"));
  });
  expect(await unpackZip(await again(), join(folder, "in memory"))).toEqual(names);
});
