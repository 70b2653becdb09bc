import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import type { NewApiKey } from "../../src/client/index.ts";
import type { Task } from "../../src/index.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { readFacts } from "../judge/facts.ts";
import { ask, expectNowhere, openConsole } from "./edge-flow.ts";
import { movingClip, silentFilm } from "./result-flow.ts";
import { test as base, expect } from "./workbench.ts";

const test = base.extend<{ origin: Origin }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures here.
  origin: async ({}, use) => {
    const origin = await startOrigin();
    await use(origin);
    await origin.close();
  },
});

const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

test("connects to a service only with a valid key, and keeps it in this browser until disconnected", async ({
  page,
  served,
  origin,
  complaints,
}) => {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  await page.goto(served.url);
  await page.getByRole("link", { name: "Console", exact: true }).click();
  const [address, key] = [page.getByLabel("Address"), page.getByLabel("Key", { exact: true })];
  const connect = page.getByRole("button", { name: "Connect" });
  await expect(address).toHaveValue(served.url);

  await key.fill("no-such-key");
  await connect.click();
  await expect(key).toHaveAccessibleDescription(/does not know this key/);
  await expect(key).toBeFocused();

  const other = origin.serve("/health", {
    file: Buffer.from('{"status":"ok"}'),
    mime: "application/json",
    headers: { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" },
  });
  await address.fill(new URL(other).origin);
  await key.fill(served.console_key);
  await connect.click();
  await expect(address).toHaveAccessibleDescription(/not as a Framewright service/);
  await origin.close();
  await connect.click();
  await expect(address).toHaveAccessibleDescription(/can't be reached/);
  // Neither received the key.
  expect(origin.log.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  expect(complaints.join()).toContain("401");
  complaints.length = 0;

  await address.fill(served.url);
  await connect.click();
  const head = page.getByRole("heading", { name: new URL(served.url).host });
  await expect(head).toBeVisible();
  await expect(page.getByText("Connected", { exact: true })).toBeVisible();
  await expectNowhere(page, served.console_key);
  await page.reload();
  await expect(head).toBeVisible();
  await expectNowhere(page, served.console_key);
  expect(urls.filter((url) => url.includes(served.console_key))).toEqual([]);

  await page.getByRole("button", { name: "Disconnect" }).click();
  await expect(connect).toBeVisible();
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(served.console_key);
  await page.reload();
  await expect(connect).toBeVisible();
});

test("reports and forgets a key that was revoked since the last visit", async ({
  page,
  served,
  complaints,
}) => {
  const { value: key } = await ask<NewApiKey>(served, "POST", "/keys", { name: "Revoked" });
  const { secret = "" } = key;
  await ask(served, "DELETE", `/keys/${key.id}`);
  await page.goto(`${served.url}/console`);
  await page.evaluate((saved) => localStorage.setItem("framewright-edge", JSON.stringify(saved)), {
    base_url: served.url,
    api_key: secret,
  });
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("may have been revoked");
  await expect(page.getByLabel("Address")).toHaveValue(served.url);
  expect(await page.evaluate(() => localStorage.getItem("framewright-edge"))).toBeNull();
  expect(complaints.join()).toContain("401");
  complaints.length = 0;
});

test("creates a task from a URL, watches it live, plays and downloads its output", { tag: "@smoke" }, async ({
  page,
  served,
  origin,
  folder,
}) => {
  const film = await silentFilm(2);
  const url = origin.serve("/made%20here.mp4", { file: film, mime: "video/mp4", bytes_per_second: 60_000 });
  await openConsole(page, served, "tasks");
  await page.getByRole("button", { name: "New task" }).click();
  const dialog = page.getByRole("dialog", { name: "New task" });
  const source = dialog.getByLabel("Source");
  await source.fill("no-url");
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(source).toHaveAttribute("aria-invalid", "true");
  await expect(source).toHaveAccessibleDescription(/http/);
  await expect(source).toBeFocused();

  const events = page.waitForRequest(/\/tasks\/task_\w+\/events$/);
  await source.fill(`${url}?signature=hidden`);
  await dialog.getByLabel("Format").selectOption("webm");
  await dialog.getByLabel("Quality").selectOption("low");
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = rowOf(page, "made here.mp4");
  await expect(row).toContainText("Converting");
  await expect(row.getByRole("progressbar")).toBeVisible();
  await events;
  await expect(row).toContainText("Done");
  await expect(row).toContainText(/FFmpeg in a (Worker|container)/);
  await expect(row).toContainText(/took \d+:\d\d/);

  await row.getByRole("button", { name: "Details of made here.mp4" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "Encode" })).toContainText("Done");
  await expect(page.locator("main")).not.toContainText("hidden");
  // The isolated page may embed the output, as the service sends the headers that allow it.
  const played = page.locator("video").evaluate(async (video: HTMLVideoElement) => {
    video.muted = true;
    await video.play();
    await new Promise((resolve) => video.addEventListener("ended", resolve));
    return video.videoWidth;
  });
  expect(await played).toBe(320);
  const output = await page.getByRole("link", { name: "Open" }).getAttribute("href");
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  const path = join(folder, "made.webm");
  await (await download).saveAs(path);
  expect((await readFacts(path)).picture).toMatchObject({ codec: "vp9", width: 320, height: 180 });
  const opened = await fetch(output ?? "");
  expect(Buffer.from(await opened.arrayBuffer()).equals(await readFile(path))).toBe(true);
});

test("creates a task of every kind that it offers", async ({ page, served, origin }) => {
  const url = origin.serve("/every%20kind.mp4", { file: await movingClip(), mime: "video/mp4" });
  await openConsole(page, served, "tasks");
  const creations: string[] = [];
  for (const kind of ["Video", "Audio", "Image", "Animation", "Storyboard", "Waveform", "Stream"]) {
    await page.getByRole("button", { name: "New task" }).click();
    const dialog = page.getByRole("dialog", { name: "New task" });
    await dialog.getByLabel("Source").fill(url);
    await dialog.getByLabel("Output").selectOption(kind);
    const answer = page.waitForResponse(
      (each) => each.request().method() === "POST" && each.url().endsWith("/tasks"),
    );
    await dialog.getByRole("button", { name: "Create" }).click();
    const task: Task = await (await answer).json();
    expect(task).toMatchObject({
      object: "task",
      kind: kind === "Stream" ? "adaptive_video" : kind.toLowerCase(),
    });
    creations.push(task.id);
    await expect(dialog).toBeHidden();
  }
  for (const id of creations) {
    await expect
      .poll(async () => (await ask<Task>(served, "GET", `/tasks/${id}`)).value.status, { timeout: 60_000 })
      .toBe("succeeded");
    await ask(served, "DELETE", `/tasks/${id}`);
  }
});

test("shows tasks created elsewhere; cancels, filters, retries and deletes them", async ({
  page,
  served,
  origin,
}) => {
  const film = await silentFilm(2);
  const slow = origin.serve("/slow-film.mp4", { file: film, mime: "video/mp4", bytes_per_second: 500 });
  await openConsole(page, served, "tasks");
  const { value: task } = await ask<Task>(served, "POST", "/tasks", { input: slow, kind: "video" });
  const missing = { input: `${origin.url}/missing-film.mp4`, kind: "audio" };
  await ask<Task>(served, "POST", "/tasks", missing);
  const [row, failed] = [rowOf(page, "slow-film.mp4"), rowOf(page, "missing-film.mp4")];
  await expect(failed).toContainText("There is no such file");
  await row.getByRole("button", { name: "Cancel slow-film.mp4" }).click();
  await expect(row).toContainText("Cancelled");
  expect((await ask<Task>(served, "GET", `/tasks/${task.id}`)).value.status).toBe("cancelled");

  await page.getByLabel("Status", { exact: true }).selectOption("Failed");
  await expect(row).toHaveCount(0);
  await expect(failed).toBeVisible();
  await page.getByLabel("Status", { exact: true }).selectOption("Cancelled");
  await expect(failed).toHaveCount(0);
  await expect(row).toBeVisible();
  await page.getByLabel("Kind", { exact: true }).selectOption("Image");
  await expect(page.getByText("No tasks match these filters.")).toBeVisible();
  await page.getByLabel("Status", { exact: true }).selectOption("All");
  await page.getByLabel("Kind", { exact: true }).selectOption("Audio");
  await expect(failed).toHaveCount(1);
  await failed.getByRole("button", { name: "Try again missing-film.mp4" }).click();
  await expect(failed).toHaveCount(2);

  await page.getByLabel("Kind", { exact: true }).selectOption("Video");
  await row.getByRole("button", { name: "Delete slow-film.mp4" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete this task?" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(row).toHaveCount(0);
  expect((await ask(served, "GET", `/tasks/${task.id}`)).status).toBe(404);
});

test("axe finds nothing in the console, light on a wide screen or dark on a phone, and nothing overflows on the phone", async ({
  page,
  served,
  origin,
}) => {
  await ask(served, "POST", "/tasks", { input: `${origin.url}/for-all-to-see.mp4`, kind: "video" });
  await openConsole(page, served, "tasks");
  await rowOf(page, "for-all-to-see.mp4")
    .getByRole("button", { name: /Details/ })
    .click();
  const look = async () => {
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  };
  await look();
  await page.getByRole("button", { name: "New task" }).click();
  await look();
  await page.keyboard.press("Escape");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 800 });
  await look();
  const heads = { Connections: "Connections", Webhooks: "Events", Keys: "Keys" };
  for (const [tab, head] of Object.entries(heads)) {
    await page.getByRole("link", { name: tab }).click();
    await expect(page.getByRole("heading", { name: head })).toBeAttached();
    await expect(page.getByText("Loading…")).toHaveCount(0);
    await look();
    const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
    expect(await page.evaluate(overflow)).toBe(0);
  }
});
