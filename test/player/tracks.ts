import type { Page } from "@playwright/test";
import type { Player } from "./play.ts";

/** A sound or text track as a player lists it. */
export interface Track {
  language: string;
  name: string;
  /** Settles when the player has what it takes to show it. */
  choose(): void | Promise<void>;
}

declare global {
  interface Window {
    openTracks: typeof openTracks;
  }
}

/** Makes {@link openTracks} a function of a page. */
export async function addOpenTracks(page: Page): Promise<void> {
  await page.addScriptTag({ content: `window.openTracks = ${openTracks};` });
}

/** Loads a manifest into the page's video element; returns a function that lists the tracks of a kind as they stand. */
async function openTracks(
  player: Player,
  kind: "audio" | "text",
  url: string,
  report: (...facts: unknown[]) => void,
): Promise<() => Track[]> {
  const video = document.querySelector("video") as HTMLVideoElement;
  const isText = kind === "text";

  async function openHls(): Promise<() => Track[]> {
    const { Hls } = window;
    const hls = new Hls(isText ? {} : { maxBufferLength: 4, maxMaxBufferLength: 4 });
    hls.on(Hls.Events.ERROR, (_, { type, details, error }) => {
      // A seek stops what is being loaded.
      if (!isText || String(details) !== "aborted") report(type, details, error?.message);
    });
    const listed = new Promise<void>((resolve) =>
      hls.once(isText ? Hls.Events.SUBTITLE_TRACKS_UPDATED : Hls.Events.MANIFEST_PARSED, () => resolve()),
    );
    hls.attachMedia(video);
    hls.loadSource(url);
    await listed;
    if (isText) hls.subtitleDisplay = true;
    return () =>
      (isText ? hls.subtitleTracks : hls.audioTracks).map(({ lang, name }, index) => ({
        ...{ language: lang ?? "", name },
        choose: () => {
          hls[isText ? "subtitleTrack" : "audioTrack"] = index;
        },
      }));
  }

  async function openDash(): Promise<() => Track[]> {
    const { MediaPlayer } = window.dashjs;
    const dash = MediaPlayer().create();
    const streaming = isText ? { text: { defaultEnabled: true } } : { buffer: { bufferTimeDefault: 4 } };
    dash.updateSettings({ debug: { logLevel: 2 }, streaming });
    dash.on(MediaPlayer.events.ERROR, (event) => report(JSON.stringify(event)));
    const ready = new Promise<void>((resolve) =>
      dash.on(MediaPlayer.events.STREAM_INITIALIZED, () => resolve()),
    );
    const [read, chosen] = [new Set<string>(), new Set<number>()];
    let onRead = () => {};
    dash.on(MediaPlayer.events.FRAGMENT_LOADING_COMPLETED, ({ request }) => {
      if (request.mediaType === "text") read.add(String(request.url));
      onRead();
    });
    // A seek while a file of text loads drops the text: github.com/Dash-Industry-Forum/dash.js/issues/5135.
    const showText = async (index: number) => {
      dash.setTextTrack(index);
      chosen.add(index);
      while (read.size < chosen.size) await new Promise<void>((resolve) => (onRead = resolve));
    };
    dash.initialize(video, url, false);
    await ready;
    return () =>
      dash.getTracksFor(kind).map((track, index) => ({
        ...{ language: track.lang ?? "", name: track.labels[0]?.text ?? "" },
        choose: () => (isText ? showText(index) : dash.setCurrentTrack(track)),
      }));
  }

  async function openShaka(): Promise<() => Track[]> {
    const shaka = new window.shaka.Player();
    await shaka.attach(video);
    shaka.addEventListener("error", (event) => report(JSON.stringify("detail" in event && event.detail)));
    if (!isText) shaka.configure({ streaming: { bufferingGoal: 4 }, abr: { enabled: false } });
    await shaka.load(url);
    const listed = ({ language, label }: { language: string; label: string | null }) => ({
      ...{ language, name: label ?? "" },
    });
    return isText
      ? () =>
          shaka.getTextTracks().map((track) => ({
            ...listed(track),
            choose: () => shaka.selectTextTrack(track),
          }))
      : () =>
          shaka.getAudioTracks().map((track) => ({
            ...listed(track),
            choose: () => shaka.selectAudioTrack(track),
          }));
  }

  return { "hls.js": openHls, "dash.js": openDash, shaka: openShaka }[player]();
}
