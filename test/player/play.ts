import type { Browser, Page } from "@playwright/test";
import type * as Dash from "dashjs";
import type HlsJs from "hls.js";
import type ShakaPlayer from "shaka-player/dist/shaka-player.compiled.d.ts";
import { onPlayerPage } from "./player-page.ts";

/** The players, and the manifests that each of them reads. */
export const READERS = [
  ["hls.js", "master.m3u8"],
  ["dash.js", "manifest.mpd"],
  ["shaka", "manifest.mpd"],
  ["shaka", "master.m3u8"],
] as const;
export type Player = (typeof READERS)[number][0];

/** Observations of a page by the end of a stream. */
export interface Seen {
  /** Every error event of the player, including harmless ones. */
  errors: string[];
  /** Media error of the video element. */
  error: string | null;
  /** Widths of the renditions played, in order. */
  widths: number[];
  /** Time at which it ended. */
  at: number;
  duration: number;
  /** Ranges buffered at the end. */
  buffered: [start: number, end: number][];
}

declare global {
  interface Window {
    Hls: typeof HlsJs;
    dashjs: typeof Dash;
    shaka: typeof ShakaPlayer;
  }
}

/** Serves a stream's folder and plays its manifest; also returns the page's complaints. `key` is what a URL elsewhere answers. */
export async function watch(
  browser: Browser,
  folder: string,
  player: Player = "hls.js",
  manifest = "master.m3u8",
  key?: { url: string; bytes: Buffer },
): Promise<{ seen: Seen; complaints: string[] }> {
  const complaints: string[] = [];
  const prepare = async (page: Page) => {
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("response", (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
    });
    if (!key) return;
    const headers = { "Access-Control-Allow-Origin": "*" };
    await page.route(key.url, (route) => route.fulfill({ body: key.bytes, headers }));
  };
  const play = (page: Page) => playAll(page, player, `/stream/${manifest}`);
  return { seen: await onPlayerPage(browser, folder, player, play, prepare), complaints };
}

