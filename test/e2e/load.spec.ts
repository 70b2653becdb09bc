import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Response } from "@playwright/test";
import { OFFLINE_CORE_FILES } from "../fixtures/fast-encoder.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { silentFilm } from "./result-flow.ts";
import { addFiles, cardOf, detailsOf, expect, openEditor, test } from "./workbench.ts";

const FIRST_LOAD_BYTES = 55_000;

test("the first load is small, and the layout does not shift", async ({ page, served, complaints: _ }) => {
  const loaded: Promise<readonly [string, number]>[] = [];
  const record = (response: Response) => {
    const { pathname } = new URL(response.url());
    loaded.push(response.body().then((body) => [pathname, gzipSync(body).length] as const));
  };
  page.on("response", record);
  await page.addInitScript(() => {
    const seen = Object.assign(globalThis, { shift: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput } = entry as PerformanceEntry & {
          value: number;
          hadRecentInput: boolean;
        };
        if (!hadRecentInput) seen.shift += value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(served.url);
  await expect(page.getByLabel("Add files")).toBeAttached();
  await page.waitForLoadState("networkidle");
  // Later responses may not end before the test does.
  page.off("response", record);
  const files = await Promise.all(loaded);
  const bytes = files.reduce((sum, [, size]) => sum + size, 0);
  expect(files.length).toBeGreaterThan(2);
  expect(bytes, JSON.stringify(files)).toBeLessThan(FIRST_LOAD_BYTES);
  expect(files.filter(([path]) => /\.(wasm|gz)$/.test(path))).toEqual([]);

  const picture = await makeClip("png", "-f lavfi -i testsrc2=size=320x180 -frames:v 1".split(" "));
  const sound = await makeClip("wav", "-f lavfi -i sine=frequency=440:duration=1".split(" "));
  await addFiles(page, picture, sound);
  for (const path of [picture, sound]) {
    const card = cardOf(page, path);
    await expect(card.getByRole("button", { name: "Convert", exact: true })).toBeVisible();
  }
  expect(await page.evaluate(() => (globalThis as unknown as { shift: number }).shift)).toBeLessThan(0.01);
});

test("files that are chosen or dropped before the page's code runs are added once it does", async ({
  page,
  served,
  complaints: _,
}) => {
  const picture = await makeClip("png", "-f lavfi -i testsrc2=size=320x180 -frames:v 1".split(" "));
  for (const way of ["choose", "drop"] as const) {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\.js$/, async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(served.url + (way === "choose" ? "/" : "/photos"), { waitUntil: "commit" });
    const button = page.getByRole("button", { name: "Choose files" });
    if (way === "choose") {
      const chooser = page.waitForEvent("filechooser");
      await button.click();
      await (await chooser).setFiles(picture);
    } else {
      const data = await page.evaluateHandle(
        (base64) => {
          const transfer = new DataTransfer();
          const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
          transfer.items.add(new File([bytes], "dropped.png", { type: "image/png" }));
          return transfer;
        },
        (await readFile(picture)).toString("base64"),
      );
      await button.dispatchEvent("drop", { dataTransfer: data });
    }
    release();
    const name = way === "choose" ? basename(picture) : "dropped.png";
    await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
    await page.unrouteAll({ behavior: "wait" });
  }
});

test("encodes H.265 on this device, with the threaded core in an isolated page", async ({
  workbench,
  folder,
}) => {
  const film = await silentFilm(1);
  await addFiles(workbench, film);
  const card = cardOf(workbench, film);
  await openEditor(card);
  await card.getByLabel("Codec", { exact: true }).selectOption("h265");
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(card).toContainText("Done");
  await expect(await detailsOf(card)).toContainText(/Made on this device/);
  const saving = workbench.waitForEvent("download");
  await card.getByRole("link", { name: "Download" }).click();
  const path = join(folder, "made.mp4");
  await (await saving).saveAs(path);
  const { picture } = await readFacts(path);
  expect(picture).toMatchObject({ codec: "hevc", tag: "hvc1", width: 320, height: 180 });
  expect(picture?.times).toHaveLength(25);
});

const PAGE = {
  "cache-control": "no-cache",
  "content-security-policy": expect.stringMatching(
    /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-[^']+'; worker-src 'self'; /,
  ),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "referrer-policy": "no-referrer",
};
const APP = {
  "cache-control": "public, max-age=31536000, immutable",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
};
const OWN = { "cross-origin-resource-policy": "same-origin" };

test("serves each file of the page with the right headers, and the API without the page's", async ({
  request,
  served,
}) => {
  const get = async (path: string) => {
    const response = await request.get(served.url + path);
    return { status: response.status(), text: () => response.text(), headers: response.headers() };
  };
  const page = await get("/");
  expect(page).toMatchObject({
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8", ...PAGE },
  });
  const worker = await get("/service-worker.js");
  expect(worker.headers).toMatchObject({
    ...OWN,
    "cache-control": "no-cache",
    "content-type": expect.stringContaining("javascript"),
    "content-security-policy": "default-src 'none'; connect-src 'self'",
  });
  const code = await worker.text();
  const facts = JSON.parse(/^const BUILD = (.*);$/m.exec(code)?.[1] ?? "{}");
  expect(facts.files).toContain("/");
  expect([facts.core.length, facts.core_others.length, facts.later.length]).toEqual([
    OFFLINE_CORE_FILES,
    3,
    3,
  ]);
  for (const path of [...facts.files, ...facts.core, ...facts.core_others, ...facts.later]) {
    const { status, headers } = await get(path);
    expect([path, status]).toEqual([path, 200]);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    const isPage = facts.pages.includes(path);
    expect(headers).toMatchObject(isPage ? PAGE : path.startsWith("/app/") ? APP : OWN);
  }
  const manifest = await get("/manifest.webmanifest");
  expect(manifest.headers["content-type"]).toContain("application/manifest+json");
  for (const { src, type } of JSON.parse(await manifest.text()).icons) {
    expect((await get(src)).headers["content-type"]).toBe(type);
  }
  const licenses = await get("/LICENSES.txt");
  expect(licenses.headers["content-type"]).toContain("text/plain");
  const text = await licenses.text();
  for (const name of ["@ffmpeg/core", "@ffmpeg/core-mt", "preact", "mediabunny", "zod", "@jsquash/avif"]) {
    expect(text).toMatch(new RegExp(`^${name} (.*: |\\()`, "m"));
  }
  expect(await (await get("/COPYING.txt")).text()).toContain("GNU GENERAL PUBLIC LICENSE");
  const tasks = await get("/tasks");
  expect(tasks.status).toBe(401);
  expect(JSON.parse(await tasks.text()).kind).toBe("token_missing");
  expect(tasks.headers).not.toHaveProperty("cross-origin-embedder-policy");
  expect((await get("/app/none.js")).status).toBe(404);
});
