import { releasePlayer } from "../ui/media.ts";
import { presentFrame } from "../ui/timing.ts";

/**
 * Draws frames of a video into canvases, one after the other, evenly spread over its duration; stops when `signal` aborts.
 * Rejects when the browser cannot play it, or plays it without pictures.
 */
export async function drawFrames(
  url: string,
  canvases: readonly HTMLCanvasElement[],
  duration: number,
  signal: AbortSignal,
): Promise<void> {
  const video = document.createElement("video");
  video.muted = true;
  video.preload = "auto";
  if (!url.startsWith("blob:")) video.crossOrigin = "anonymous";
  try {
    await presentFrame(video, () => {
      video.src = url;
      return heard(video, "loadeddata", signal);
    });
    for (const [index, canvas] of canvases.entries()) {
      await presentFrame(video, () => {
        video.currentTime = ((index + 0.5) / canvases.length) * duration;
        return heard(video, "seeked", signal);
      });
      cover(canvas, video, video.videoWidth, video.videoHeight);
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    releasePlayer(video);
  }
}

/** Like {@link drawFrames}, with each frame decoded by `take`. */
export async function drawDecoded(
  take: (at: number, signal: AbortSignal) => Promise<Blob>,
  canvases: readonly HTMLCanvasElement[],
  duration: number,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, canvas] of canvases.entries()) {
    try {
      const bitmap = await createImageBitmap(
        await take(((index + 0.5) / canvases.length) * duration, signal),
      );
      cover(canvas, bitmap, bitmap.width, bitmap.height);
      bitmap.close();
    } catch (thrown) {
      if (signal.aborted) return;
      throw thrown;
    }
  }
}

function heard(video: HTMLVideoElement, name: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const options = { signal: AbortSignal.any([over.signal, signal]) };
    const end = (settle: () => void) => () => {
      over.abort();
      settle();
    };
    signal.addEventListener(
      "abort",
      end(() => reject(signal.reason)),
      { signal: over.signal },
    );
    video.addEventListener(
      "error",
      end(() => reject(video.error)),
      options,
    );
    video.addEventListener(name, end(resolve), options);
    if (signal.aborted) reject(signal.reason);
  });
}

function cover(canvas: HTMLCanvasElement, picture: CanvasImageSource, wide: number, high: number): void {
  if (wide === 0 || high === 0) throw new Error("There are no pictures.");
  canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
  canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
  const scale = Math.max(canvas.width / wide, canvas.height / high);
  const [width, height] = [wide * scale, high * scale];
  canvas
    .getContext("2d")
    ?.drawImage(picture, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
}
