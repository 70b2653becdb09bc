import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Source } from "../../src/media/source.ts";
import { openBrowser } from "../browser/chromium.ts";
import { runFfmpeg } from "../fixtures/make-clip.ts";
import { numberedClip } from "../integrity/numbered.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { servePage } from "./serve-page.ts";

let rig: Rig;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "framewright-storyboard-"));
  rig = await openRig();
});
afterAll(async () => {
  await rig?.close();
  await rm(home, { recursive: true, force: true });
});

const LIMIT = { timeout: 120_000 };

interface Made {
  output: Source;
  /** Paths of its files by name. */
  paths: ReadonlyMap<string, string>;
  /** Number of the frame on every tile of every sheet; null on an empty one. */
  tiles: (number | null)[];
}

async function makeStoryboard(clip: string, options: Record<string, unknown>): Promise<Made> {
  const task = await rig.door.runTask({ input: rig.serve(clip), kind: "storyboard", options });
  const output = task.steps.at(-1)?.output;
  if (!output?.files) throw new Error(`It did not succeed: ${JSON.stringify(task.error)}`);
  expect(output.url).toBe(task.output);
  const files = output.files.map(async ({ url, mime, filesize }) => {
    // A player finds the sheet beside the WebVTT.
    const name = basename(new URL(url).pathname);
    const fetched = await rig.door.fetchFile(new URL(name, output.url).href);
    expect([name, fetched.mime, (await readFile(fetched.path)).length]).toEqual([name, mime, filesize]);
    return [name, fetched.path] as const;
  });
  const paths = new Map(await Promise.all(files));
  const layout = JSON.parse(await readFile(paths.get("storyboard.json") ?? "", "utf8"));
  const tiles: (number | null)[] = [];
  for (const sheet of layout.sheets) {
    const apart = join(home, `${basename(paths.get(sheet) ?? "")}.mkv`);
    const untile = `untile=${layout.columns}x${layout.rows}`;
    await runFfmpeg(["-i", paths.get(sheet) ?? "", "-vf", untile, "-c:v", "ffv1", apart]);
    tiles.push(...(await readFrames(apart)).map(({ number }) => number));
  }
  return { output, paths, tiles };
}

test("tiles show the pictures at their times, on every host", LIMIT, async () => {
  const options = { interval: 0.5, columns: 3, rows: 2, width: 160 };
  const shown = [0, 12, 25, 37, 50, 62, 75, 87];
  const h264 = await numberedClip({
    container: "mp4",
    frames: 100,
    codec: "-c:v libx264 -preset ultrafast -g 25",
  });
  const light = await makeStoryboard(h264, options);
  expect(light.tiles).toEqual([...shown, null, null, null, null]);
  expect([...light.paths.keys()]).toEqual([
    "storyboard.vtt",
    "storyboard.json",
    "sheet_0001.jpg",
    "sheet_0002.jpg",
  ]);
  expect(light.output).toMatchObject({
    kind: "image",
    format: "jpeg",
    mime: "text/vtt",
    width: 480,
    height: 192,
  });
  const vtt = await readFile(light.paths.get("storyboard.vtt") ?? "", "utf8");
  expect(vtt.split("\n\n").slice(0, 3)).toEqual([
    "WEBVTT",
    "00:00:00.000 --> 00:00:00.500\nsheet_0001.jpg#xywh=0,0,160,96",
    "00:00:00.500 --> 00:00:01.000\nsheet_0001.jpg#xywh=160,0,160,96",
  ]);
  expect(vtt.split("\n\n").at(-1)).toBe("00:00:03.500 --> 00:00:04.000\nsheet_0002.jpg#xywh=160,0,160,96\n");

  const av1 = await numberedClip({ container: "mp4", frames: 100, codec: "-c:v libsvtav1 -preset 10 -g 25" });
  const native = await makeStoryboard(av1, { ...options, format: "webp", start: 1 });
  expect(native.tiles).toEqual(shown.slice(2));
  expect(native.output).toMatchObject({ format: "webp", duration: 3 });
});

test("only keyframes are decoded where one lies in the time of every tile", LIMIT, async () => {
  const codec = "-c:v libx264 -preset ultrafast -sc_threshold 0 -g";
  const dense = await numberedClip({ container: "mp4", frames: 100, codec: `${codec} 20` });
  expect((await makeStoryboard(dense, { interval: 1 })).tiles).toEqual([20, 40, 60, 80]);
  expect((await makeStoryboard(dense, { interval: 1, start: 1 })).tiles).toEqual([40, 60, 80]);
  const sparse = await numberedClip({ container: "mp4", frames: 100, codec: `${codec} 60` });
  expect((await makeStoryboard(sparse, { interval: 1 })).tiles).toEqual([0, 25, 50, 75]);
});

