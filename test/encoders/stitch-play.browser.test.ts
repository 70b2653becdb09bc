import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { planMp4 } from "../../src/mux/join-mp4.ts";
import { stitch } from "../../src/mux/stitch.ts";
import { openBrowser } from "../browser/chromium.ts";
import { encode } from "../ffmpeg/native-encode.ts";
import { noiseClip } from "../judge/clips.ts";
import { servePlayer } from "../player/player-page.ts";
import { bytesReader } from "../probe/probe-file.ts";

const home = await mkdtemp(join(tmpdir(), "framewright-play-"));
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await rm(home, { recursive: true });
});

test.for(["mp4", "mov"] as const)(
  "Chromium plays a stitched %s to its end and seeks in it",
  async (format) => {
    const input = await noiseClip(6);
    const { plan, chunks } = await encode(input, "video", { format, width: 80 }, { chunk_seconds: 2 });
    const parts = await Promise.all(
      chunks.map(async ({ chunk, path }) => ({
        ...chunk,
        input: bytesReader(new Uint8Array(await readFile(path))),
        at: chunk.start - plan.start,
      })),
    );
    const video = parts.filter(({ track }) => track === "video");
    const audio = parts.find(({ track }) => track === "audio")?.input ?? null;
    expect(video).toHaveLength(3);
    // The fast path covers what the encoders write.
    expect(await planMp4({ quicktime: format === "mov", video, audio })).not.toBeNull();
    const file = await new Response(stitch({ format, video, audio })).arrayBuffer();
    await writeFile(join(home, `film.${format}`), new Uint8Array(file));

    const site = await servePlayer(home);
    const page = await browser.newPage();
    try {
      await page.goto(site.url);
      const seen = await page.evaluate(async (url) => {
        const player = document.querySelector("video") as HTMLVideoElement;
        const once = (event: string) =>
          new Promise<void>((resolve, reject) => {
            player.addEventListener(event, () => resolve(), { once: true });
            player.addEventListener("error", () => reject(new Error(player.error?.message)), { once: true });
          });
        // The server has no ranges, so the player can seek only in a complete blob.
        const blob = await (await fetch(url)).blob();
        player.src = URL.createObjectURL(blob);
        await once("loadedmetadata");
        player.playbackRate = 2;
        const ended = once("ended");
        await player.play();
        await ended;
        const { totalVideoFrames, droppedVideoFrames } = player.getVideoPlaybackQuality();
        const frames = totalVideoFrames + droppedVideoFrames;
        const end = player.currentTime;
        const sought = once("seeked");
        player.currentTime = 3.5;
        await sought;
        return { frames, end, at: player.currentTime, duration: player.duration, width: player.videoWidth };
      }, `/stream/film.${format}`);
      expect(seen).toMatchObject({ at: 3.5, width: 80 });
      expect(Math.abs(seen.duration - 6)).toBeLessThan(0.05);
      expect(Math.abs(seen.end - 6)).toBeLessThan(0.05);
      expect(seen.frames).toBeGreaterThan(0);
    } finally {
      await page.close();
      site.close();
    }
  },
);
