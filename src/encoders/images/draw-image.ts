import type { VideoSample } from "mediabunny";
import { pictureFormat } from "../../media/containers.ts";
import { uprightGeometry } from "../../media/decoded-pictures.ts";
import { correctedColor } from "../../media/ffmpeg/color.ts";
import type { ImagePlan, Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { readOrientation } from "../../probe/exif.ts";
import type { ByteReader } from "../../runs/ports.ts";
import * as errors from "../errors.ts";
import { sampleAt } from "../webcodecs/frames.ts";
import { openInput, openPicturesOf } from "../webcodecs/input.ts";
import { drawPicture, relabel } from "../webcodecs/painter.ts";

/** Still formats that browsers decode. */
export const DECODABLE: ReadonlySet<string> = new Set(["jpeg", "png", "webp", "gif", "bmp", "avif"]);

export type Drawn = OffscreenCanvasRenderingContext2D;

const EPSILON_SECONDS = 0.001;

/** Draws the image of a plan on a canvas of its size, from a still or from the frame visible at the plan's start. */
export async function drawImage(
  { plan, image, source }: { plan: Plan; image: ImagePlan; source: Source },
  reader: ByteReader,
  signal: AbortSignal,
): Promise<Drawn> {
  const still = source.kind === "image";
  return still ? drawStill(image, source, reader, signal) : drawFrame(plan, image, source, reader, signal);
}

async function drawStill(
  image: ImagePlan,
  source: Source,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<Drawn> {
  const still = await decodeStill(source, reader, signal);
  try {
    return drawDecoded(image, source, still);
  } finally {
    still.bitmap.close();
  }
}

/** A decoded still; `upright` when its orientation has been applied. */
export interface DecodedStill {
  bitmap: ImageBitmap;
  upright: boolean;
}

/** Decodes a still, which the caller closes. */
export async function decodeStill(
  source: Source,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<DecodedStill> {
  const { blob, upright } = await withoutOrientation(source, reader, signal);
  const bitmap = await createImageBitmap(blob).catch((cause: unknown) => {
    throw errors.pictureUnreadable({ cause });
  });
  return { bitmap, upright };
}

/** Draws a decoded still as a plan's image. */
export function drawDecoded(image: ImagePlan, source: Source, { bitmap, upright }: DecodedStill): Drawn {
  const geometry = upright ? uprightGeometry(image.geometry, source) : image.geometry;
  const { width, height } = bitmap;
  const stored = { width, height, shown_width: width, shown_height: height };
  return paint(image, (context) => drawPicture(context, bitmap, stored, geometry, image.matte));
}

const UPRIGHT = 1;

// Browsers differ in which EXIF orientations they apply and cannot be told not to; AVIF decoders rotate by themselves.
async function withoutOrientation(
  source: Source,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<{ blob: Blob; upright: boolean }> {
  const blob = await blobOf(reader, signal);
  const orientation = pictureFormat(source.format).matrix ? null : await readOrientation(reader, signal);
  if (!orientation) return { blob, upright: true };
  const { at, little } = orientation;
  const value = little ? Uint8Array.of(UPRIGHT, 0) : Uint8Array.of(0, UPRIGHT);
  return { blob: new Blob([blob.slice(0, at), value, blob.slice(at + 2)]), upright: false };
}

async function drawFrame(
  plan: Plan,
  image: ImagePlan,
  source: Source,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<Drawn> {
  const input = await openInput(reader, source, signal);
  const stop = () => input.dispose();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { track, origin } = await openPicturesOf(input, source);
    const sample = await sampleAt(track, origin + plan.start + EPSILON_SECONDS);
    return await drawSample(image, source, sample);
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Draws a decoded picture of a source as a plan's image, and closes it. */
export async function drawSample(image: ImagePlan, source: Source, sample: VideoSample): Promise<Drawn> {
  const color = correctedColor(source);
  const frame = await (color ? relabel(sample, color) : sample.toVideoFrame());
  sample.close();
  try {
    const { displayWidth: shown_width, displayHeight: shown_height } = frame;
    const { width, height } = frame.visibleRect ?? { width: shown_width, height: shown_height };
    const stored = { width, height, shown_width, shown_height };
    return paint(image, (context) => drawPicture(context, frame, stored, image.geometry, image.matte));
  } finally {
    frame.close();
  }
}

function paint({ geometry }: ImagePlan, draw: (context: Drawn) => void): Drawn {
  const { width, height } = geometry;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!context) throw errors.canvasMissing();
  draw(context);
  return context;
}

async function blobOf(reader: ByteReader, signal: AbortSignal): Promise<Blob> {
  const { blob } = reader as Partial<{ blob: unknown }>;
  if (blob instanceof Blob) return blob;
  return new Blob([(await reader.read({ start: 0, end: reader.size }, signal)) as Uint8Array<ArrayBuffer>]);
}