/** Makes several stills and returns the number of the frame on each, with its file's facts. */
async function makeStills(clip: string, options: Record<string, unknown>) {
  const task = await rig.door.runTask({ input: rig.serve(clip), kind: "image", options });
  const output = task.steps.at(-1)?.output;
  if (!output?.files) throw new Error(`It did not succeed: ${JSON.stringify(task.error)}`);
  const { files } = output;
  expect([output.url, output.url]).toEqual([task.output, files[0]?.url]);
  const frames = [];
  for (const { url, mime, filesize, time } of files) {
    const { path, ...fetched } = await rig.door.fetchFile(url);
    expect([fetched.mime, (await readFile(path)).length]).toEqual([mime, filesize]);
    const [frame] = await readFrames(path);
    frames.push([basename(new URL(url).pathname), time, frame?.number]);
  }
  return { output, frames };
}

test("several stills show the pictures at their times, on every host", LIMIT, async () => {
  const h264 = "-c:v libx264 -preset ultrafast -g 25";
  const clip = await numberedClip({ container: "mp4", frames: 100, codec: h264 });
  const light = await makeStills(clip, { count: 4 });
  expect(light.output).toMatchObject({ encoder: "light", kind: "image", format: "jpeg", mime: "image/jpeg" });
  expect(light.frames).toEqual([
    ["still_0001.jpg", 0, 0],
    ["still_0002.jpg", 1, 25],
    ["still_0003.jpg", 2, 50],
    ["still_0004.jpg", 3, 75],
  ]);
  const av1 = await numberedClip({ container: "mp4", frames: 100, codec: "-c:v libsvtav1 -preset 10 -g 25" });
  const native = await makeStills(av1, { format: "png", start: 1.4, interval: 1.1 });
  expect(native.output).toMatchObject({ encoder: "native", format: "png", mime: "image/png" });
  expect(native.frames).toEqual([
    ["still_0001.png", 1.4, 35],
    ["still_0002.png", 2.5, 62],
    ["still_0003.png", 3.6, 90],
  ]);
});

const CHROME = dirname(createRequire(import.meta.url).resolve("media-chrome"));
const MODULES = CHROME.replace(/\/cjs$/, "");
const PAGE = `<!doctype html><link rel="icon" href="data:,"><script type="module" src="/chrome/index.js"></script>
<media-controller style="width:640px;height:384px"><video slot="media" src="/files/clip.mp4" muted preload="auto">
<track kind="metadata" label="thumbnails" default src="/files/storyboard.vtt"></video>
<media-control-bar><media-time-range style="width:100%"></media-time-range></media-control-bar></media-controller>`;
const TYPES: Readonly<Record<string, string>> = {
  ...{ ".js": "text/javascript", ".vtt": "text/vtt", ".jpg": "image/jpeg", ".mp4": "video/mp4" },
};

test("media-chrome shows the tiles in its seek bar", LIMIT, async () => {
  const codec = "-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p -movflags +faststart";
  const clip = await numberedClip({ container: "mp4", frames: 100, codec });
  const { paths } = await makeStoryboard(clip, { interval: 1, columns: 2, rows: 2 });
  const fileOf = (path: string) => {
    if (path.startsWith("/chrome/")) return join(MODULES, path.slice("/chrome/".length));
    const name = basename(path);
    return name === "clip.mp4" ? clip : paths.get(name);
  };
  const typeOf = (path: string) => TYPES[extname(path)] ?? "application/octet-stream";
  const site = await servePage(PAGE, fileOf, typeOf);
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(site.url);
    await page.waitForFunction(
      () => (document.querySelector("video")?.textTracks[0]?.cues?.length ?? 0) === 4,
    );
    const bar = page.locator("media-time-range");
    const box = await bar.boundingBox();
    if (!box) throw new Error("The seek bar is not shown.");
    // Three and a half of four seconds: the tile at the lower right.
    await page.mouse.move(box.x + box.width * 0.85, box.y + box.height / 2);
    const thumbnail = page.locator("media-preview-thumbnail");
    await expect
      .poll(() => thumbnail.getAttribute("mediapreviewcoords"), { timeout: 20_000 })
      .toBe("160 96 160 96");
    expect(await thumbnail.getAttribute("mediapreviewimage")).toMatch(
      /\/files\/sheet_0001\.jpg#xywh=160,96,160,96$/,
    );
    const image = thumbnail.locator("img");
    await expect.poll(() => image.evaluate((each: HTMLImageElement) => each.naturalWidth)).toBe(320);
    await expect.poll(() => image.isVisible(), { timeout: 20_000 }).toBe(true);
  } finally {
    await browser.close();
    site.close();
  }
});
