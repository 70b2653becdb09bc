import { useEffect, useState } from "preact/hooks";
import type { MediaInput } from "../../src/index.ts";
import { within } from "../../src/util/async.ts";
import * as strings from "../strings.ts";

// A hidden tab presents no frame, and a seek to the visible frame sometimes presents none either.
const FRAME_MS = 2000;

/**
 * Seeks a video by `seek`, and waits until it presents the new frame: `seeked` may fire while the previous one is still visible.
 * Does not wait in a hidden tab, or for a video without pictures.
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

/** The URL of some media once it is known, or why there will be none. */
export interface MediaUrl {
  readonly url: string | null;
  /** A message for the visitor; null when nothing is wrong. */
  readonly fault: string | null;
}

const NONE: MediaUrl = { url: null, fault: null };

/** Returns a URL for media of any kind for the lifetime of the component; a file's URL is revoked afterwards. */
export function useMediaUrl(input: MediaInput | null): MediaUrl {
  const [media, setMedia] = useState(NONE);
  useEffect(() => {
    const controller = new AbortController();
    setMedia(NONE);
    if (input !== null)
      void open(input, controller.signal).then((opened) => controller.signal.aborted || setMedia(opened));
    return () => controller.abort();
  }, [input]);
  return media;
}

async function open(input: MediaInput, signal: AbortSignal): Promise<MediaUrl> {
  if (typeof input === "string") {
    if (/^(https?|blob):/i.test(input)) return { url: input, fault: null };
    return { url: null, fault: strings.storedElsewhere };
  }
  try {
    const file = input instanceof Blob ? input : await input.getFile();
    if (signal.aborted) return NONE;
    const url = URL.createObjectURL(file);
    signal.addEventListener("abort", () => URL.revokeObjectURL(url), { once: true });
    return { url, fault: null };
  } catch {
    return { url: null, fault: strings.fileUnreadable };
  }
}

/**
 * Makes a player release its file at once. One that is only removed from the page keeps loading, possibly from a URL that no
 * longer exists.
 */
export function releasePlayer(player: HTMLMediaElement): void {
  player.removeAttribute("src");
  player.load();
}
