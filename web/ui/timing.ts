import { within } from "../../src/util/async.ts";

// A hidden tab presents no frame; nor, at times, does a seek to the frame that is already shown.
const FRAME_MS = 2000;

/**
 * Seeks a video by `seek`, and waits until it presents the new frame: `seeked` may fire while the previous one is still the one that
 * is drawn. Does not wait in a hidden tab, or for a video without pictures.
 */
export async function presentFrame(video: HTMLVideoElement, seek: () => Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Missing before Firefox 132.
  if (document.hidden || !("requestVideoFrameCallback" in video)) resolve();
  else video.requestVideoFrameCallback(() => resolve());
  await seek();
  if (video.videoWidth > 0) await within(promise, FRAME_MS, () => {});
}

/** Resolves at an event of a video; rejects with the video's error, or with the signal's reason. */
export async function waitForEvent(
  video: HTMLVideoElement,
  name: "loadedmetadata" | "loadeddata" | "seeked",
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const controller = new AbortController();
  const listener = { signal: controller.signal };
  video.addEventListener(name, () => resolve(), listener);
  video.addEventListener("error", () => reject(video.error), listener);
  signal.addEventListener("abort", () => reject(signal.reason), listener);
  await promise.finally(() => controller.abort());
}

/** Calls `act` when the page is idle, or soon where the browser cannot tell. */
export function whenIdle(act: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(act);
  else setTimeout(act, 500);
}
