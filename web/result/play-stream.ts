import Hls from "hls.js";
// The page's policy allows no workers from blob or data URLs.
import workerPath from "hls.js/dist/hls.worker.js?url";

/** Plays adaptive video in a media element with hls.js until the signal aborts; calls `fail` when that is impossible. */
export function playStream(
  media: HTMLMediaElement,
  url: string,
  signal: AbortSignal,
  fail: () => void,
): void {
  if (signal.aborted) return;
  if (!Hls.isSupported()) {
    if (media.canPlayType("application/vnd.apple.mpegurl")) media.src = url;
    else fail();
    return;
  }
  const hls = new Hls({ workerPath });
  let recoveries = 0;
  hls.on(Hls.Events.ERROR, (_, { fatal, type }) => {
    if (!fatal) return;
    if (type === Hls.ErrorTypes.MEDIA_ERROR && recoveries++ === 0) {
      hls.recoverMediaError();
      return;
    }
    hls.destroy();
    fail();
  });
  hls.loadSource(url);
  hls.attachMedia(media);
  signal.addEventListener("abort", () => hls.destroy(), { once: true });
}