/** Plays a stream in the page's video element: the lowest rendition, the best, the lowest again, then seeks to the middle, the start and near the end, and plays to the end. */
export function playAll(page: Page, player: Player, url: string): Promise<Seen> {
  return page.evaluate(
    async ([player, url]) => {
      const video = document.querySelector("video") as HTMLVideoElement;
      const errors: string[] = [];
      const report = (...facts: unknown[]) => errors.push(`${facts.join(" ")} at ${video.currentTime}`);

      /** Plays from the lowest rendition; `widths` from the lowest to the best. */
      interface Stage {
        widths: number[];
        show(index: number): void | Promise<void>;
        end(): unknown;
      }

      async function openHls(): Promise<Stage> {
        const { Hls } = window;
        const buffer = { maxBufferLength: 4, maxMaxBufferLength: 4 };
        const hls = new Hls({ startLevel: 0, autoStartLoad: false, ...buffer });
        hls.on(Hls.Events.ERROR, (_, { type, details, error, frag }) =>
          report(type, details, error?.message, frag && `${frag.type} ${frag.sn} ${frag.start}-${frag.end}`),
        );
        const parsed = new Promise<void>((resolve) => hls.once(Hls.Events.MANIFEST_PARSED, () => resolve()));
        hls.attachMedia(video);
        hls.loadSource(url);
        await parsed;
        hls.startLoad(0);
        return {
          widths: hls.levels.map(({ width }) => width),
          show: (index) => {
            const switched = new Promise<void>((resolve) => {
              hls.on(Hls.Events.LEVEL_SWITCHED, (_, data) => data.level === index && resolve());
            });
            hls.nextLevel = index;
            return switched;
          },
          end: () => hls.destroy(),
        };
      }

      async function openDash(): Promise<Stage> {
        const { MediaPlayer } = window.dashjs;
        const dash = MediaPlayer().create();
        dash.updateSettings({
          debug: { logLevel: 2 },
          streaming: {
            abr: { autoSwitchBitrate: { video: false }, initialBitrate: { video: 1 } },
            buffer: { fastSwitchEnabled: true, bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 },
          },
        });
        dash.on(MediaPlayer.events.ERROR, (event) => report(JSON.stringify(event)));
        const ready = new Promise<void>((resolve) =>
          dash.on(MediaPlayer.events.STREAM_INITIALIZED, () => resolve()),
        );
        dash.initialize(video, url, false);
        await ready;
        const levels = dash.getRepresentationsByType("video").toSorted((a, b) => a.bandwidth - b.bandwidth);
        return {
          widths: levels.map(({ width }) => width),
          show: (index) => dash.setRepresentationForTypeById("video", levels[index]?.id ?? "", true),
          end: () => dash.destroy(),
        };
      }

      async function openShaka(): Promise<Stage> {
        const shaka = new window.shaka.Player();
        await shaka.attach(video);
        shaka.addEventListener("error", (event) => report(JSON.stringify("detail" in event && event.detail)));
        shaka.configure({ streaming: { bufferingGoal: 4 }, abr: { enabled: false } });
        // It asks for the type of what has no extension by HEAD, which a blob does not answer.
        await shaka.load(url, null, url.startsWith("blob:") ? "application/dash+xml" : null);
        // Keeps the sound that the player chose: there is a variant for each.
        const variants = shaka.getVariantTracks();
        const sound = variants.find(({ active }) => active)?.audioId;
        const levels = variants
          .filter(({ audioId }) => audioId === sound)
          .toSorted((a, b) => a.bandwidth - b.bandwidth);
        const show = (index: number) => {
          const level = levels[index];
          if (level) shaka.selectVariantTrack(level, true);
        };
        // A player that does not adapt begins with the best rendition.
        show(0);
        return {
          widths: levels.map(({ width }) => width ?? 0),
          show,
          end: () => shaka.destroy(),
        };
      }

      const once = (event: string) =>
        new Promise<void>((resolve) => video.addEventListener(event, () => resolve(), { once: true }));
      const past = async (time: number) => {
        while (video.currentTime < time && !video.ended) await once("timeupdate");
      };
      const stage = await { "hls.js": openHls, "dash.js": openDash, shaka: openShaka }[player]();
      const widths: number[] = [];
      const show = async (level: number) => {
        await stage.show(level);
        // The buffer of the other rendition may be played first.
        while (video.videoWidth !== stage.widths[level] && !video.ended) await once("timeupdate");
        widths.push(video.videoWidth);
      };
      const seek = async (time: number) => {
        const sought = once("seeked");
        video.currentTime = time;
        await sought;
        if (video.paused) await video.play();
        await past(time + 0.4);
      };
      const playThrough = async () => {
        await video.play();
        await past(0.4);
        widths.push(video.videoWidth);
        video.playbackRate = 4;
        if (stage.widths.length > 1) {
          await show(stage.widths.length - 1);
          await show(0);
        }
        await seek(video.duration / 2 + 0.7);
        await seek(0.2);
        // Across a seam between chunks, to the end.
        await seek(video.duration - 8);
        // Waits until nothing is left: not every player closes a stream whose tracks differ in length.
        while (!video.ended && video.currentTime < video.duration - 0.05)
          await Promise.race(["timeupdate", "ended", "waiting"].map(once));
      };
      // A player that stalls shows where, long before the test would end.
      const { promise: stalled, resolve: giveUp } = Promise.withResolvers<void>();
      const limit = setTimeout(() => {
        const { readyState, seeking, paused, playbackRate } = video;
        report("stalled", JSON.stringify({ readyState, seeking, paused, playbackRate }));
        giveUp();
      }, 60_000);
      await Promise.race([playThrough(), stalled]);
      clearTimeout(limit);
      const at = video.currentTime;
      const buffered = Array.from({ length: video.buffered.length }, (_, index): [number, number] => {
        return [video.buffered.start(index), video.buffered.end(index)];
      });
      const { duration } = video;
      const error = video.error ? `${video.error.code} ${video.error.message}` : null;
      const seen = { errors, error, widths, at, duration, buffered };
      await stage.end();
      return seen;
    },
    [player, url] as const,
  );
}
