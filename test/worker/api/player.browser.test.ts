import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "@playwright/test";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openBrowser } from "../../browser/chromium.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import { startService } from "./service.ts";

const RUN = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
const site = createServer((_, response) => {
  response.setHeader("Content-Type", "text/html");
  response.end("<!doctype html><title>a site</title>");
});

let service: Awaited<ReturnType<typeof startService>>;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  service = await startService("key");
  browser = await openBrowser();
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const source = ["-f", "lavfi", "-i", "testsrc=size=160x90:rate=10:duration=2"];
  const files = {
    "clip.webm": ["video/webm", await makeClip("webm", [...source, "-c:v", "libvpx"])],
    "still.png": ["image/png", await makeClip("png", [...source, "-frames:v", "1"])],
  };
  for (const [name, [contentType, path]] of Object.entries(files)) {
    await service.bindings.MEDIA.put(`out/${RUN}/${name}`, await readFile(path ?? ""), {
      httpMetadata: { contentType },
    });
  }
  const script = new TextEncoder().encode("<script>document.title = 'ran'</script>");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg">${"<script>document.title = 'ran'</script>"}</svg>`;
  const { MEDIA } = service.bindings;
  await MEDIA.put(`work/${RUN}/page`, script, { httpMetadata: { contentType: "text/html" } });
  await MEDIA.put(`work/${RUN}/picture`, new TextEncoder().encode(svg), {
    httpMetadata: { contentType: "image/svg+xml" },
  });
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
  site.close();
});
beforeEach(async () => {
  await page?.close();
  page = await browser.newPage();
  complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
});

const sign = (key: string) => service.signer.sign(key, Math.floor(Date.now() / 1000) + 600, service.base);

test("a page of another origin plays a video, reads its pixels and fetches a range", async () => {
  const url = await sign(`out/${RUN}/clip.webm`);
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const seen = await page.evaluate(async (src) => {
    const play = async (crossOrigin: string | null) => {
      const video = document.createElement("video");
      video.crossOrigin = crossOrigin;
      video.muted = true;
      video.src = src;
      document.body.append(video);
      await video.play();
      video.currentTime = 1.5;
      await new Promise((resolve, reject) => {
        video.onseeked = resolve;
        video.onerror = reject;
      });
      return video;
    };
    const plain = await play(null);
    const video = await play("anonymous");
    const canvas = new OffscreenCanvas(160, 90).getContext("2d");
    canvas?.drawImage(video, 0, 0);
    const part = await fetch(src, { headers: { Range: "bytes=0-9" } });
    return {
      widths: [plain.videoWidth, video.videoWidth],
      pixels: canvas?.getImageData(0, 0, 160, 90).data.some((value) => value > 0 && value < 255),
      range: part.headers.get("Content-Range"),
      request_id: part.headers.get("Request-Id")?.slice(0, 4),
    };
  }, url);
  const { byteLength } = await readFile(
    await makeClip("webm", ["-f", "lavfi", "-i", "testsrc=size=160x90:rate=10:duration=2", "-c:v", "libvpx"]),
  );
  expect(seen).toEqual({
    widths: [160, 160],
    pixels: true,
    range: `bytes 0-9/${byteLength}`,
    request_id: "req_",
  });
  expect(complaints).toEqual([]);
});

test("a video and an image open in their own tab", async () => {
  await page.goto(await sign(`out/${RUN}/clip.webm`));
  const width = () => document.querySelector("video")?.videoWidth;
  await page.waitForFunction(width);
  expect(await page.evaluate(width)).toBe(160);
  await page.goto(await sign(`out/${RUN}/still.png`));
  expect(await page.evaluate(() => document.querySelector("img")?.naturalWidth)).toBe(160);
  expect(complaints).toEqual([]);
});

test.each(["page", "picture"])("a stored %s with a script is downloaded, not run", async (name) => {
  const url = await sign(`work/${RUN}/${name}`);
  const download = page.waitForEvent("download");
  await page.goto(url).catch(() => {});
  expect((await download).url()).toBe(url);
  expect(await page.title()).toBe("");
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  await page.setContent(`<iframe src="${url}"></iframe>`);
  await page.waitForLoadState("networkidle");
  expect(await Promise.all(page.frames().map((frame) => frame.title()))).not.toContain("ran");
});
