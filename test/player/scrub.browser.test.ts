import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/chromium.ts";
import { chunkedStream, planStream } from "../encoders/native-stream.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { GRAYS, showFrames, trickPlay } from "./scrub.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

const grays = () =>
  makeClip("mp4", [
    ...`-f lavfi -i color=size=160x90:rate=10:duration=${GRAYS.seconds}`.split(" "),
    ...`-f lavfi -i sine=duration=${GRAYS.seconds}`.split(" "),
    ...["-vf", `geq=lum='${GRAYS.black}+${GRAYS.step}*floor(T)':cb=128:cr=128`],
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac".split(" "),
  ]);

test("Shaka Player and hls.js show the pictures of I-frame playlists, and load nothing else of them", async () => {
  const { plan, source } = await planStream(await grays(), { i_frames: true });
  const { folder } = await chunkedStream(await grays(), plan, source, [12]);
  const names = plan.renditions.map(({ name }) => name);
  const [best = [], low = []] = await Promise.all(names.map((name) => readRanges(folder, name)));

  const fast = await trickPlay(browser, folder);
  expect(fast.errors).toEqual([]);
  // The first segment was loaded whole before.
  expect(fast.shown.filter((second) => second >= 6)).toEqual([6, 12, 18, 24]);
  // The previous picture stays until those around the new time are loaded.
  expect(fast.after.filter((second) => second >= 26)).toEqual([26, 27, 28, 29]);
  expect(fast.requests).toEqual([`${names[0]}/iframes.m3u8`, ...best.slice(1)]);

  const still = await showFrames(browser, folder, [20, 3, 29, 14, 21]);
  expect(still).toMatchObject({ errors: [], shown: [18, 0, 24, 12, 18] });
  expect(still.requests).toEqual([`${names[1]}/iframes.m3u8`, low[3], low[0], low[4], low[2]]);
});

/** Returns the ranges of a rendition's I-frame playlist as `path first-last`. */
async function readRanges(folder: string, name: string): Promise<string[]> {
  const text = await readFile(join(folder, name, "iframes.m3u8"), "utf8");
  const rows = [...text.matchAll(/^#EXT-X-BYTERANGE:(\d+)@0\n(\S+)$/gm)];
  return rows.map(([, size, file]) => `${name}/${file} 0-${Number(size) - 1}`);
}
