import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Page } from "@playwright/test";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { buildPageParts } from "../../worker/local/build/build-package.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { serveFolder } from "../package/rig.ts";
import { ROOT } from "../structure/source-files.ts";
import { expect, test } from "./workbench.ts";

// The tests of this file share one build, so they run in sequence.
test.describe.configure({ mode: "default" });

let home: string;
let clip: string;
test.use({ viewport: { width: 800, height: 640 } });
let server: Awaited<ReturnType<typeof serveFolder>>;
test.beforeAll(async () => {
  // The examples in a project that has installed the package, with only the parts that a page loads.
  home = await mkdtemp(join(tmpdir(), "framewright-examples-"));
  await cp(join(ROOT, "web", "examples"), home, { recursive: true });
  const installed = join(home, "node_modules", "framewright");
  await mkdir(join(installed, "dist", "core"), { recursive: true });
  await buildPageParts(join(installed, "dist"));
  await buildCore();
  await cp(join(ROOT, "dist", "core"), join(installed, "dist", "core"), { recursive: true });
  const exports = { "./client": "./dist/page/client.js" };
  await writeFile(join(installed, "package.json"), JSON.stringify({ type: "module", exports }));
  await writeFile(join(home, "package.json"), JSON.stringify({ type: "module" }));
  for (const name of ["hono", "@hono"]) {
    await symlink(join(ROOT, "node_modules", name), join(home, "node_modules", name));
  }
  clip = join(home, "holiday.mp4");
  const film = await makeClip("mp4", [
    ..."-f lavfi -i gradients=s=640x360:r=25:d=1:n=4:c0=0x1b2a49:c1=0xee6c4d:c2=0xf2c14e:c3=0x3d5a80:x0=0:y0=0:x1=500:y1=300".split(
      " ",
    ),
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p".split(" "),
  ]);
  await copyFile(film, clip);
  server = await serveFolder(home);
});
test.afterAll(async () => {
  server?.close();
  if (home) await rm(home, { recursive: true, force: true });
});

// The pictures serve the README, and reviews.
const picture = (page: Page, name: string) =>
  page.screenshot({
    path: join(ROOT, "dist", "e2e", "screens", `example-${name}.png`),
    fullPage: true,
  });

/** Saves the media at a URL of the page, and returns native ffprobe's facts about its picture. */
async function judge(page: Page, address: string, folder: string) {
  const base64 = await page.evaluate(async (url) => {
    const reader = new FileReader();
    reader.readAsDataURL(await (await fetch(url)).blob());
    await new Promise((resolve) => reader.addEventListener("load", resolve));
    return String(reader.result).replace(/^.*,/, "");
  }, address);
  const path = join(folder, "made.mp4");
  await writeFile(path, Buffer.from(base64, "base64"));
  return (await readFacts(path)).picture;
}

test("minimal.html shrinks a video in less than thirty lines", async ({ page, folder, complaints: _ }) => {
  const lines = (await readFile(join(home, "minimal.html"), "utf8")).trim().split("\n");
  expect(lines.length).toBeLessThan(30);
  await page.goto(`${server.url}minimal.html`);
  await page.getByLabel("Choose a video").setInputFiles(clip);
  const video = page.getByLabel("Result");
  await expect(video).toHaveAttribute("src", /^blob:/);
  const output = await judge(page, (await video.getAttribute("src")) ?? "", folder);
  expect(output).toMatchObject({ codec: "h264", width: 320, height: 180 });
  await expect(page.getByLabel("Progress")).toHaveJSProperty("value", 100);
  await expect(video).toHaveJSProperty("videoWidth", 320);
  await picture(page, "minimal");
});

test("fallback.html falls back to the edge for a codec that the page cannot encode", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await page.goto(`${server.url}fallback.html`);
  await page.getByLabel("Address of a video").fill(`${server.url}holiday.mp4`);
  await page.getByLabel("Codec").selectOption("h265");
  await page.getByLabel("Address of the service").fill(served.url);
  await page.getByLabel("Key of the service").fill(served.key);
  await page.getByRole("button", { name: "Convert" }).click();
  await expect(page.getByRole("status")).toContainText("Encoded by native");
  const link = page.getByRole("link", { name: "Download" });
  const output = await judge(page, (await link.getAttribute("href")) ?? "", folder);
  expect(output).toMatchObject({ codec: "hevc", width: 640, height: 360 });
  await picture(page, "fallback");
});

test("upload.html uploads a video with signed URLs, and never sends the service's key", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  const env = { ...process.env, SERVICE_URL: served.url, SERVICE_KEY: served.key, PORT: "0" };
  const own = spawn(process.execPath, ["upload-server.js"], {
    cwd: home,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [address] = await once(createInterface(own.stdout), "line");
    const keys: string[] = [];
    page.on("request", async (request) => {
      const { authorization } = await request.allHeaders();
      if (authorization || request.url().includes(served.key)) keys.push(request.url());
    });
    await page.goto(String(address));
    await page.getByLabel("Choose a video").setInputFiles(clip);
    await expect(page.getByRole("status")).toHaveText("Done.");
    const link = page.getByRole("link", { name: "Download" });
    const output = await judge(page, (await link.getAttribute("href")) ?? "", folder);
    expect(output).toMatchObject({ codec: "h264", width: 320, height: 180 });
    expect(keys).toEqual([]);
    await picture(page, "upload");
  } finally {
    own.kill();
  }
});
