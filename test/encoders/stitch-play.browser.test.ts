import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { planMp4 } from "../../src/mux/join-mp4.ts";
import { stitch } from "../../src/mux/stitch.ts";
import { openBrowser } from "../browser/chromium.ts";
import { encode } from "../ffmpeg/native-encode.ts";
import { runFfmpeg } from "../fixtures/make-clip.ts";
import { recallOriginal } from "../integrity/judge.ts";
import { numberedClip, PICTURE } from "../integrity/numbered.ts";
import { noiseClip } from "../judge/clips.ts";
import { type Player, READERS } from "../player/play.ts";
import { onPlayerPage, servePlayer } from "../player/player-page.ts";
import { bytesReader } from "../probe/probe-file.ts";
import { forgetOutputs, runHere } from "./one-process.ts";

const home = await mkdtemp(join(tmpdir(), "framewright-play-"));
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await rm(home, { recursive: true });
  await forgetOutputs();
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

/** Parts that are cut between keyframes, so that each has encoded pieces around its copied packets. */
const CUTS = [
  { start: 0.2, end: 1.3 },
  { start: 3, end: 4.1 },
  { start: 1.7, end: 2.7 },
  { start: 0.3, end: 1.5 },
  { start: 3.5, end: 4.6 },
];

const FRAME = 1 / PICTURE.fps;

test.for(["mp4", "ts"] as const)(
  "Chromium plays a smart cut of %s through ten joints without a stall, and seeks next to each",
  async (container) => {
    const codec = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 12 -keyint_min 12 -sc_threshold 0 -bf 3";
    const source = await numberedClip({ container, frames: 120, codec });
    const { path, output } = await runHere(source, {
      kind: "video",
      options: { mode: "smart", parts: CUTS },
    });
    await writeFile(join(home, `${container}-smart.mp4`), await readFile(path));
    const { frames, start: origin } = await recallOriginal(source);
    let at = 0;
    const moments = CUTS.flatMap(({ start, end }) => {
      const from = at - origin - start;
      at += end - start;
      const own = frames.filter(({ time }) => time - origin > start && time - origin + FRAME < end);
      return [0, 1, 3, 8, 13, -6, -3, -2, -1].flatMap((index) => {
        const { time = 0, number = null } = own.at(index) ?? {};
        return { time: from + time + FRAME / 2, number };
      });
    });
    const site = await servePlayer(home);
    const page = await browser.newPage();
    try {
      await page.goto(site.url);
      const seen = await page.evaluate(
        async ({ url, times, bits, band }) => {
          const player = document.querySelector("video") as HTMLVideoElement;
          const once = (event: string) =>
            new Promise<void>((resolve, reject) => {
              player.addEventListener(event, () => resolve(), { once: true });
              player.addEventListener("error", () => reject(new Error(player.error?.message)), {
                once: true,
              });
            });
          player.src = URL.createObjectURL(await (await fetch(url)).blob());
          await once("canplaythrough");
          let stalls = 0;
          const ended = once("ended");
          await player.play();
          for (const event of ["waiting", "stalled"]) player.addEventListener(event, () => stalls++);
          await ended;
          const { totalVideoFrames, corruptedVideoFrames } = player.getVideoPlaybackQuality();
          const frames = totalVideoFrames + (corruptedVideoFrames ?? 0);
          const end = player.currentTime;
          const canvas = new OffscreenCanvas(player.videoWidth, 2 * band);
          const pen = canvas.getContext("2d", { willReadFrequently: true });
          const numbers: number[] = [];
          for (const time of times) {
            const sought = once("seeked");
            // The new picture may be painted after the event.
            const painted = new Promise((resolve) => player.requestVideoFrameCallback(resolve));
            player.currentTime = time;
            await sought;
            await Promise.race([painted, new Promise((resolve) => setTimeout(resolve, 200))]);
            pen?.drawImage(player, 0, 0);
            let number = 0;
            for (let bit = 0; bit < bits; bit++) {
              const x = Math.floor(((bit + 0.5) * player.videoWidth) / bits);
              if ((pen?.getImageData(x, band / 2, 1, 1).data[0] ?? 0) > 128) number += 2 ** bit;
            }
            numbers.push(number);
          }
          return { stalls, frames, end, numbers, duration: player.duration };
        },
        {
          url: `/stream/${container}-smart.mp4`,
          times: moments.map(({ time }) => time),
          bits: PICTURE.bits,
          band: PICTURE.band,
        },
      );
      expect(seen.numbers).toEqual(moments.map(({ number }) => number));
      expect(seen).toMatchObject({ stalls: 0, frames: output.counts?.pictures?.output });
      expect(Math.abs(seen.end - at)).toBeLessThan(0.05);
    } finally {
      await page.close();
      site.close();
    }
  },
);

/** Plays a stream to its end with a player. */
function playThrough(page: Page, player: Player, url: string) {
  return page.evaluate(
    async ([player, url]) => {
      const video = document.querySelector("video") as HTMLVideoElement;
      const errors: string[] = [];
      const ready = new Promise((resolve) =>
        video.addEventListener("canplaythrough", resolve, { once: true }),
      );
      const openers = {
        "hls.js": () => {
          const hls = new window.Hls();
          hls.on(window.Hls.Events.ERROR, (_, { details }) => errors.push(details));
          hls.attachMedia(video);
          hls.loadSource(url);
        },
        "dash.js": () => {
          const dash = window.dashjs.MediaPlayer().create();
          dash.on(window.dashjs.MediaPlayer.events.ERROR, (event) => errors.push(JSON.stringify(event)));
          dash.initialize(video, url, false);
        },
        shaka: async () => {
          window.shaka.polyfill.installAll();
          const shaka = new window.shaka.Player();
          await shaka.attach(video);
          await shaka.load(url).catch((error: unknown) => errors.push(String(error)));
        },
      };
      await openers[player]();
      await ready;
      const ended = new Promise((resolve) => video.addEventListener("ended", resolve, { once: true }));
      await video.play();
      let stalls = 0;
      for (const event of ["waiting", "stalled"]) video.addEventListener(event, () => stalls++);
      await ended;
      const { totalVideoFrames, corruptedVideoFrames } = video.getVideoPlaybackQuality();
      const frames = totalVideoFrames + (corruptedVideoFrames ?? 0);
      return { errors, stalls, frames, end: video.currentTime };
    },
    [player, url] as const,
  );
}

test("hls.js, dash.js and Shaka Player play through the ten joints of a smart cut that ffmpeg packaged", async () => {
  const codec = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 12 -keyint_min 12 -sc_threshold 0 -bf 3";
  const source = await numberedClip({ container: "mp4", frames: 120, codec });
  const options = { mode: "smart", parts: CUTS };
  const { path, output } = await runHere(source, { kind: "video", options });
  const folder = join(home, "packaged");
  await mkdir(folder);
  const manifest = join(folder, "manifest.mpd");
  const args = ["-seg_duration", "1", "-dash_segment_type", "mp4", "-hls_playlist", "1", manifest];
  await runFfmpeg(["-i", path, "-map", "0", "-c", "copy", "-f", "dash", ...args]);
  for (const [player, file] of READERS) {
    const play = (page: Page) => playThrough(page, player, `/stream/${file}`);
    const { end, ...seen } = await onPlayerPage(browser, folder, player, play);
    expect(seen, `${player} ${file}`).toEqual({
      errors: [],
      stalls: 0,
      frames: output.counts?.pictures?.output,
    });
    expect(Math.abs(end - (output.duration ?? 0))).toBeLessThan(0.1);
  }
});
