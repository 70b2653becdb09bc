import type { Browser, Page } from "@playwright/test";
import type { Player } from "./play.ts";
import { onPlayerPage } from "./player-page.ts";
import { addOpenTracks } from "./tracks.ts";

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
  return onPlayerPage(browser, folder, player, async (page) => {
    await addOpenTracks(page);
    // Sound plays only after a gesture.
    await page.mouse.click(5, 5);
    return hearAll(page, player, `/stream/${manifest}`, tones);
  });
}

function hearAll(page: Page, player: Player, url: string, tones: readonly number[]) {
  return page.evaluate(
    async ([player, url, tones]) => {
      const video = document.querySelector("video") as HTMLVideoElement;
      video.muted = false;
      const errors: string[] = [];
      const report = (...facts: unknown[]) => errors.push(facts.join(" "));

      const once = (event: string) =>
        new Promise<void>((resolve) => video.addEventListener(event, () => resolve(), { once: true }));
      const list = await window.openTracks(player, "audio", url, report);
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
