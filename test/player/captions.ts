import type { Browser, Page } from "@playwright/test";
import type { Player } from "./play.ts";
import { onPlayerPage } from "./player-page.ts";
import { addOpenTracks } from "./tracks.ts";

/** A text track as a player lists it, and the cues that it showed, as `start end text`. */
export interface Shown {
  language: string;
  name: string;
  shown: string[];
}

/**
 * Plays a stream's manifest in a page of its own with each of its text tracks in turn, and returns which cue is shown at each of
 * the times, in seconds; none is an empty text. Those that the tracks before have shown do not count.
 */
export async function readCaptions(
  browser: Browser,
  folder: string,
  player: Player,
  manifest: string,
  times: readonly number[],
): Promise<{ tracks: Shown[]; errors: string[] }> {
  return onPlayerPage(browser, folder, player, async (page) => {
    await addOpenTracks(page);
    return showAll(page, player, `/stream/${manifest}`, times);
  });
}

function showAll(page: Page, player: Player, url: string, times: readonly number[]) {
  return page.evaluate(
    async ([player, url, times]) => {
      const video = document.querySelector("video") as HTMLVideoElement;
      const errors: string[] = [];
      const report = (...facts: unknown[]) => errors.push(facts.join(" "));

      const MOST_TURNS = 8;
      const list = await window.openTracks(player, "text", url, report);
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
        await track.choose();
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
