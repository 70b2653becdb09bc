import { readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { Task } from "../../src/index.ts";
import { hdrAvif } from "../fixtures/photos.ts";
import { readFacts } from "../judge/facts.ts";
import { chooseFormat, clipNamed, connectEdge, longClip, MIXED } from "./queue-clips.ts";
import { storedSizes } from "./stored-sizes.ts";
import { addFiles, cardOf, chooseAction, detailsOf, dismiss, expect, removeFile, test } from "./workbench.ts";

/** Reads all rows of an IndexedDB store. */
const rowsOf = (page: Page, name: string, store: string) =>
  page.evaluate(
    ({ name, store }) =>
      new Promise<unknown[]>((resolve, reject) => {
        const opened = indexedDB.open(name);
        opened.onerror = () => reject(opened.error);
        opened.onsuccess = () => {
          const db = opened.result;
          const query = db.transaction(store).objectStore(store).getAll();
          query.onsuccess = () => resolve(query.result);
          query.onerror = () => reject(query.error);
          db.close();
        };
      }),
    { name, store },
  );

/** The local tasks, and how many pieces of their work are stored. */
async function tasksOf(page: Page) {
  const tasks = (await rowsOf(page, "framewright-page", "tasks")) as Task[];
  return { tasks, pieces: (await rowsOf(page, "framewright-page", "pieces")).length };
}

/** Downloads the output of a file; `at` counts the cards of that name. */
async function outputOf(page: Page, name: string, folder: string, at = 0): Promise<string> {
  const card = cardOf(page, name).nth(at);
  const way = card.getByRole("link", { name: "Download" }).or(card.getByRole("button", { name: "Download" }));
  const [download] = await Promise.all([page.waitForEvent("download"), way.click()]);
  const path = join(folder, `out-${download.suggestedFilename()}`);
  await download.saveAs(path);
  return path;
}

test("converts ten files of all kinds at once, one of them to two outputs, each to the right codec and size", async ({
  workbench,
  folder,
}) => {
  const paths = await Promise.all(MIXED.map(([name, args]) => clipNamed(name, args, folder)));
  await addFiles(workbench, ...paths);
  const twice = cardOf(workbench, "picture.png");
  const wide = workbench.viewportSize();
  await workbench.setViewportSize({ width: 360, height: 740 });
  await chooseAction(twice, "Another output");
  await expect(twice.nth(1)).toBeFocused();
  await expect(twice.nth(1)).toBeInViewport();
  // Beside the first one, not after all the others.
  await expect(twice.first().locator("xpath=following::article[1]")).toHaveAccessibleName("picture.png");
  expect(await workbench.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  if (wide) await workbench.setViewportSize(wide);
  await chooseFormat(twice.nth(1), "jpeg");
  await workbench.getByRole("button", { name: "Convert 11 files" }).click();
  await expect(workbench.locator("[data-state=succeeded]")).toHaveCount(11);
  for (const [name, , codec] of MIXED) {
    // With many files, results are collapsed.
    await cardOf(workbench, name).first().getByRole("button", { name: "Result" }).click();
    const { picture, sound, duration } = await readFacts(await outputOf(workbench, name, folder));
    expect([name, picture?.codec ?? sound?.codec]).toEqual([name, codec]);
    if (name.startsWith("film")) expect([picture?.width, picture?.times.length]).toEqual([160, 50]);
    if (name.startsWith("sound")) expect(duration).toBeCloseTo(2, 0);
    if (name.startsWith("picture")) expect([picture?.width, picture?.height]).toEqual([320, 180]);
  }
  await twice.nth(1).getByRole("button", { name: "Result" }).click();
  const second = await readFacts(await outputOf(workbench, "picture.png", folder, 1));
  expect([second.picture?.codec, second.picture?.width]).toEqual(["mjpeg", 320]);
  // The two are one job, which reads the file once.
  const jobs = (await rowsOf(workbench, "framewright-page", "jobs")) as { tasks: string[] }[];
  expect(jobs.map(({ tasks }) => tasks.length)).toEqual([2]);
  await workbench.getByRole("button", { name: "Remove finished" }).click();
  await dismiss(workbench);
  await expect(workbench.getByRole("heading", { level: 1 })).toHaveText(
    "Convert video, sound and photos without uploading them.",
  );
  await expect.poll(async () => (await tasksOf(workbench)).tasks).toEqual([]);
  await expect.poll(() => rowsOf(workbench, "framewright-page", "jobs")).toEqual([]);
});

test("an encode resumes by itself after a reload, and its file is stored only once", async ({
  workbench,
  folder,
}) => {
  const path = await longClip("long.mp4", 12, folder);
  const { size } = await stat(path);
  const stored = async () => (await storedSizes(workbench)).databases;
  await addFiles(workbench, path);
  const card = cardOf(workbench, "long.mp4");
  await chooseFormat(card, "webm");
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  // Some of its pieces are stored.
  await expect.poll(async () => (await tasksOf(workbench)).pieces, { intervals: [50] }).toBeGreaterThan(3);
  expect(await stored()).toEqual([size]);
  await workbench.reload();
  const before = await tasksOf(workbench);
  expect(before.tasks.map(({ status }) => status)).toEqual(["processing"]);
  await expect(await detailsOf(card)).toContainText("WebM, VP9, medium quality");
  await expect(card.locator(".thumbnail img")).toBeVisible();
  await expect(card).toContainText("Done");
  const after = await tasksOf(workbench);
  expect(after.tasks.map(({ id, started_at }) => [id, started_at])).toEqual(
    before.tasks.map(({ id, started_at }) => [id, started_at]),
  );
  const output = await outputOf(workbench, "long.mp4", folder);
  const { picture } = await readFacts(output);
  expect([picture?.codec, picture?.times.length]).toEqual(["vp9", 300]);

  await chooseAction(card, "Convert again");
  await expect(card).toHaveCount(2);
  const outputSize = (await stat(output)).size;
  await expect.poll(() => storedSizes(workbench)).toEqual({ databases: [size], files: [outputSize] });
  await removeFile(workbench, card.first());
  await expect.poll(() => storedSizes(workbench)).toEqual({ databases: [size], files: [] });
  await workbench.reload();
  await expect(card).toContainText("Ready");
  await removeFile(workbench, card);
  await expect.poll(() => storedSizes(workbench)).toEqual({ databases: [], files: [] });
});

test("a running conversion can be cancelled, restarted and removed, and leaves nothing behind", async ({
  workbench,
  folder,
  context,
}) => {
  await addFiles(workbench, await longClip("stop.mp4", 20, folder));
  const card = cardOf(workbench, "stop.mp4");
  await chooseFormat(card, "webm");
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(card).toContainText(/[1-9]\d? %/);
  await card.getByRole("button", { name: "Cancel" }).click();
  await expect(card).toContainText("Cancelled");
  const other = await context.newPage();
  await other.goto(workbench.url());
  // Several clicks, in two tabs, make one task.
  const buttons = [workbench, other].map((page) =>
    cardOf(page, "stop.mp4").getByRole("button", { name: "Try again" }).elementHandle(),
  );
  for (const button of await Promise.all(buttons)) {
    await button?.evaluate((element: HTMLElement) => {
      element.click();
      element.click();
    });
  }
  await expect(card).toContainText("Converting");
  await expect.poll(async () => (await tasksOf(workbench)).tasks.length).toBe(1);
  await other.close();
  await chooseAction(card, "Remove");
  await expect(card).toHaveCount(0);
  // Taken back at once, it goes on, although it is still being stopped.
  await workbench.keyboard.press("Control+z");
  await expect(card).toContainText("Converting");
  // Enter opens a file, but does not cancel it.
  await card.press("Enter");
  await expect(card).toContainText(/[1-9]\d? %/);
  await chooseAction(card, "Remove");
  await expect(card).toHaveCount(0);
  await dismiss(workbench);
  await expect.poll(() => tasksOf(workbench)).toEqual({ tasks: [], pieces: 0 });
  await expect.poll(() => storedSizes(workbench)).toEqual({ databases: [], files: [] });
});

test("drafts survive a reload and are shared by tabs; a file too large to store must be chosen again", async ({
  workbench,
  folder,
  context,
}) => {
  const [small, large] = await Promise.all(
    ["small.mp4", "large.mp4"].map((name) => longClip(name, 2, folder)),
  );
  if (!small || !large) throw new Error("There are no clips.");
  // A sparse `free` box makes the file larger than what the page copies, without taking disk space.
  const bytes = await readFile(large);
  const filler = 300_000_000;
  const box = Buffer.from([0, 0, 0, 0, ...Buffer.from("free")]);
  box.writeUInt32BE(filler);
  await writeFile(large, Buffer.concat([bytes, box]));
  await truncate(large, bytes.length + filler);
  await addFiles(workbench, small, large);
  const [kept, gone] = [cardOf(workbench, "small.mp4"), cardOf(workbench, "large.mp4")];
  await expect(workbench.locator("[data-state=ready]")).toHaveCount(2);
  await chooseFormat(kept, "mov");
  await expect
    .poll(async () => JSON.stringify(await rowsOf(workbench, "framewright-queue", "items")))
    .toContain('"mov"');

  await workbench.reload();
  await expect(await detailsOf(kept)).toContainText("QuickTime, H.264, copied");
  await expect(gone).toContainText("Waiting for its file");
  await gone.getByLabel("File for large.mp4").setInputFiles(small);
  await expect(gone.getByRole("alert")).toContainText("This is not the same file as large.mp4.");
  await gone.getByLabel("File for large.mp4").setInputFiles(large);
  await expect(gone).toContainText("Ready");

  const other = await context.newPage();
  await other.goto(workbench.url());
  await cardOf(other, "small.mp4").getByRole("button", { name: "Convert", exact: true }).click();
  await expect(kept).toContainText("Done");
  expect((await tasksOf(workbench)).tasks).toHaveLength(1);
  await removeFile(workbench, gone);
  await expect(other.getByRole("article")).toHaveCount(1);
});

test("folders can be dropped anywhere, and addresses pasted", async ({ workbench, folder }) => {
  await clipNamed("in a folder/picture.png", MIXED[6][1], folder);
  await clipNamed("in a folder/deeper/sound.wav", MIXED[3][1], folder);
  expect(await readdir(join(folder, "in", "in a folder"))).toContain("deeper");
  const session = await workbench.context().newCDPSession(workbench);
  const drag = (type: "dragEnter" | "dragOver" | "drop") =>
    session.send("Input.dispatchDragEvent", {
      ...{ type, x: 400, y: 700 },
      data: { items: [], files: [join(folder, "in", "in a folder")], dragOperationsMask: 1 },
    });
  await drag("dragEnter");
  await drag("dragOver");
  await expect(workbench.getByText("Drop to add them")).toBeVisible();
  await drag("drop");
  await expect(workbench.getByText("Drop to add them")).toBeHidden();
  await expect(cardOf(workbench, "picture.png")).toContainText("PNG · 320 × 180");
  await expect(await detailsOf(cardOf(workbench, "sound.wav"))).toContainText(
    "WAV audio, PCM, mono, 44.1 kHz, 0:02",
  );
  // They are read through their handles, not copied.
  expect(await storedSizes(workbench)).toEqual({ databases: [], files: [] });
  // A drag may begin before the page's first frame.
  await workbench.addInitScript(() =>
    addEventListener("DOMContentLoaded", () => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["a"], "early.txt"));
      const drag = new DragEvent("dragover", { dataTransfer, bubbles: true, cancelable: true });
      document.body.dispatchEvent(drag);
      Object.assign(globalThis, { acceptsEarlyDrag: drag.defaultPrevented });
    }),
  );
  await workbench.reload();
  expect(await workbench.evaluate(() => Reflect.get(globalThis, "acceptsEarlyDrag"))).toBe(true);
  await expect(workbench.getByRole("article")).toHaveCount(2);
  await workbench.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", "s3://not/this https://media.invalid/clip.mp4");
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    clipboardData.setData("text/plain", `${location.origin}/none/two%20words.mp4`);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  });
  await expect(workbench.getByRole("article")).toHaveCount(3);
  await expect(cardOf(workbench, "two words.mp4")).toContainText("Can't be used");
});

test("sends what this browser cannot do to the edge only after the visitor agrees", async ({
  workbench,
  served,
  folder,
}) => {
  await connectEdge(workbench, served);
  const photo = join(folder, "photo.avif");
  await writeFile(photo, await readFile(await hdrAvif()));
  await workbench.evaluate(() => Reflect.deleteProperty(globalThis, "showSaveFilePicker"));
  await addFiles(workbench, photo);
  const card = cardOf(workbench, "photo.avif");
  await chooseFormat(card, "webp");
  const uploads: string[] = [];
  workbench.on("request", (request) => request.method() !== "GET" && uploads.push(request.url()));
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(card).toContainText("This browser can't do that.");
  expect(uploads).toEqual([]);
  await card.getByRole("button", { name: "Send to the edge" }).click();
  await expect(card).toContainText("Done");
  await expect(await detailsOf(card)).toContainText(`Made on the edge (${new URL(served.url).host})`);
  const { picture } = await readFacts(await outputOf(workbench, "photo.avif", folder));
  expect(picture?.codec).toBe("webp");
});
