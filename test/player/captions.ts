import type { Browser, Page } from "@playwright/test";
import type { Player } from "./play.ts";
import { servePlayer } from "./player-page.ts";

/** A text track as a player lists it, and the cues that it showed, as `start end text`. */
export interface Shown {
  language: string;
  name: string;
  shown: string[];
}

/**
 * Plays a stream's manifest in a page of its own with each of its text tracks in turn, and returns which cue is shown at each of
 * the times, in seconds; none is an empty text. Those that the tracks before have shown do not count. Of
 * dash.js, the tracks are listed alone: after a seek or a switch it does not always show their cues.
 */
export async function readCaptions(
  browser: Browser,
  folder: string,
  player: Player,
  manifest: string,
  times: readonly number[],
): Promise<{ tracks: Shown[]; errors: string[] }> {
  const site = await servePlayer(folder);
  const page = await browser.newPage();
  try {
    await page.goto(site.url);
    await page.addScriptTag({ url: `/${player.replace(/\.js$/, "")}.js` });
    return await showAll(page, player, `/stream/${manifest}`, times);
  } finally {
    await page.close();
    site.close();
  }
}

function showAll(page: Page, player: Player, url: string, times: readonly number[]) {
  return page.evaluate(
    async ([player, url, times]) => {
      const video = document.querySelector("video") as HTMLVideoElement;
      const errors: string[] = [];
      const report = (...facts: unknown[]) => errors.push(facts.join(" "));

      interface Track {
        language: string;
        name: string;
        choose(): void;
      }

      async function openHls(): Promise<() => Track[]> {
        const { Hls } = window;
        const hls = new Hls();
        hls.on(Hls.Events.ERROR, (_, { type, details, error }) => {
          // A seek stops what is being loaded.
          if (String(details) !== "aborted") report(type, details, error?.message);
        });
        const parsed = new Promise<void>((resolve) =>
          hls.once(Hls.Events.SUBTITLE_TRACKS_UPDATED, () => resolve()),
        );
        hls.attachMedia(video);
        hls.loadSource(url);
        await parsed;
        hls.subtitleDisplay = true;
        return () =>
          hls.subtitleTracks.map(({ lang, name }, index) => ({
            ...{ language: lang ?? "", name },
            choose: () => {
              hls.subtitleTrack = index;
            },
          }));
      }

      async function openDash(): Promise<() => Track[]> {
        const { MediaPlayer } = window.dashjs;
        const dash = MediaPlayer().create();
        dash.updateSettings({ debug: { logLevel: 2 }, streaming: { text: { defaultEnabled: true } } });
        dash.on(MediaPlayer.events.ERROR, (event) => report(JSON.stringify(event)));
        const ready = new Promise<void>((resolve) =>
          dash.on(MediaPlayer.events.STREAM_INITIALIZED, () => resolve()),
        );
        dash.initialize(video, url, false);
        await ready;
        return () =>
          dash.getTracksFor("text").map((track) => ({
            ...{ language: track.lang ?? "", name: track.labels[0]?.text ?? "" },
            choose: () => {},
          }));
      }

      async function openShaka(): Promise<() => Track[]> {
        const shaka = new window.shaka.Player();
        await shaka.attach(video);
        shaka.addEventListener("error", (event) => report(JSON.stringify("detail" in event && event.detail)));
        await shaka.load(url);
        return () =>
          shaka.getTextTracks().map((track) => ({
            ...{ language: track.language, name: track.label ?? "" },
            choose: () => shaka.selectTextTrack(track),
          }));
      }

      const MOST_TURNS = 8;
      const list = await { "hls.js": openHls, "dash.js": openDash, shaka: openShaka }[player]();
      const shown = () => {
        const tracks = [...video.textTracks].filter(({ mode }) => mode === "showing");
        const cues = tracks.flatMap(({ activeCues }) => [...((activeCues ?? []) as Iterable<VTTCue>)]);
        return cues.map((cue) => `${cue.startTime.toFixed(3)} ${cue.endTime.toFixed(3)} ${cue.text}`);
      };
      const event = (name: string) =>
        new Promise<void>((resolve) => video.addEventListener(name, () => resolve(), { once: true }));
      /** Plays the second after a time, up to `turns` times, until a cue other than `before` is shown. */
      const showAt = async (time: number, before: readonly string[], turns: number) => {
        for (let turn = 0; turn < turns; turn++) {
          const sought = event("seeked");
          video.currentTime = time;
          await sought;
          await video.play();
          while (video.currentTime < time + 1 && !video.ended) {
            const now = shown().filter((cue) => !before.includes(cue));
            if (now.length > 0) return now.join(" + ");
            await Promise.race(["timeupdate", "ended"].map(event));
          }
        }
        return "";
      };
      // A seek before that is only a place to start at.
      if (video.readyState === 0) await event("loadedmetadata");
      const tracks: { language: string; name: string; shown: string[] }[] = [];
      for (const index of list().keys()) {
        const track = list()[index];
        if (!track) throw new Error("a track is gone");
        if (player === "dash.js") {
          tracks.push({ language: track.language, name: track.name, shown: [] });
          continue;
        }
        track.choose();
        const before = tracks.flatMap((each) => each.shown);
        const seen: string[] = [];
        for (const time of times)
          seen.push(await showAt(time, before, index > 0 && seen.length > 0 ? 1 : MOST_TURNS));
        tracks.push({ language: track.language, name: track.name, shown: seen });
      }
      return { tracks, errors };
    },
    [player, url, times] as const,
  );
}
