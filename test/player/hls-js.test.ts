import type { Browser, Page } from "@playwright/test";
import type Hls from "hls.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chunkedStream, planStream, wholeStream } from "../encoders/native-stream.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { lateSoundClip, noiseClip, noiseSound } from "../judge/clips.ts";
import { startBrowser } from "../worker/api/browser.ts";
import { servePlayer } from "./player-page.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** What a page observed by the end of a stream. */
interface Seen {
  /** Every error event of hls.js, including harmless ones. */
  errors: string[];
  /** Media error of the video element. */
  error: string | null;
  /** Widths of the renditions played, in order. */
  widths: number[];
  ended: boolean;
  at: number;
  duration: number;
  /** Ranges buffered at the end. */
  buffered: [start: number, end: number][];
}

declare global {
  interface Window {
    Hls: typeof Hls;
  }
}

/** Plays a stream: the lowest rendition, the best, the lowest again, then seeks to the middle, the start and near the end, and plays to the end. */
function playAll(page: Page): Promise<Seen> {
  return page.evaluate(async () => {
    const video = document.querySelector("video") as HTMLVideoElement;
    const hls = new window.Hls({
      startLevel: 0,
      autoStartLoad: false,
      maxBufferLength: 4,
      maxMaxBufferLength: 4,
    });
    const { Events } = window.Hls;
    const errors: string[] = [];
    hls.on(Events.ERROR, (_, data) =>
      errors.push(
        `${data.type} ${data.details} ${data.error?.message ?? ""} ${data.frag ? `${data.frag.type} ${data.frag.sn} ${data.frag.start}-${data.frag.end}` : ""} at ${video.currentTime}`,
      ),
    );
    const once = (event: string) =>
      new Promise<void>((resolve) => video.addEventListener(event, () => resolve(), { once: true }));
    const past = async (time: number) => {
      while (video.currentTime < time && !video.ended) await once("timeupdate");
    };
    const widths: number[] = [];
    const parsed = new Promise<void>((resolve) => hls.once(Events.MANIFEST_PARSED, () => resolve()));
    hls.attachMedia(video);
    hls.loadSource("/stream/master.m3u8");
    await parsed;
    // hls.js lists its levels from the lowest to the best.
    const levels = hls.levels.length;
    const show = async (level: number) => {
      const switched = new Promise<void>((resolve) => {
        hls.on(Events.LEVEL_SWITCHED, (_, data) => data.level === level && resolve());
      });
      hls.nextLevel = level;
      await switched;
      // The buffer of the other rendition is played first.
      const { width } = hls.levels[level] ?? {};
      while (video.videoWidth !== width && !video.ended) await once("timeupdate");
      widths.push(video.videoWidth);
    };
    const seek = async (time: number) => {
      const sought = once("seeked");
      video.currentTime = time;
      await sought;
      await past(time + 0.4);
    };
    hls.startLevel = 0;
    hls.startLoad(0);
    await video.play();
    await past(0.4);
    widths.push(video.videoWidth);
    video.playbackRate = 4;
    if (levels > 1) {
      await show(levels - 1);
      await show(0);
    }
    await seek(video.duration / 2 + 0.7);
    await seek(0.2);
    // Across a seam between chunks, to the end.
    await seek(video.duration - 8);
    const ended = once("ended");
    if (!video.ended) await ended;
    const buffered = Array.from({ length: video.buffered.length }, (_, index): [number, number] => {
      return [video.buffered.start(index), video.buffered.end(index)];
    });
    const { duration, currentTime: at } = video;
    const error = video.error ? `${video.error.code} ${video.error.message}` : null;
    const seen = { errors, error, widths, ended: video.ended, at, duration, buffered };
    hls.destroy();
    return seen;
  });
}

async function watch(folder: string): Promise<{ seen: Seen; complaints: string[] }> {
  const site = await servePlayer(folder);
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  try {
    await page.goto(site.url);
    return { seen: await playAll(page), complaints };
  } finally {
    await page.close();
    site.close();
  }
}

const uneven = () =>
  makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=30:duration=18".split(" "),
    ...["-vf", "select='lt(t,4)+not(mod(n,3))*lt(t,8)+gt(mod(n*7,11),4)*gte(t,8)'", "-fps_mode", "vfr"],
    ..."-c:v libx264 -preset ultrafast -crf 20 -pix_fmt yuv420p".split(" "),
  ]);

test.for([
  ["pictures and sound", () => noiseClip(20), 20],
  ["late sound", () => lateSoundClip(20), 20.4],
  ["uneven frames without sound", uneven, 18],
] as const)(
  "hls.js plays, switches, seeks and ends without errors: chunks of %s",
  async ([, make, length]) => {
    const input = await make();
    const { plan, source } = await planStream(input);
    const { folder } = await chunkedStream(input, plan, source, [6, 12]);
    const { seen, complaints } = await watch(folder);
    const [best, low] = plan.renditions.map(({ geometry }) => geometry.width);
    expect(seen).toMatchObject({ errors: [], error: null, ended: true, widths: [low, best, low] });
    expect(Math.abs(seen.duration - length)).toBeLessThan(0.1);
    expect(Math.abs(seen.at - length)).toBeLessThan(0.1);
    expect(complaints).toEqual([]);
  },
);

test("hls.js plays streams encoded as a whole, with pictures and with sound only", async () => {
  for (const input of [await noiseClip(14), await noiseSound("wav", 14)]) {
    const { plan, source } = await planStream(input);
    const { folder } = await wholeStream(input, plan, source);
    const { seen, complaints } = await watch(folder);
    expect(seen).toMatchObject({ errors: [], error: null, ended: true });
    expect(Math.abs(seen.duration - 14)).toBeLessThan(0.1);
    expect(complaints).toEqual([]);
  }
});
