import type { Browser, Page } from "@playwright/test";
import { onPlayerPage } from "./player-page.ts";

/** Observations of a page that scrubs through the I-frame playlists of a stream. */
export interface Scrubbed {
  /** Numbers of the pictures shown from them, in order. */
  shown: number[];
  /** Numbers of the pictures shown once all are played again; empty where the player has a video element for each. */
  after: number[];
  /** I-frame playlists and ranges that were requested, as `path` or `path first-last`, in order. */
  requests: string[];
  /** Every error event of the player. */
  errors: string[];
}

/** A film whose brightness counts its seconds: a picture of second n has the luma `black + n * step`. */
export const GRAYS = { black: 40, step: 6, seconds: 30 } as const;

/** Plays a stream of {@link GRAYS} in Shaka Player at four times its speed, and its last four seconds at its own. */
export function trickPlay(browser: Browser, folder: string): Promise<Scrubbed> {
  return onScrubPage(browser, folder, "shaka", (page) =>
    page.evaluate(async () => {
      const video = document.querySelector("video") as HTMLVideoElement;
      const errors: string[] = [];
      const shaka = new window.shaka.Player();
      await shaka.attach(video);
      shaka.addEventListener("error", (event) =>
        errors.push(JSON.stringify("detail" in event && event.detail)),
      );
      shaka.configure({ streaming: { bufferingGoal: 4 }, abr: { enabled: false } });
      await shaka.load("/stream/master.m3u8");
      const [shown, after]: [number[], number[]] = [[], []];
      let seconds = shown;
      const until = (time: number) => {
        return new Promise<void>((resolve) => {
          const onFrame = () => {
            const second = window.readSecond(video);
            if (seconds.at(-1) !== second) seconds.push(second);
            if (second >= time) resolve();
            else video.requestVideoFrameCallback(onFrame);
          };
          video.requestVideoFrameCallback(onFrame);
        });
      };
      await video.play();
      shaka.trickPlay(4);
      await until(24);
      shaka.cancelTrickPlay();
      const sought = new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
      video.currentTime = 26;
      await sought;
      // Fast play may have come to the end.
      await video.play();
      seconds = after;
      await until(29);
      await shaka.destroy();
      return { shown, after, errors };
    }),
  );
}

/** Shows the pictures at some times of a stream of {@link GRAYS} in the I-frame player of hls.js. */
export function showFrames(browser: Browser, folder: string, times: readonly number[]): Promise<Scrubbed> {
  return onScrubPage(browser, folder, "hls.js", (page) =>
    page.evaluate(async (times) => {
      const { Hls } = window;
      const errors: string[] = [];
      const hls = new Hls();
      const film = document.querySelector("video") as HTMLVideoElement;
      const loaded = new Promise((resolve) => film.addEventListener("canplay", resolve, { once: true }));
      hls.attachMedia(film);
      hls.loadSource("/stream/master.m3u8");
      await loaded;
      const frames = hls.createIFramePlayer({ capLevelToPlayerSize: false });
      if (!frames) throw new Error("there are no I-frames");
      for (const each of [hls, frames])
        each.on(Hls.Events.ERROR, (_, { type, details, error }) =>
          errors.push(`${type} ${details} ${error}`),
        );
      const video = document.body.appendChild(document.createElement("video"));
      // Asked before, it may load nothing.
      const attached = new Promise<void>((resolve) =>
        frames.once(Hls.Events.MEDIA_ATTACHED, () => resolve()),
      );
      // The lowest from the first request on, whatever the bandwidth.
      frames.autoLevelCapping = 0;
      frames.attachMedia(video);
      await attached;
      const shown: number[] = [];
      for (const time of times) {
        frames.loadMediaAt(time);
        while (video.currentTime !== time || video.seeking)
          await new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
        shown.push(window.readSecond(video));
      }
      frames.destroy();
      hls.destroy();
      return { shown, after: [], errors };
    }, times),
  );
}

declare global {
  interface Window {
    readSecond: typeof readSecond;
  }
}

async function onScrubPage(
  browser: Browser,
  folder: string,
  player: string,
  use: (page: Page) => Promise<Omit<Scrubbed, "requests">>,
): Promise<Scrubbed> {
  const requests: string[] = [];
  const seen = await onPlayerPage(browser, folder, player, async (page) => {
    const script = `window.readSecond = (video) => (${readSecond})(video, ${JSON.stringify(GRAYS)});`;
    await page.addScriptTag({ content: script });
    page.on("request", (request) => {
      const path = new URL(request.url()).pathname.replace("/stream/", "");
      const { range } = request.headers();
      if (range) requests.push(`${path} ${range.replace("bytes=", "")}`);
      else if (path.endsWith("/iframes.m3u8")) requests.push(path);
    });
    return use(page);
  });
  return { ...seen, requests };
}

// Runs in the page. A canvas shows luma from 16 to 235 as 0 to 255.
function readSecond(video: HTMLVideoElement, { black, step } = GRAYS): number {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d");
  canvas?.drawImage(video, 0, 0, 1, 1);
  const [gray = 0] = canvas?.getImageData(0, 0, 1, 1).data ?? [];
  return Math.round(((gray * 219) / 255 + 16 - black) / step);
}
