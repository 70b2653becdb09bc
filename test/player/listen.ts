import type { Browser, Page } from "@playwright/test";
import type { Player } from "./play.ts";
import { servePlayer } from "./player-page.ts";

/** A sound track as a player lists it, and the tone that it heard when the track was chosen. */
export interface Heard {
  language: string;
  name: string;
  /** Hertz, of those asked for. */
  tone: number;
}

/**
 * Plays a stream's manifest in a page of its own, first with the sound that the player chooses, then with each of its tracks in
 * turn, each from the start; returns the tone of the first and those of all. A track counts once one tone alone has sounded for
 * a while; `tones` are those to tell apart.
 */
export async function listen(
  browser: Browser,
  folder: string,
  player: Player,
  manifest: string,
  tones: readonly number[],
): Promise<{ first: number; tracks: Heard[]; errors: string[] }> {
  const site = await servePlayer(folder);
  const page = await browser.newPage();
  try {
    await page.goto(site.url);
    await page.addScriptTag({ url: `/${player.replace(/\.js$/, "")}.js` });
    // Sound plays only after a gesture.
    await page.mouse.click(5, 5);
    return await hearAll(page, player, `/stream/${manifest}`, tones);
  } finally {
    await page.close();
    site.close();
  }
}

function hearAll(page: Page, player: Player, url: string, tones: readonly number[]) {
  return page.evaluate(
    async ([player, url, tones]) => {
      const video = document.querySelector("video") as HTMLVideoElement;
      video.muted = false;
      const errors: string[] = [];
      const report = (...facts: unknown[]) => errors.push(facts.join(" "));

      interface Track {
        language: string;
        name: string;
        choose(): void;
      }

      async function openHls(): Promise<() => Track[]> {
        const { Hls } = window;
        const hls = new Hls({ maxBufferLength: 4, maxMaxBufferLength: 4 });
        hls.on(Hls.Events.ERROR, (_, { type, details, error }) => report(type, details, error?.message));
        const parsed = new Promise<void>((resolve) => hls.once(Hls.Events.MANIFEST_PARSED, () => resolve()));
        hls.attachMedia(video);
        hls.loadSource(url);
        await parsed;
        return () =>
          hls.audioTracks.map(({ lang, name }, index) => ({
            ...{ language: lang ?? "", name },
            choose: () => {
              hls.audioTrack = index;
            },
          }));
      }

      async function openDash(): Promise<() => Track[]> {
        const { MediaPlayer } = window.dashjs;
        const dash = MediaPlayer().create();
        dash.updateSettings({ debug: { logLevel: 2 }, streaming: { buffer: { bufferTimeDefault: 4 } } });
        dash.on(MediaPlayer.events.ERROR, (event) => report(JSON.stringify(event)));
        const ready = new Promise<void>((resolve) =>
          dash.on(MediaPlayer.events.STREAM_INITIALIZED, () => resolve()),
        );
        dash.initialize(video, url, false);
        await ready;
        return () =>
          dash.getTracksFor("audio").map((track) => ({
            ...{ language: track.lang ?? "", name: track.labels[0]?.text ?? "" },
            choose: () => dash.setCurrentTrack(track),
          }));
      }

      async function openShaka(): Promise<() => Track[]> {
        const shaka = new window.shaka.Player();
        await shaka.attach(video);
        shaka.addEventListener("error", (event) => report(JSON.stringify("detail" in event && event.detail)));
        shaka.configure({ streaming: { bufferingGoal: 4 }, abr: { enabled: false } });
        await shaka.load(url);
        return () =>
          shaka.getAudioTracks().map((track) => ({
            ...{ language: track.language, name: track.label ?? "" },
            choose: () => shaka.selectAudioTrack(track),
          }));
      }

      const once = (event: string) =>
        new Promise<void>((resolve) => video.addEventListener(event, () => resolve(), { once: true }));
      const list = await { "hls.js": openHls, "dash.js": openDash, shaka: openShaka }[player]();
      const context = new AudioContext();
      await context.resume();
      const analyser = new AnalyserNode(context, { fftSize: 4096, smoothingTimeConstant: 0 });
      context.createMediaElementSource(video).connect(analyser);
      const levels = new Float32Array(analyser.frequencyBinCount);
      /** The tone that is 30 dB above all others; null for silence and a mix. */
      const tone = () => {
        analyser.getFloatFrequencyData(levels);
        const loud = tones.map(
          (hertz) => levels[Math.round((hertz * analyser.fftSize) / context.sampleRate)] ?? -999,
        );
        const best = Math.max(...loud);
        const alone = best > -60 && loud.filter((level) => level > best - 30).length === 1;
        return alone ? (tones[loud.indexOf(best)] ?? null) : null;
      };
      /** Plays from the start until one tone that is not `before` has been heard three times in a row. */
      const hear = async (before: number | null) => {
        const sought = once("seeked");
        video.currentTime = 0.1;
        await sought;
        await video.play();
        let [last, times]: [number | null, number] = [null, 0];
        while (times < 3) {
          if (video.ended) await video.play();
          await Promise.race(["timeupdate", "ended"].map(once));
          const now = tone();
          times = now !== null && now !== before && now === last ? times + 1 : 0;
          last = now;
        }
        return last ?? 0;
      };
      const first = await hear(null);
      const tracks: { language: string; name: string; tone: number }[] = [];
      let playing = first;
      // The one that plays comes last, so that each is a change.
      const order = list().map((_, index) => index);
      for (const index of [...order.slice(1), ...order.slice(0, 1)]) {
        const track = list()[index];
        if (!track) throw new Error("a track is gone");
        track.choose();
        playing = await hear(playing);
        tracks.push({ language: track.language, name: track.name, tone: playing });
      }
      await context.close();
      return { first, tracks, errors };
    },
    [player, url, tones] as const,
  );
}
