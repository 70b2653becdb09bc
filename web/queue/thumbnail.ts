import type { LocalClient } from "../../src/browser/index.ts";
import { MediaError, type MediaInput, type Source } from "../../src/index.ts";
import { DEFAULT_FORMAT, LOSSLESS_FORMAT } from "../../src/media/formats.ts";
import { createSlots } from "../../src/util/async.ts";
import { presentFrame, waitForEvent } from "../ui/media.ts";

const WIDTH = 192;
const WAIT_MS = 15_000;
const FETCHED_BYTES = 2e7;
const DECODED = 2;
const SAMPLE_SIZE = 16;

let last: Promise<unknown> = Promise.resolve();

/**
 * Creates a thumbnail of an image or of a frame of a video, one at a time. The core decodes what the browser cannot show;
 * null when neither can, and for sound. Never rejects.
 */
export function makeThumbnail(input: MediaInput, source: Source, device: LocalClient): Promise<Blob | null> {
  const thumbnail = last
    .then(() => draw(input, source))
    .catch(() => decode(input, source, device))
    .catch(() => null);
  last = thumbnail;
  return thumbnail;
}

async function decode(input: MediaInput, source: Source, device: LocalClient): Promise<Blob | null> {
  if (typeof input === "string") return null;
  const { width = WIDTH, height = WIDTH } = source;
  const scale = WIDTH / Math.max(width, height);
  const request = {
    ...(source.has_alpha && { format: LOSSLESS_FORMAT.image }),
    ...(source.kind === "image" && scale < 1 && { height: Math.max(1, Math.round(height * scale)) }),
  };
  const times = source.kind === "image" ? [0] : thumbnailTimes(source.duration ?? 0).slice(0, DECODED);
  const decodeAt = async (at: number) =>
    createImageBitmap(await coreFrame(device, input, { at, ...request }), sizeOf(source));
  return smallOf(await liveliest(times, decodeAt));
}

async function draw(input: MediaInput, source: Source): Promise<Blob | null> {
  if (source.kind === "audio") return null;
  if (source.kind === "image") {
    const blob = await blobOf(input, source);
    return blob && smallOf(await createImageBitmap(blob, sizeOf(source)));
  }
  const url = typeof input === "string" ? input : URL.createObjectURL(await fileOf(input));
  try {
    if (!/^(blob|https?):/.test(url)) return null;
    return await smallOf(await frameOf(url, source));
  } finally {
    if (url !== input) URL.revokeObjectURL(url);
  }
}

async function blobOf(input: MediaInput, { filesize = 0 }: Source): Promise<Blob | null> {
  if (typeof input !== "string") return fileOf(input);
  if (!/^https?:/.test(input) || filesize > FETCHED_BYTES) return null;
  const response = await fetch(input, { credentials: "omit", signal: AbortSignal.timeout(WAIT_MS) });
  return response.ok ? response.blob() : null;
}

async function fileOf(input: Exclude<MediaInput, string>): Promise<Blob> {
  return "getFile" in input ? input.getFile() : input;
}

function sizeOf({ width = WIDTH, height = WIDTH }: Source): ImageBitmapOptions {
  const resizeQuality = "high";
  if (Math.max(width, height) <= WIDTH) return {};
  return width >= height ? { resizeWidth: WIDTH, resizeQuality } : { resizeHeight: WIDTH, resizeQuality };
}

async function frameOf(url: string, source: Source): Promise<ImageBitmap> {
  const video = document.createElement("video");
  video.muted = true;
  video.preload = "auto";
  video.crossOrigin = "anonymous";
  video.src = url;
  try {
    await waitForEvent(video, "loadedmetadata", AbortSignal.timeout(WAIT_MS));
    if (video.videoWidth === 0) throw new Error("The browser decodes no pictures of it.");
    return await liveliest(thumbnailTimes(source.duration ?? 0), async (at) => {
      await presentFrame(video, () => {
        video.currentTime = at;
        return waitForEvent(video, "seeked", AbortSignal.timeout(WAIT_MS));
      });
      return createImageBitmap(video, sizeOf(source));
    });
  } finally {
    video.removeAttribute("src");
    video.load();
  }
}

// Many films start with black.
async function liveliest(
  times: readonly number[],
  frameAt: (at: number) => Promise<ImageBitmap>,
): Promise<ImageBitmap> {
  let best: { bitmap: ImageBitmap; spread: number } | null = null;
  for (const at of times) {
    const bitmap = await frameAt(at);
    const spread = spreadOf(bitmap);
    if (best && spread <= best.spread) bitmap.close();
    else {
      best?.bitmap.close();
      best = { bitmap, spread };
    }
    if (spread >= PLAIN) break;
  }
  if (!best) throw new Error("No frame came.");
  return best.bitmap;
}

function spreadOf(bitmap: ImageBitmap): number {
  const context = new OffscreenCanvas(SAMPLE_SIZE, SAMPLE_SIZE).getContext("2d");
  context?.drawImage(bitmap, 0, 0, SAMPLE_SIZE, SAMPLE_SIZE);
  const pixels = context?.getImageData(0, 0, SAMPLE_SIZE, SAMPLE_SIZE).data;
  return pixels ? brightnessSpread(pixels) : Number.POSITIVE_INFINITY;
}

async function smallOf(bitmap: ImageBitmap): Promise<Blob> {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.convertToBlob({ type: "image/webp", quality: 0.8 });
}

/** A visitor's file; a URL would have to be downloaded for one frame. */
export type OwnFile = Exclude<MediaInput, string>;

export interface FrameRequest {
  /** Time of the frame in seconds; absent for a still picture. */
  at?: number;
  /** Height in pixels; by default that of the frame. */
  height?: number;
  /** PNG, which keeps transparency; JPEG by default. */
  format?: typeof LOSSLESS_FORMAT.image;
}

// Each job reloads the file, and the visitor's encodes come first.
const inTurn = createSlots(1);

/**
 * Decodes a frame of a file with the core, for what the browser cannot show; rejects with a MediaError, or when `signal`
 * aborts.
 */
export function coreFrame(
  device: LocalClient,
  input: OwnFile,
  { at, height, format }: FrameRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Blob> {
  return inTurn(async () => {
    signal.throwIfAborted();
    const options = {
      format: format ?? DEFAULT_FORMAT.image,
      ...(at && { start: at }),
      ...(height && { height }),
    } as const;
    const { id } = await device.tasks.create({ kind: "image", input, options });
    try {
      const { error } = await device.tasks.wait(id, { signal: signal });
      if (error) throw new MediaError(error.kind, error.message, error);
      const output = await device.output(id);
      // Read the file before it is deleted.
      return new Blob([await (await output.blob()).arrayBuffer()], { type: `image/${options.format}` });
    } finally {
      await device.tasks.cancel(id).catch(() => {});
      void device.tasks.delete(id).catch(() => {});
    }
  });
}

/** Below this spread of brightness a picture shows nothing: black, white, or any single color. */
export const PLAIN = 6;

/** Returns the spread of brightness of RGBA pixels: their standard deviation, 0 to 127.5. */
export function brightnessSpread(pixels: Uint8ClampedArray): number {
  const count = pixels.length / 4;
  let [sum, squares] = [0, 0];
  for (let place = 0; place < pixels.length; place += 4) {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(place, place + 3);
    const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    sum += light;
    squares += light * light;
  }
  return count === 0 ? 0 : Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
}

/** Returns the times, in seconds, at which to look for a picture that shows something, most promising first. */
export function thumbnailTimes(duration: number): number[] {
  return [Math.min(1, duration / 4), duration / 4, duration / 2, (3 * duration) / 4];
}
